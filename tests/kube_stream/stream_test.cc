// Streams of pods against an agent that is played: what clients are told, who waits for whom, and
// that nothing stays behind. The real clients are in kubectl_test.cc.
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "kube_stream/played_api.h"
#include "wire/http_client.h"
#include "wire/websocket.h"

namespace drover::kube {
namespace {

using std::chrono::milliseconds;

bool eventually(const std::function<bool()>& holds, int tenths = 100) {
  for (int i = 0; i < tenths * 10; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

class Streams : public testing::Test {
 protected:
  ~Streams() override {
    // However a stream ended, neither side of it stays.
    EXPECT_TRUE(eventually([&] { return agent_.open() == 0; }));
    EXPECT_TRUE(eventually([&] { return api_.streams() == 0; }));
  }
  [[nodiscard]] wire::Response get(const std::string& what) const {
    wire::HttpClient client(api_.at());
    const auto answer = client.call({"GET", "/api/v1/namespaces/default/pods/p/" + what});
    EXPECT_TRUE(answer.has_value());
    return answer ? *answer : wire::Response{};
  }
  [[nodiscard]] static std::string body(const wire::Response& answer) { return answer.body; }

  PlayedAgent agent_;
  PlayedApi api_{agent_};
};

TEST_F(Streams, ALogIsPlainTextAndTheNodeIsAskedForWhatTheClientWants) {
  const auto answer = get(
      "log?container=main&tailLines=2&timestamps=true&previous=true&sinceSeconds=60&limitBytes=40");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("Content-Type"), "text/plain");
  EXPECT_EQ(body(answer), "2026-12-01T00:00:00.000000000Z old line ");
  const PodAttach ask = agent_.asked().at(0);
  EXPECT_EQ(ask.job, JobId(7));
  EXPECT_EQ(ask.attempt, 1U);
  EXPECT_EQ(ask.tail, 2);
  EXPECT_TRUE(ask.previous && ask.timestamps && !ask.follow);
  EXPECT_EQ(ask.most, 40U);
  EXPECT_NE(ask.since, Instant{});
}

TEST_F(Streams, AFollowedLogEndsWithItsContainer) {
  EXPECT_EQ(body(get("log?container=main&tailLines=1&follow=true")),
            "line 1000\nmore 0\nmore 1\nmore 2\nmore 3\nmore 4\n");
}

TEST_F(Streams, WhatCanNotBeLoggedIsRefusedInTheApiServersWords) {
  EXPECT_NE(
      body(get("log"))
          .find(R"("message":"a container name must be specified for pod p, choose one of: [main)"),
      std::string::npos);
  const auto waiting = get("log?container=waiting");
  EXPECT_EQ(waiting.status, 400);
  EXPECT_NE(body(waiting).find(
                R"(container \"waiting\" in pod \"p\" is waiting to start: ContainerCreating)"),
            std::string::npos);
  EXPECT_EQ(get("log?container=main&tailLines=-1").status, 422);
  EXPECT_EQ(get("log?container=absent").status, 404);
}

TEST_F(Streams, ALogThatBreaksIsSeenToBeIncomplete) {
  wire::HttpClient client(api_.at());
  EXPECT_FALSE(
      client.call({"GET", "/api/v1/namespaces/default/pods/p/log?container=broken"}).has_value());
}

TEST_F(Streams, AReaderThatDoesNotReadHoldsUpTheNode) {
  const auto fd = wire::connect_to(api_.at(), milliseconds(1000));
  ASSERT_TRUE(fd.has_value());
  const std::string_view ask =
      "GET /api/v1/namespaces/default/pods/p/log?container=endless HTTP/1.1\r\nHost: h\r\n\r\n";
  ASSERT_EQ(::send(fd->get(), ask.data(), ask.size(), 0), static_cast<ssize_t>(ask.size()));
  std::size_t before = 1;
  ASSERT_TRUE(eventually([&] {  // until nothing moves any more
    const std::size_t now = agent_.said();
    std::this_thread::sleep_for(milliseconds(300));
    return now > 0 && now == agent_.said();
  }));
  before = agent_.said();
  EXPECT_LT(before, 24U << 20U);  // the kernel's buffers, and little of ours
  std::string piece(1U << 20U, '\0');
  std::size_t read = 0;
  while (read < (32U << 20U)) {
    pollfd p{fd->get(), POLLIN, 0};
    ASSERT_GT(::poll(&p, 1, 5000), 0);
    const ssize_t n = ::recv(fd->get(), piece.data(), piece.size(), 0);
    ASSERT_GT(n, 0);
    read += static_cast<std::size_t>(n);
  }
  EXPECT_GT(agent_.said(), before);
}

TEST_F(Streams, WhatAsksForNoUpgradeOrNoKnownProtocolIsRefused) {
  EXPECT_EQ(get("exec?container=main&command=true&stdout=1").status, 400);
  EXPECT_EQ(get("portforward").status, 400);
  EXPECT_EQ(get("exec?container=main&command=true").status, 400);
  wire::HttpClient client(api_.at());
  const wire::ClientRequest request{
      .method = "POST",
      .target = "/api/v1/namespaces/default/pods/p/exec?container=main&command=true&stdout=1",
      .headers = {
          {"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}, {"X-Stream-Protocol-Version", "v9"}}};
  const auto refused = client.call(request);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 403);
}

// A client of channels, as wire's own WebSocket client makes one.
struct Channels {
  Channels(const PlayedApi& api, const std::string& query, std::vector<std::string> inputs) {
    wire::WsClientOptions options;
    options.to = api.at();
    options.target = "/api/v1/namespaces/default/pods/p/" + query;
    options.headers = {{"Sec-WebSocket-Protocol", "v5.channel.k8s.io"}};
    options.retry_min = options.retry_max = milliseconds(60'000);
    options.on_retry = [this](const std::string& why, milliseconds) {
      const std::lock_guard lock(mutex);
      failed = why;
    };
    client = std::make_unique<wire::WsClient>(
        options,
        wire::WsHandlers{
            .on_open =
                [inputs = std::move(inputs)](const wire::WsSessionPtr& session) {
                  for (const std::string& input : inputs) session->send(wire::bytes(input));
                },
            .on_message =
                [this](const wire::WsSessionPtr&, std::string& message) {
                  const std::lock_guard lock(mutex);
                  if (!message.empty()) by_channel[message[0]] += message.substr(1);
                  return true;
                },
            .on_close = [this](const wire::WsSessionPtr&, const std::string&) { closed = true; }});
  }
  [[nodiscard]] bool over() {
    return eventually([&] {
      const std::lock_guard lock(mutex);
      return closed || !failed.empty();
    });
  }
  std::mutex mutex;
  std::map<char, std::string> by_channel;
  std::string failed;
  std::atomic<bool> closed{false};
  std::unique_ptr<wire::WsClient> client;
};

TEST_F(Streams, ACommandsOutputAndExitComeOnTheirChannels) {
  Channels channels(api_,
                    "exec?container=main&command=sh&command=-c&command=echo%20out%3b%20echo%20err%"
                    "20%3e%262%3b%20exit%207&stdout=1&stderr=1",
                    {});
  ASSERT_TRUE(channels.over());
  channels.client->stop();
  EXPECT_EQ(channels.by_channel[1], "out\n");
  EXPECT_EQ(channels.by_channel[2], "err\n");
  EXPECT_NE(channels.by_channel[3].find(R"("causes":[{"reason":"ExitCode","message":"7"}])"),
            std::string::npos);
}

TEST_F(Streams, InputReachesTheCommandAndItsEndToo) {
  Channels channels(api_, "exec?container=main&command=cat&stdin=1&stdout=1",
                    {std::string("\0one ", 5), std::string("\0two", 4), std::string("\xff\0", 2)});
  ASSERT_TRUE(channels.over());
  channels.client->stop();
  EXPECT_EQ(channels.by_channel[1], "one two");
  EXPECT_NE(channels.by_channel[3].find("Success"), std::string::npos);
}

TEST_F(Streams, AnAttachedContainerIsHeardAndItsExitIsThePodsToTell) {
  Channels channels(api_, "attach?container=main&stdin=1&stdout=1",
                    {std::string("\0hi", 3), std::string("\xff\0", 2)});
  ASSERT_TRUE(channels.over());
  channels.client->stop();
  EXPECT_EQ(channels.by_channel[1], "attached\nhi");
  EXPECT_NE(channels.by_channel[3].find("Success"), std::string::npos);
}

TEST_F(Streams, AContainerThatIsNotThereRefusesTheUpgrade) {
  Channels channels(api_, "exec?container=absent&command=true&stdout=1", {});
  ASSERT_TRUE(channels.over());
  EXPECT_EQ(channels.failed, "the server answered 404");
}

TEST_F(Streams, AClientThatLeavesEndsItsCommand) {
  {
    Channels channels(api_, "exec?container=main&command=sleep&command=1000&stdout=1", {});
    ASSERT_TRUE(eventually([&] { return agent_.open() == 1; }));
    std::this_thread::sleep_for(milliseconds(50));
    EXPECT_EQ(api_.streams(), 1);
  }
  EXPECT_TRUE(eventually([&] { return agent_.open() == 0 && api_.streams() == 0; }));
}

TEST_F(Streams, ABadMessageEndsTheCommand) {
  Channels channels(api_, "exec?container=main&command=sleep&command=1000&stdin=1", {"\7what"});
  ASSERT_TRUE(channels.over());
  channels.client->stop();
  EXPECT_NE(channels.by_channel[3].find("nothing is taken on channel 7"), std::string::npos);
}

TEST(FewStreams, OneMoreIsToldToComeAgain) {
  PlayedAgent agent;
  PlayedApi api(agent, false, 1);
  Channels first(api, "exec?container=main&command=sleep&command=1000&stdout=1", {});
  ASSERT_TRUE(eventually([&] { return api.streams() == 1; }));
  wire::HttpClient client(api.at());
  const auto refused = client.call({"GET", "/api/v1/namespaces/default/pods/p/log?container=main"});
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 429);
}

}  // namespace
}  // namespace drover::kube
