#include <gtest/gtest.h>

#include <mutex>

#include "base/proto.h"
#include "base/resume.h"
#include "relay/dial.h"
#include "relay/door.h"
#include "relay/testing.h"

namespace drover::relay {
namespace {

using testing::hear;
using testing::House;
using testing::say;
using testing::two_ends;
using Kind = tls::Identity::Kind;

const tls::Identity kN1{.kind = Kind::node, .name = "n1"};
const tls::Identity kController{.kind = Kind::controller};

// Writes until nothing more is taken for a while; how much that was.
std::size_t fill(const Fd& writer) {
  const std::string piece(1 << 16, 'x');
  std::size_t taken = 0;
  for (int still = 0; still < 20;) {
    const ssize_t n = ::send(writer.get(), piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) taken += static_cast<std::size_t>(n);
    still = n > 0 ? 0 : still + 1;
    if (n <= 0) ::poll(nullptr, 0, 10);
    EXPECT_LT(taken, 64U << 20U) << "it takes without end";
    if (taken >= 64U << 20U) break;
  }
  return taken;
}

// Node n2, whose door serves the kind "near": the other end is part().
struct Relay : ::testing::Test {
  Relay()
      : pump(Pump::start().value()),
        door(Door::open({.at = wire::Endpoint::tcp("127.0.0.1", 0),
                         .context = house.server({.kind = Kind::node, .name = "n2"})},
                        *pump)
                 .value()) {
    door->serve("near", [this](Arrival arrival) {
      auto ends = two_ends();
      const std::lock_guard lock(mutex);
      uid = arrival.uid();
      asked = arrival.opening.ask;
      near = std::move(ends[0]);
      join(*pump, std::move(arrival), std::move(ends[1]), "hello ");
    });
  }
  ~Relay() override { door->serve("near", nullptr); }

  // The caller's end of a call of `node`, which really is n2, with this certificate.
  Fd call(const std::shared_ptr<tls::Context>& context, const std::string& node = "n2",
          const std::string& kind = "near") {
    auto ends = two_ends();
    dialer = std::make_unique<Dialer>(context, *pump);
    dialer->call({.plain = std::move(ends[1]),
                  .target = {.node = node, .address = "127.0.0.1:" + std::to_string(door->port())},
                  .opening = {.kind = kind, .ask = "please", .uid = 7},
                  .refused = [](const Error& error) {
                    return (error.code == Errc::unavailable ? "later: " : "no: ") + error.message;
                  }});
    return std::move(ends[0]);
  }
  Fd part() {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::lock_guard lock(mutex);
        if (near) return std::move(near);
      }
      ::poll(nullptr, 0, 10);
    }
    return {};
  }
  [[nodiscard]] bool emptied() const {
    for (int i = 0; i < 1000 && pump->pairs() != 0; ++i) ::poll(nullptr, 0, 10);
    return pump->pairs() == 0;
  }

  House house;
  std::mutex mutex;
  std::uint32_t uid = 0;
  std::string asked;
  Fd near;
  std::unique_ptr<Pump> pump;
  std::unique_ptr<Door> door;
  std::unique_ptr<Dialer> dialer;
};

TEST_F(Relay, CarriesBothWaysAndEachEndByItself) {
  Fd client = call(house.client(kN1));
  Fd inside = part();
  ASSERT_TRUE(inside);
  EXPECT_EQ(asked, "please");
  EXPECT_EQ(hear(client, 6), "hello ");
  say(client, "question");
  ::shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(hear(inside), "question");
  say(inside, "answer");
  EXPECT_EQ(hear(client, 6), "answer") << "one direction has ended, the other hasn't";
  inside.reset();
  EXPECT_EQ(hear(client), "");
  client.reset();
  EXPECT_TRUE(emptied());
}

