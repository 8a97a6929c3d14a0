#include "agent/session/streams.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "agent/step/spec.h"
#include "base/proto.h"
#include "base/resume.h"
#include "os/clock.h"
#include "os/socket.h"
#include "os/temp_folder.h"
#include "relay/dial.h"
#include "relay/testing.h"

namespace drover::agent {
namespace {

struct Door : testing::Test {
  Door()
      : pump(*relay::Pump::start()),
        streams(*Streams::open({.path = folder.path("door"),
                                .node = "n1",
                                .reach = [this](const StepAttach&) -> Result<Fd> {
                                  auto part = connect_stream(folder.path("part"));
                                  if (!part) return Error{Errc::not_found, "nobody"};
                                  return part;
                                },
                                .is_over = [this](const StepAttach&) { return over; },
                                .pump = pump.get()})) {}

  Fd knock(const std::string& bytes) {
    auto client = connect_stream(folder.path("door"));
    EXPECT_TRUE(client.has_value());
    EXPECT_EQ(::send(client->get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    turn();
    turn();
    return std::move(*client);
  }
  void turn(Duration later = {}) { streams->turn(since_boot() + later); }
  static std::string wish(const std::string& node = "") {
    return frame(encode(StepAttach{.job = JobId(17), .attempt = 1, .node = node}));
  }
  // The answer, with the descriptor beside it.
  static StepAttached heard(const Fd& client, Fd* descriptor = nullptr) {
    std::array<char, 4096> buffer{};
    auto arrived = receive_with_descriptor(client.get(), buffer.data(), buffer.size());
    if (!arrived || arrived->bytes == 0) return {.error = arrived && arrived->closed ? "closed" : "silence"};
    if (descriptor != nullptr) *descriptor = std::move(arrived->descriptor);
    std::string_view bytes(buffer.data(), arrived->bytes);
    bool whole = false;
    const auto message = take_frame(bytes, whole);
    const auto answer = decode<StepAttached>(*message);
    return answer ? *answer : StepAttached{.error = "rubbish"};
  }

  TempFolder folder;
  bool over = false;
  std::unique_ptr<relay::Pump> pump;
  std::unique_ptr<Streams> streams;
};

TEST_F(Door, AClientIsBroughtToTheStepThatComesLaterWithHisNameAndNotAByteIsTaken) {
  const Fd client = knock(wish());
  EXPECT_EQ(heard(client).error, "silence");
  const Fd part = std::move(*listen_stream(folder.path("part"), 0600));
  turn();
  const Fd inside = std::move(*accept_connection(part.get()));
  std::array<char, 4096> buffer{};
  const ssize_t n = ::recv(inside.get(), buffer.data(), buffer.size(), 0);
  std::string_view bytes(buffer.data(), static_cast<std::size_t>(n));
  bool whole = false;
  const auto introduction = decode<Introduction>(*take_frame(bytes, whole));
  ASSERT_TRUE(whole && introduction.has_value());
  EXPECT_EQ(introduction->uid, ::geteuid());
  EXPECT_EQ(decode<StepAttach>(introduction->attach)->job, JobId(17));
  const std::string said = frame(encode(StepAttached{.received = 7})) + "first words";
  ASSERT_EQ(::send(inside.get(), said.data(), said.size(), 0), static_cast<ssize_t>(said.size()));
  turn();
  Fd stream;
  EXPECT_EQ(heard(client, &stream).received, 7U);
  ASSERT_TRUE(stream);
  EXPECT_EQ(streams->visitors(), 0U);
  const ssize_t rest = ::recv(stream.get(), buffer.data(), buffer.size(), 0);
  EXPECT_EQ(std::string(buffer.data(), static_cast<std::size_t>(rest)), "first words");
}

TEST_F(Door, WhoComesTooEarlyIsAskedToComeAgainAndWhoComesTooLateHearsSo) {
  const Fd early = knock(wish());
  turn(seconds(1));
  EXPECT_EQ(heard(early).error, "silence");
  turn(seconds(3));
  EXPECT_TRUE(heard(early).again);
  over = true;
  EXPECT_EQ(heard(knock(wish())).error, "the step is over");
}

TEST_F(Door, RubbishSilenceAndOtherNodesAreTurnedAway) {
  EXPECT_EQ(heard(knock("GET / HTTP/1.1\r\n\r\n")).error, "not a frame of a step's stream");
  EXPECT_EQ(heard(knock(frame(std::string(10, '\xff')))).error.substr(0, 17), "malformed message");
  EXPECT_EQ(heard(knock(wish("far"))).error,
            "this is node n1, whose agent has no certificate and so no way to far");
  const Fd silent = knock(std::string("\1\0", 2));
  EXPECT_EQ(streams->visitors(), 1U);
  turn(seconds(3));
  EXPECT_EQ(streams->visitors(), 0U);
  EXPECT_EQ(heard(silent).error, "closed");
}

// Somebody at a node's door with this certificate, who asks for a part of `node`.
struct FromAfar : Door {
  FromAfar()
      : door(*relay::Door::open({.at = wire::Endpoint::tcp("127.0.0.1", 0),
                                 .context = house.server({.name = "n1"})}, *pump)) {
    door->serve(relay::kStepStream, [this](relay::Arrival arrival) { streams->take(std::move(arrival)); });
  }
  ~FromAfar() override { door->serve(relay::kStepStream, nullptr); }

  Fd call(const tls::Identity& who, const std::string& node = "n1") {
    auto ends = relay::testing::two_ends();
    dialer = std::make_unique<relay::Dialer>(house.client(who), *pump);
    dialer->call({.plain = std::move(ends[1]),
                  .target = {.node = "n1", .address = "127.0.0.1:" + std::to_string(door->port())},
                  .opening = {.kind = std::string(relay::kStepStream),
                              .ask = encode(StepAttach{.job = JobId(17), .node = node, .ticket = "t"}),
                              .uid = 0},
                  .refused = relay::relay_failed});
    return std::move(ends[0]);
  }
  // Turns until `fd` has something to say.
  bool turn_until(int fd) {
    for (int i = 0; i < 1000; ++i) {
      turn();
      pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 10) > 0) return true;
    }
    return false;
  }

