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

namespace drover::agent {
namespace {

struct Door : testing::Test {
  Door()
      : streams(*Streams::open({.path = folder.path("door"),
                                .reach = [this](const StepAttach& wish) -> Result<Fd> {
                                  if (wish.node == "far") return Error{Errc::unavailable, "no way there"};
                                  auto part = connect_stream(folder.path("part"));
                                  if (!part) return Error{Errc::not_found, "nobody"};
                                  return part;
                                },
                                .is_over = [this](const StepAttach&) { return over; }})) {}

  Fd knock(const std::string& bytes) {
    auto client = connect_stream(folder.path("door"));
    EXPECT_TRUE(client.has_value());
    EXPECT_EQ(::send(client->get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    turn();
    turn();
    return std::move(*client);
  }
  void turn(Duration later = {}) { streams.turn(since_boot() + later); }
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
  Streams streams;
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
  EXPECT_EQ(streams.visitors(), 0U);
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
  EXPECT_EQ(heard(knock(wish("far"))).error, "no way there");
  const Fd silent = knock(std::string("\1\0", 2));
  EXPECT_EQ(streams.visitors(), 1U);
  turn(seconds(3));
  EXPECT_EQ(streams.visitors(), 0U);
  EXPECT_EQ(heard(silent).error, "closed");
}

}  // namespace
}  // namespace drover::agent
