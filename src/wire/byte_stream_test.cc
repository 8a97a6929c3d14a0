// Connections that leave HTTP for bytes of another protocol, and sockets beside them.
#include "wire/byte_stream.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "os/temp_folder.h"
#include "wire/http_server.h"

namespace drover::wire {
namespace {

using std::chrono::milliseconds;

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

constexpr std::string_view kAsk =
    "POST /exec HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: "
    "0\r\n\r\n";

// Reads until `end` is there, or the peer has ended.
std::string read_until(int fd, std::string_view end) {
  std::string all;
  std::array<char, 4096> part{};
  while (all.find(end) == std::string::npos) {
    pollfd p{fd, POLLIN, 0};
    if (::poll(&p, 1, 5000) <= 0) return all + "<silent>";
    const ssize_t n = ::recv(fd, part.data(), part.size(), 0);
    if (n <= 0) return all + "<end>";
    all.append(part.data(), static_cast<std::size_t>(n));
  }
  return all;
}

void say(int fd, std::string_view text) {
  EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

class Switched : public testing::Test {
 protected:
  void serve(ByteHandlers handlers, ByteLimits limits = {}) {
    ServerOptions options;
    options.at = Endpoint::unix_socket(folder_.path("s"));
    auto started = Server::start(options, [handlers, limits, this](Request&&,
                                                                   const Responder& responder) {
      lane_ = responder.lane();
      responder.switch_protocols({.protocol = "SPDY/3.1",
                                  .headers = {{"X-Stream-Protocol-Version", "v4.channel.k8s.io"}},
                                  .limits = limits,
                                  .handlers = handlers});
    });
    ASSERT_TRUE(started.has_value());
    server_ = std::move(started).value();
    client_ = connect_to(options.at, milliseconds(1000)).value();
  }
  // Sends back what comes.
  ByteHandlers echoing() {
    return {.on_open = [this](const ByteStreamPtr& stream) { stream_ = stream; },
            .on_bytes = [this](std::string_view got) { stream_->send(bytes(std::string(got))); },
            .on_drained = nullptr,
            .on_tick = nullptr,
            .on_close = [this](const std::string&) { closed_ = true; }};
  }

  TempFolder folder_;
  ByteStreamPtr stream_;
  std::atomic<bool> closed_{false};
  std::optional<Lane> lane_;
  std::unique_ptr<Server> server_;
  Fd client_;
};

TEST_F(Switched, TheAnswerNamesTheProtocolAndThenBytesFlowBothWays) {
  serve(echoing());
  say(client_.get(), kAsk);
  const std::string head = read_until(client_.get(), "\r\n\r\n");
  EXPECT_EQ(head,
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
            "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n");
  say(client_.get(), std::string("\x80\x03\x00\x06", 4));
  EXPECT_EQ(read_until(client_.get(), "\x06"), std::string("\x80\x03\x00\x06", 4));
  client_.reset();
  EXPECT_TRUE(eventually([&] { return closed_.load(); }));
  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; }));
}

TEST_F(Switched, BytesThatCameWithTheRequestAreNotLost) {
  serve(echoing());
  say(client_.get(), std::string(kAsk) + "early");
  EXPECT_TRUE(read_until(client_.get(), "early").ends_with("\r\n\r\nearly"));
}