  relay::testing::House house;
  std::unique_ptr<relay::Door> door;
  std::unique_ptr<relay::Dialer> dialer;
};

TEST_F(FromAfar, WhatANodeSaysOfItsCallersIsNothingAndAControllersWordCounts) {
  const Fd part = std::move(*listen_stream(folder.path("part"), 0600));
  for (const auto kind : {tls::Identity::Kind::node, tls::Identity::Kind::controller}) {
    const tls::Identity who{.kind = kind, .name = kind == tls::Identity::Kind::node ? "n2" : ""};
    const Fd client = call(who);
    ASSERT_TRUE(turn_until(part.get()));
    const Fd inside = std::move(*accept_connection(part.get()));
    std::string bytes = relay::testing::hear(inside, 4);
    bytes += relay::testing::hear(inside, frame_length(bytes) - 4);
    std::string_view rest = bytes;
    bool whole = false;
    const auto introduction = decode<Introduction>(*take_frame(rest, whole));
    EXPECT_EQ(introduction->uid, who.kind == tls::Identity::Kind::node ? relay::kNobody : 0U);
    EXPECT_EQ(decode<StepAttach>(introduction->attach)->ticket, "t");
    const std::string said = frame(encode(StepAttached{.received = 7})) + "first words";
    relay::testing::say(inside, said);
    ASSERT_TRUE(turn_until(client.get()));
    EXPECT_EQ(relay::testing::hear(client, said.size()), said);
    relay::testing::say(client, "and back");
    EXPECT_EQ(relay::testing::hear(inside, 8), "and back");
    EXPECT_EQ(streams->visitors(), 0U);
  }
}

TEST_F(FromAfar, ARefusalArrivesWholeAndNobodyIsPassedOnTwice) {
  Fd client = call({.name = "n2"}, "n3");
  ASSERT_TRUE(turn_until(client.get()));
  EXPECT_EQ(heard(client).error, "this is node n1, not n3");
  over = true;
  client = call({.name = "n2"});
  ASSERT_TRUE(turn_until(client.get()));
  EXPECT_EQ(heard(client).error, "the step is over");
}

}  // namespace
}  // namespace drover::agent
