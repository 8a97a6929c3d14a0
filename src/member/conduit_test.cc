#include "member/conduit.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>
#include <thread>

#include "relay/testing.h"

namespace drover::member {
namespace {

using relay::testing::House;
using Kind = tls::Identity::Kind;

// A person's end and the controller's, with the conduit between.
struct Line {
  explicit Line(const House& controllers, const House& persons) {
    auto plain = relay::testing::two_ends();
    auto wire = relay::testing::two_ends();
    for (const Fd* fd : {&wire[0], &wire[1]}) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
    here = std::move(plain[0]);
    there = std::make_unique<tls::Channel>(*controllers.server({.kind = Kind::controller}),
                                           std::move(wire[1]), nullptr);
    channel = std::make_unique<tls::Channel>(
        *persons.client({.kind = Kind::user, .name = "ann", .uid = 1000}), std::move(wire[0]),
        tls::expect_controller());
    thread = std::thread([this, middle = std::move(plain[1])] {
      const Status shaken = channel->handshake_within(std::chrono::seconds(5));
      done = shaken ? carry(middle, *channel) : shaken;
    });
  }
  ~Line() {
    if (thread.joinable()) thread.join();
  }
  // What comes at the controller's end, up to that many bytes.
  std::string hear(std::size_t size) {
    std::string text;
    for (int tries = 0; text.size() < size && tries < 5'000;) {
      std::array<char, 65536> piece{};
      const auto moved = there->read(piece);
      if (moved.step == tls::Channel::Step::end || moved.step == tls::Channel::Step::failed) break;
      text.append(piece.data(), moved.size);
      if (moved.step == tls::Channel::Step::done) continue;
      ++tries;
      ::poll(nullptr, 0, 1);
    }
    return text;
  }
  void say(std::string_view text) {
    while (!text.empty()) {
      const auto moved = there->write(text);
      if (moved.step == tls::Channel::Step::done)
        text.remove_prefix(moved.size);
      else
        ::poll(nullptr, 0, 1);
    }
  }
  Fd here;
  std::unique_ptr<tls::Channel> there;
  std::unique_ptr<tls::Channel> channel;
  Status done = Done{};
  std::thread thread;
};

TEST(Conduit, CarriesBothWaysUntilThePersonGoes) {
  const House house;
  Line line(house, house);
  ASSERT_TRUE(line.there->handshake_within(std::chrono::seconds(5)).has_value());
  const std::string large(300'000, 'x');
  std::thread asking([&] { relay::testing::say(line.here, large); });
  EXPECT_EQ(line.hear(large.size()), large);
  asking.join();
  std::thread answering([&] { line.say(large); });
  EXPECT_EQ(relay::testing::hear(line.here, large.size()), large);
  answering.join();
  line.here.reset();
  line.thread.join();
  EXPECT_TRUE(line.done.has_value());
}

TEST(Conduit, TheControllersEndIsPassedOnAfterItsLastWord) {
  const House house;
  Line line(house, house);
  ASSERT_TRUE(line.there->handshake_within(std::chrono::seconds(5)).has_value());
  line.say("last");
  line.there->finish();
  line.there.reset();
  EXPECT_EQ(relay::testing::hear(line.here), "last");
  line.thread.join();
  EXPECT_TRUE(line.done.has_value());
}

TEST(Conduit, ARefusalOfTheCertificateIsToldApart) {
  const House house;
  const House other("c1");
  // The controller's authority is trusted, but the person's certificate is of another one of that
  // name.
  tls::Credentials mixed = other.issue({.kind = Kind::user, .name = "ann", .uid = 1000});
  auto wire = relay::testing::two_ends();
  auto plain = relay::testing::two_ends();
  for (const Fd* fd : {&wire[0], &wire[1]}) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  tls::Channel there(*house.server({.kind = Kind::controller}), std::move(wire[1]), nullptr);
  std::thread refusing(
      [&] { EXPECT_FALSE(there.handshake_within(std::chrono::seconds(5)).has_value()); });
  mixed.authority = house.authority.certificate;
  const auto context =
      tls::Context::make(tls::Context::Side::client, mixed, {.cluster = "c1"}).value();
  tls::Channel channel(*context, std::move(wire[0]), tls::expect_controller());
  ASSERT_TRUE(channel.handshake_within(std::chrono::seconds(5)).has_value());
  relay::testing::say(plain[0], "GET / HTTP/1.1\r\n\r\n");
  const Status carried = carry(plain[1], channel);
  refusing.join();
  ASSERT_FALSE(carried.has_value());
  EXPECT_EQ(carried.error().code, Errc::denied) << carried.error().message;
}

}  // namespace
}  // namespace drover::member