TEST_F(Relay, WhatWasSaidLastArrivesThoughTheSpeakerIsGone) {
  Fd client = call(house.client(kN1));
  Fd inside = part();
  ASSERT_EQ(hear(client, 6), "hello ");
  const std::size_t down = fill(inside);
  const std::size_t up = fill(client);
  inside.reset();
  ::poll(nullptr, 0, 200);  // it is known to be gone, while all buffers are full
  EXPECT_EQ(hear(client).size(), down);
  client = call(house.client(kN1));
  inside = part();
  ASSERT_EQ(hear(client, 6), "hello ");
  const std::size_t more = fill(client);
  client.reset();
  ::poll(nullptr, 0, 200);
  EXPECT_EQ(hear(inside).size(), more);
  EXPECT_GT(up, 0U);
  inside.reset();
  EXPECT_TRUE(emptied());
}

TEST_F(Relay, WhoDoesNotReadHoldsUpHisOwnWriterAlone) {
  const auto context = house.client(kN1);
  Fd slow = call(context);
  Fd writer = part();
  Fd quick = call(context);
  Fd other = part();
  const std::size_t taken = fill(writer);
  say(other, "news");
  EXPECT_EQ(hear(quick, 10), "hello news");
  EXPECT_EQ(hear(slow, 6 + taken).size(), 6 + taken);
}

TEST_F(Relay, TheCertificateMustBeOfTheNodeThatIsMeant) {
  EXPECT_EQ(hear(call(house.client(kN1), "n3")),
            "no: node n3 at 127.0.0.1:" + std::to_string(door->port()) +
                ": the peer is node n2, not node n3");
  EXPECT_FALSE(near);
}

TEST_F(Relay, OnlyNodesAndTheControllerOfThisClusterComeIn) {
  EXPECT_TRUE(hear(call(house.client({.kind = Kind::user, .name = "ann", .uid = 7})))
                  .starts_with("later: "));
  const auto stranger =
      tls::Context::make(tls::Context::Side::client, {.authority = house.authority.certificate},
                         {.cluster = "c1"})
          .value();
  EXPECT_TRUE(hear(call(stranger)).starts_with("later: "));
  const House another("c2");
  EXPECT_EQ(hear(call(another.client(kN1))).substr(0, 4), "no: ");
  EXPECT_FALSE(near);
  EXPECT_EQ(hear(call(house.client(kController)), 6), "hello ");
}

TEST_F(Relay, ANodesWordForItsCallersIsNothingTheControllersCounts) {
  const Fd first = call(house.client(kN1));
  ASSERT_TRUE(part());
  EXPECT_EQ(uid, kNobody);
  const Fd second = call(house.client(kController));
  ASSERT_TRUE(part());
  EXPECT_EQ(uid, 7U);
}

TEST_F(Relay, WhatIsNotServedAndWhoIsNotThereComeWithAWord) {
  EXPECT_EQ(hear(call(house.client(kN1), "n2", "far")).substr(0, 6), "later:");
  const auto context = house.client(kN1);
  const std::uint16_t port = door->port();
  door.reset();
  auto ends = two_ends();
  dialer = std::make_unique<Dialer>(context, *pump);
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    ends = two_ends();
    dialer->call({.plain = std::move(ends[1]),
                  .target = {.node = "n2", .address = host + ":" + std::to_string(port)},
                  .opening = {},
                  .refused = [](const Error& error) { return error.message; }});
    const std::string said = hear(ends[0]);
    EXPECT_NE(said.find("Connection refused"), std::string::npos) << said;
  }
  door =
      Door::open({.at = wire::Endpoint::tcp("127.0.0.1", 0), .context = house.server(kN1)}, *pump)
          .value();
}

TEST_F(Relay, SilentStrangersDontKeepTheOthersOut) {
  const auto at = wire::Endpoint::tcp("127.0.0.1", door->port());
  std::vector<Fd> strangers;
  for (int i = 0; i < 400; ++i)
    strangers.push_back(wire::connect_to(at, std::chrono::seconds(5)).value());
  Fd talker = wire::connect_to(at, std::chrono::seconds(5)).value();
  say(talker, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(hear(call(house.client(kN1)), 6), "hello ");
}

}  // namespace
}  // namespace drover::relay