TEST_F(Switched, APeerThatDoesNotReadHoldsUpTheSenderAndLosesNothing) {
  constexpr std::size_t kTotal = 8U << 20U;
  std::size_t sent = 0;
  std::atomic<std::size_t> most{0};
  const auto fill = [&] {
    while (sent < kTotal && stream_->waiting() < (256U << 10U)) {
      stream_->send(bytes(std::string(10'000, static_cast<char>('a' + sent / 10'000 % 26))));
      sent += 10'000;
      most = std::max(most.load(), stream_->waiting());
    }
    if (sent >= kTotal) stream_->close();
  };
  ByteHandlers handlers = echoing();
  handlers.on_open = [&](const ByteStreamPtr& stream) {
    stream_ = stream;
    fill();
  };
  handlers.on_drained = fill;
  serve(handlers);
  say(client_.get(), kAsk);
  std::this_thread::sleep_for(milliseconds(50));  // sits on it for a while
  const std::string all = read_until(client_.get(), "<no such>");
  ASSERT_TRUE(all.ends_with("<end>"));
  const std::string body =
      all.substr(all.find("\r\n\r\n") + 4, all.size() - all.find("\r\n\r\n") - 4 - 5);
  EXPECT_EQ(body.size(), (kTotal + 9'999) / 10'000 * 10'000);
  for (std::size_t i = 0; i < body.size(); i += 10'000)
    ASSERT_EQ(body[i], static_cast<char>('a' + i / 10'000 % 26));
  EXPECT_LE(most, (256U << 10U) + 10'000);
}

TEST_F(Switched, WhileHeldNothingMoreIsReadFromThePeer) {
  std::atomic<std::size_t> got{0};
  ByteHandlers handlers = echoing();
  handlers.on_bytes = [&](std::string_view piece) {
    got += piece.size();
    stream_->hold(true);
  };
  serve(handlers);
  say(client_.get(), kAsk);
  EXPECT_TRUE(read_until(client_.get(), "\r\n\r\n").ends_with("\r\n\r\n"));
  say(client_.get(), "first");
  EXPECT_TRUE(eventually([&] { return got == 5; }));
  say(client_.get(), "second");
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(got, 5U);
  lane_->post([&] { stream_->hold(false); });
  EXPECT_TRUE(eventually([&] { return got == 11; }));
}

TEST_F(Switched, TicksComeAndAServerThatStopsEndsTheStream) {
  std::atomic<int> ticks{0};
  ByteHandlers handlers = echoing();
  handlers.on_tick = [&] { ++ticks; };
  serve(handlers, {.tick = milliseconds(50)});
  say(client_.get(), kAsk);
  EXPECT_TRUE(eventually([&] { return ticks >= 3; }));
  server_->stop();
  EXPECT_TRUE(closed_);
  EXPECT_TRUE(read_until(client_.get(), "<no such>").ends_with("<end>"));
  EXPECT_FALSE(lane_->post([] {}));
}

TEST_F(Switched, ASocketBesideTheConnectionIsServedOnTheSameThread) {
  std::array<int, 2> ends{-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
  const Fd other(ends[1]);
  ByteStreamPtr beside;
  std::atomic<bool> same{false};
  ByteHandlers handlers = echoing();
  handlers.on_open = [&](const ByteStreamPtr& stream) {
    stream_ = stream;
    const auto thread = std::this_thread::get_id();
    EXPECT_TRUE(lane_->open(Fd(ends[0]), {},
                            {.on_open = [&](const ByteStreamPtr& opened) { beside = opened; },
                             .on_bytes =
                                 [&, thread](std::string_view got) {
                                   same = thread == std::this_thread::get_id();
                                   stream_->send(bytes("node says " + std::string(got)));
                                 },
                             .on_drained = nullptr,
                             .on_tick = nullptr,
                             .on_close = [&](const std::string&) { stream_->close(); }}));
  };
  handlers.on_bytes = [&](std::string_view got) { beside->send(bytes(std::string(got))); };
  serve(handlers);
  say(client_.get(), kAsk);
  EXPECT_TRUE(read_until(client_.get(), "\r\n\r\n").ends_with("\r\n\r\n"));
  say(client_.get(), "hello");
  EXPECT_EQ(read_until(other.get(), "hello"), "hello");
  say(other.get(), "yes");
  EXPECT_EQ(read_until(client_.get(), "yes"), "node says yes");
  EXPECT_TRUE(same);
  ::shutdown(other.get(), SHUT_WR);
  EXPECT_EQ(read_until(client_.get(), "<no such>"), "<end>");
}

TEST(Protocols, TheFirstOfTheClientsThatIsOursIsChosen) {
  constexpr std::array<std::string_view, 2> kOurs{"v5.channel.k8s.io", "v4.channel.k8s.io"};
  EXPECT_EQ(chosen_protocol({{"sec-websocket-protocol", "x, v4.channel.k8s.io,v5.channel.k8s.io"}},
                            kOurs),
            "v4.channel.k8s.io");
  EXPECT_EQ(chosen_protocol(
                {{"Sec-WebSocket-Protocol", "x"}, {"Sec-WebSocket-Protocol", "v5.channel.k8s.io"}},
                kOurs),
            "v5.channel.k8s.io");
  EXPECT_EQ(chosen_protocol({{"Sec-WebSocket-Protocol", "x"}}, kOurs), "");
  EXPECT_EQ(chosen_protocol({}, kOurs), "");
}

}  // namespace
}  // namespace drover::wire
