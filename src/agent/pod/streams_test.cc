#include "agent/pod/streams.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <fstream>

#include "base/proto.h"
#include "base/resume.h"
#include "os/temp_folder.h"
#include "relay/dial.h"
#include "relay/testing.h"

namespace drover::agent {
namespace {

using Kind = tls::Identity::Kind;

// A node with one pod that has logged a line, and its door for other machines.
struct PodFromAfar : testing::Test {
  PodFromAfar() {
    std::ofstream(folder.path("0.log")) << "2026-12-01T00:00:01.5Z stdout F one\n";
    directory->put({{{"17.1", "c"}, {.log = folder.path("0.log")}}});
    door->serve(relay::kPodStream,
                [this](relay::Arrival arrival) { streams->take(*pump, std::move(arrival)); });
  }
  ~PodFromAfar() override { door->serve(relay::kPodStream, nullptr); }

  // What a caller with such a certificate hears until the end.
  std::string ask(Kind kind, const PodAttach& wish) {
    auto ends = relay::testing::two_ends();
    relay::Dialer dialer(house.client({.kind = kind, .name = kind == Kind::node ? "n2" : ""}),
                         *pump);
    dialer.call({.plain = std::move(ends[1]),
                 .target = {.node = "n1", .address = "127.0.0.1:" + std::to_string(door->port())},
                 .opening = {.kind = std::string(relay::kPodStream), .ask = encode(wish)},
                 .refused = [](const Error& error) { return "refused: " + error.message; }});
    return relay::testing::hear(ends[0]);
  }
  static std::vector<std::string> frames(std::string_view bytes) {
    std::vector<std::string> all;
    for (bool whole = true; whole;) {
      const auto message = take_frame(bytes, whole);
      if (message && whole) all.emplace_back(*message);
    }
    return all;
  }

  TempFolder folder;
  relay::testing::House house;
  std::shared_ptr<PodDirectory> directory = std::make_shared<PodDirectory>();
  std::unique_ptr<relay::Pump> pump = *relay::Pump::start();
  std::unique_ptr<PodStreams> streams =
      *PodStreams::open({.path = folder.path("door"), .directory = directory});
  std::unique_ptr<relay::Door> door = *relay::Door::open(
      {.at = wire::Endpoint::tcp("127.0.0.1", 0), .context = house.server({.name = "n1"})}, *pump);
};

TEST_F(PodFromAfar, TheControllerReadsALogAndIsToldWhatIsMissing) {
  const auto heard =
      frames(ask(Kind::controller, {.job = JobId(17), .attempt = 1, .container = "c"}));
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(decode<PodAttached>(heard[0])->error, "");
  EXPECT_EQ(std::get<PodOutput>(*decode<PodDown>(heard[1])).bytes, "one\n");
  EXPECT_TRUE(std::holds_alternative<PodStreamEnded>(*decode<PodDown>(heard[2])));
  const auto missing =
      frames(ask(Kind::controller, {.job = JobId(17), .attempt = 1, .container = "x"}));
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_TRUE(decode<PodAttached>(missing[0])->missing);
}

TEST_F(PodFromAfar, AnotherNodeIsNobody) {
  EXPECT_EQ(ask(Kind::node, {.job = JobId(17), .attempt = 1, .container = "c"}).substr(0, 8),
            "refused:");
}

}  // namespace
}  // namespace drover::agent
