#include <gtest/gtest.h>

#include <zlib.h>

#include "kube/spdy/bytes.h"
#include "kube/spdy/dictionary.h"
#include "kube/spdy/session.h"

namespace drover::kube {
namespace {

// A client's end, made of zlib itself.
class Client {
 public:
  Client() {
    deflateInit(&z_, Z_BEST_COMPRESSION);
    const std::string& d = spdy_dictionary();
    deflateSetDictionary(&z_, reinterpret_cast<const Bytef*>(d.data()),
                         static_cast<uInt>(d.size()));
  }
  ~Client() { deflateEnd(&z_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  std::string pack(std::string_view raw) {
    std::string out(raw.size() + 200, '\0');
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
    z_.avail_in = static_cast<uInt>(raw.size());
    z_.next_out = reinterpret_cast<Bytef*>(out.data());
    z_.avail_out = static_cast<uInt>(out.size());
    deflate(&z_, Z_SYNC_FLUSH);
    out.resize(out.size() - z_.avail_out);
    return out;
  }
  static std::string block(const SpdyHeaders& headers) {
    std::string raw;
    put_32(raw, static_cast<std::uint32_t>(headers.size()));
    for (const auto& [name, value] : headers) {
      put_32(raw, static_cast<std::uint32_t>(name.size()));
      raw += name;
      put_32(raw, static_cast<std::uint32_t>(value.size()));
      raw += value;
    }
    return raw;
  }
  std::string open(std::uint32_t id, const SpdyHeaders& headers, std::uint32_t flags = 0) {
    std::string body;
    put_32(body, id);
    put_32(body, 0);
    body.append(2, '\0');
    body += pack(block(headers));
    return control(1, flags, body);
  }
  static std::string control(std::uint32_t kind, std::uint32_t flags, std::string_view body) {
    std::string frame;
    put_32(frame, 0x80030000U | kind);
    put_32(frame, (flags << 24U) | static_cast<std::uint32_t>(body.size()));
    frame += body;
    return frame;
  }
  static std::string reset(std::uint32_t id) {
    std::string body;
    put_32(body, id);
    put_32(body, 5);
    return control(3, 0, body);
  }

 private:
  z_stream z_{};
};

// What a server with that session hears and says, as text.
struct Served {
  explicit Served(std::size_t most = 4)
      : session(
            most,
            {.opened = [this](std::uint32_t id, const SpdyHeaders& headers) -> Status {
               const std::string_view type = find(headers, "streamtype");
               heard += "open " + std::to_string(id) + " " + std::string(type) + "\n";
               if (type == "bad") return Error{Errc::invalid, "no"};
               return Done{};
             },
             .data =
                 [this](std::uint32_t id, std::string_view b) {
                   const std::string head = "data " + std::to_string(id) + " ";
                   if (last == head)
                     heard.pop_back();  // another piece of the same
                   else
                     heard += head;
                   heard += std::string(b) + "\n";
                   last = head;
                 },
             .fin = [this](std::uint32_t id) { heard += "fin " + std::to_string(id) + "\n"; },
             .reset = [this](std::uint32_t id) { heard += "reset " + std::to_string(id) + "\n"; },
             .send = [this](std::string bytes) { said.push_back(std::move(bytes)); }}) {}
  std::string heard;
  std::string last;
  std::vector<std::string> said;
  SpdySession session;
};

TEST(Spdy, TheDictionaryIsTheProtocolsOwn) {
  const std::string& d = spdy_dictionary();
  EXPECT_EQ(d.size(), 1423U);
  // What each zlib stream of SPDY/3 names as its dictionary.
  EXPECT_EQ(adler32(1, reinterpret_cast<const Bytef*>(d.data()), static_cast<uInt>(d.size())),
            0xe3c6a7c2UL);
}

TEST(Spdy, StreamsOpenSayAndEndHoweverTheirBytesAreCut) {
  for (const std::size_t cut : {1U, 3U, 7U, 9U, 1000U}) {
    Client client;
    Served served;
    // One after the other: each header block builds on the last one.
    std::string all = client.open(1, {{"streamtype", "error"}});
    all += client.open(3, {{"streamtype", "stdin"}});
    all += spdy_data(3, "hello", false) + spdy_data(3, "", true) + spdy_data(1, "", true);
    all += client.open(5, {{"streamtype", "stdout"}}, 1);
    all += Client::reset(5);
    for (std::size_t i = 0; i < all.size(); i += cut) {
      ASSERT_TRUE(served.session.feed(std::string_view(all).substr(i, cut)).has_value());
    }
    EXPECT_EQ(
        served.heard,
        "open 1 error\nopen 3 stdin\ndata 3 hello\nfin 3\nfin 1\nopen 5 stdout\nfin 5\nreset 5\n")
        << cut;
  }
}

TEST(Spdy, EachStreamIsRepliedToWithHeadersThatUnpack) {
  Client client;
  Served served;
  HeaderUnpacker unpacker;
  for (const std::uint32_t id : {1U, 3U}) {
    ASSERT_TRUE(
        served.session.feed(client.open(id, {{"streamtype", "data"}, {"port", "80"}})).has_value());
    const std::string& reply = served.said.back();
    EXPECT_EQ(get_32(reply, 0), 0x80030002U);
    EXPECT_EQ(get_32(reply, 8), id);
    const auto headers = unpacker.unpack(std::string_view(reply).substr(12));
    ASSERT_TRUE(headers.has_value());
    EXPECT_TRUE(headers->empty());
  }
}

TEST(Spdy, PackedHeadersUnpack) {
  HeaderPacker packer;
  HeaderUnpacker unpacker;
  for (int i = 0; i < 20; ++i) {
    const SpdyHeaders headers{
        {"streamtype", "data"}, {"requestid", std::to_string(i)}, {"x", std::string(5000, 'y')}};
    const auto back = unpacker.unpack(packer.pack(headers));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, headers);
  }
}

TEST(Spdy, ARefusedStreamAndOneTooManyAreReset) {
  Client client;
  Served served(1);
  ASSERT_TRUE(served.session.feed(client.open(1, {{"streamtype", "bad"}})).has_value());
  EXPECT_EQ(served.said.back(), spdy_reset(1, SpdyCode::refused_stream));
  ASSERT_TRUE(served.session.feed(client.open(3, {{"streamtype", "a"}})).has_value());
  ASSERT_TRUE(served.session.feed(client.open(5, {{"streamtype", "b"}})).has_value());
  EXPECT_EQ(served.said.back(), spdy_reset(5, SpdyCode::refused_stream));
  EXPECT_EQ(served.heard, "open 1 bad\nreset 1\nopen 3 a\n");
}

TEST(Spdy, PingsAreAnsweredAndOurOwnAreEven) {
  Served served;
  ASSERT_TRUE(served.session.feed(spdy_ping(7)).has_value());
  EXPECT_EQ(served.said.back(), spdy_ping(7));
  served.session.ping();
  EXPECT_EQ(served.said.back(), spdy_ping(2));
  ASSERT_TRUE(served.session.feed(spdy_ping(2)).has_value());
  EXPECT_EQ(served.said.size(), 2U);
}

TEST(Spdy, SettingsAndWindowsAreReadOver) {
  Served served;
  const std::string frames = Client::control(4, 0, std::string(12, '\0')) +
                             Client::control(9, 0, std::string(8, '\1')) +
                             Client::control(4, 0, "");
  EXPECT_TRUE(served.session.feed(frames).has_value());
  EXPECT_TRUE(served.said.empty());
}

TEST(Spdy, WhatIsSaidComesInFramesAndNothingAfterTheEnd) {
  Client client;
  Served served;
  ASSERT_TRUE(served.session.feed(client.open(1, {{"streamtype", "stdout"}})).has_value());
  served.said.clear();
  served.session.data(1, std::string(100'000, 'x'));
  served.session.fin(1);
  served.session.data(1, "late");
  served.session.data(9, "nobody");
  ASSERT_EQ(served.said.size(), 3U);
  EXPECT_EQ(served.said[0].size(), (64U << 10U) + 8U);
  EXPECT_EQ(served.said[1].size(), 100'000U - (64U << 10U) + 8U);
  EXPECT_EQ(served.said[2], spdy_data(1, "", true));
}

TEST(Spdy, WhatIsNotSpdyEndsTheConnectionWithAGoAway) {
  Client client;
  const auto refused = [](const std::string& bytes) {
    Served served;
    const bool ok = served.session.feed(bytes).has_value();
    return !ok && !served.said.empty() && get_32(served.said.back(), 0) == 0x80030007U;
  };
  EXPECT_TRUE(refused(std::string("\x80\x02\0\1\0\0\0\0", 8)));    // SPDY/2
  EXPECT_TRUE(refused(std::string("\x80\x03\0\1\0\x01\0\0", 8)));  // 64 KiB of a control frame
  EXPECT_TRUE(refused(Client::control(1, 0, "short")));
  EXPECT_TRUE(refused(Client::control(1, 0, std::string(10, '\1') + "nozlib")));
  EXPECT_TRUE(refused(client.open(2, {})));  // even: ours
  Client again;
  const std::string first = again.open(3, {});
  EXPECT_TRUE(refused(first + again.open(3, {})));
}

TEST(Spdy, HeadersThatUnpackToTooMuchAreRefused) {
  Client client;
  HeaderUnpacker unpacker;
  EXPECT_FALSE(
      unpacker.unpack(client.pack(Client::block({{"x", std::string(40'000, 'y')}}))).has_value());
  Client other;
  HeaderUnpacker fresh;
  EXPECT_FALSE(fresh.unpack(other.pack(Client::block(SpdyHeaders(65, {"a", "b"})))).has_value());
  Client third;
  HeaderUnpacker last;
  EXPECT_FALSE(last.unpack(third.pack(Client::block({{"a", "b"}}) + "x")).has_value());
}

}  // namespace
}  // namespace drover::kube
