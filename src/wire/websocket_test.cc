#include "wire/websocket.h"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "os/temp_folder.h"
#include "wire/http_client.h"
#include "wire/http_server.h"

namespace drover::wire {
namespace {

using std::chrono::milliseconds;

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 6000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

// What one end has seen, from any thread.
class Seen {
 public:
  void add(std::string text) {
    const std::lock_guard lock(mutex_);
    texts_.push_back(std::move(text));
  }
  [[nodiscard]] std::size_t count(const std::string& text) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count(texts_, text));
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return texts_.size();
  }
  [[nodiscard]] std::string at(std::size_t i) const {
    const std::lock_guard lock(mutex_);
    return texts_.at(i);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

WsHandlers recording(Seen& seen) {
  return {[&](const WsSessionPtr&) { seen.add("open"); },
          [&](const WsSessionPtr&, std::string& message) {
            seen.add(message);
            return true;
          },
          [&](const WsSessionPtr&, const std::string&) { seen.add("close"); }};
}

std::unique_ptr<Server> serve(const Endpoint& at, const WsHandlers& handlers, WsLimits limits = {}) {
  ServerOptions options;
  options.at = at;
  options.websocket = limits;
  auto server =
      Server::start(options, [handlers](Request&&, const Responder& responder) { responder.upgrade(handlers); });
  EXPECT_TRUE(server.has_value()) << server.error().message;
  return std::move(server).value();
}

WsHandlers echoing() {
  return {[](const WsSessionPtr&) {},
          [](const WsSessionPtr& session, std::string& message) {
            session->send(bytes(std::move(message)));
            return true;
          },
          [](const WsSessionPtr&, const std::string&) {}};
}

WsClientOptions to(const Endpoint& at) {
  WsClientOptions options;
  options.to = at;
  options.target = "/session";
  options.retry_min = milliseconds(10);
  options.retry_max = milliseconds(50);
  options.seed = 7;
  return options;
}

TEST(WebSocket, MessagesOfManySizesComeBackInOrder) {
  TempFolder folder;
  const Endpoint at = Endpoint::unix_socket(folder.path("s"));
  const auto server = serve(at, echoing());
  const std::vector<std::size_t> sizes = {0, 1, 125, 126, 65'535, 65'536, 5U << 20U, 16U << 20U};
  std::vector<std::string> got;
  std::atomic<std::size_t> count{0};
  WsClient client(to(at), {[&](const WsSessionPtr& session) {
                             for (const std::size_t size : sizes) {
                               EXPECT_EQ(session->send(bytes(std::string(size, 'm'))), WsSession::Sent::queued);
                             }
                           },
                           [&](const WsSessionPtr&, std::string& message) {
                             got.push_back(std::move(message));
                             ++count;
                             return true;
                           },
                           [](const WsSessionPtr&, const std::string&) {}});
  ASSERT_TRUE(eventually([&] { return count == sizes.size(); }));
  client.stop();
  for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(got[i], std::string(sizes[i], 'm'));
}

TEST(WebSocket, TheServerKnowsThePeerAndBothEndsHearTheClose) {
  TempFolder folder;
  const Endpoint at = Endpoint::unix_socket(folder.path("s"));
  Seen server_saw;
  Seen client_saw;
  std::atomic<std::uint32_t> uid{99};
  WsHandlers handlers = recording(server_saw);
  handlers.on_open = [&](const WsSessionPtr& session) {
    uid = session->peer().local.value_or(Peer::Local{98, 98, 98}).uid;
    session->send(bytes("last words"));
    session->close();
    EXPECT_EQ(session->send(bytes("too late")), WsSession::Sent::closed);
  };
  const auto server = serve(at, handlers);
  WsClientOptions options = to(at);
  options.retry_min = options.retry_max = milliseconds(60'000);
  WsClient client(options, recording(client_saw));
  EXPECT_TRUE(eventually([&] { return server_saw.count("close") == 1 && client_saw.count("close") == 1; }));
  EXPECT_EQ(client_saw.count("last words"), 1U);
  EXPECT_EQ(uid, ::getuid());
  EXPECT_TRUE(eventually([&] { return server->connections() == 0; }));
}

TEST(WebSocket, TheClientComesBackAfterTheServerRestarts) {
  TempFolder folder;
  const Endpoint at = Endpoint::unix_socket(folder.path("s"));
  Seen seen;
  WsClient client(to(at), recording(seen));
  for (std::size_t life = 1; life <= 3; ++life) {
    const auto server = serve(at, echoing());
    ASSERT_TRUE(eventually([&] { return seen.count("open") == life; }));
    server->stop();
    ASSERT_TRUE(eventually([&] { return seen.count("close") == life; }));
  }
}

TEST(WebSocket, PausesDoubleUpToTheLimitAndDependOnTheSeed) {
  TempFolder folder;
  const auto pauses = [&](std::uint64_t seed) {
    Seen seen;
    WsClientOptions options = to(Endpoint::unix_socket(folder.path("nobody")));
    options.seed = seed;
    options.retry_min = milliseconds(4);
    options.retry_max = milliseconds(30);
    options.on_retry = [&](const std::string&, milliseconds pause) { seen.add(std::to_string(pause.count())); };
    WsClient client(options, recording(seen));
    EXPECT_TRUE(eventually([&] { return seen.size() >= 6; }));
    client.stop();
    std::vector<int> result;
    for (std::size_t i = 0; i < 6; ++i) result.push_back(std::stoi(seen.at(i)));
    return result;
  };
  const std::vector<int> first = pauses(1);
  const std::vector<int> longest = {4, 8, 16, 30, 30, 30};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_LE(first[i], longest[i]);
    EXPECT_GE(first[i], longest[i] / 2);
  }
  EXPECT_EQ(first, pauses(1));
  EXPECT_NE(first, pauses(2));
}

TEST(WebSocket, AMessageThatIsNotTakenComesAgainAndHoldsTheNextOnesBack) {
  TempFolder folder;
  const Endpoint at = Endpoint::unix_socket(folder.path("s"));
  Seen taken;
  std::atomic<int> refusals{3};
  WsHandlers handlers = recording(taken);
  handlers.on_message = [&](const WsSessionPtr&, std::string& message) {
    if (refusals-- > 0) return false;
    taken.add(message);
    return true;
  };
  const auto server = serve(at, handlers);
  WsClient client(to(at), {[](const WsSessionPtr& session) {
                             session->send(bytes("1"));
                             session->send(bytes("2"));
                           },
                           [](const WsSessionPtr&, std::string&) { return true; },
                           [](const WsSessionPtr&, const std::string&) {}});
  ASSERT_TRUE(eventually([&] { return taken.count("2") == 1; }));
  EXPECT_EQ(taken.at(1), "1");
  EXPECT_EQ(taken.at(2), "2");
}

TEST(WebSocket, AQueueThatIsFullSaysSo) {
  TempFolder folder;
  const Endpoint at = Endpoint::unix_socket(folder.path("s"));
  std::atomic<bool> full{false};
  WsLimits limits;
  limits.max_queue = 1000;
  WsHandlers handlers = echoing();
  handlers.on_open = [&](const WsSessionPtr& session) {
    EXPECT_EQ(session->send(bytes(std::string(900, 'x'))), WsSession::Sent::queued);
    full = session->send(bytes(std::string(900, 'x'))) == WsSession::Sent::full;
  };
  const auto server = serve(at, handlers, limits);
  Seen seen;
  WsClient client(to(at), recording(seen));
  EXPECT_TRUE(eventually([&] { return full.load(); }));
}

TEST(WebSocket, AMessageBeyondTheLimitEndsTheSession) {
  TempFolder folder;
  const Endpoint at = Endpoint::unix_socket(folder.path("s"));
  WsLimits limits;
  limits.max_message = 1000;
  Seen server_saw;
  const auto server = serve(at, recording(server_saw), limits);
  WsClient client(to(at), {[](const WsSessionPtr& session) { session->send(bytes(std::string(1001, 'x'))); },
                           [](const WsSessionPtr&, std::string&) { return true; },
                           [](const WsSessionPtr&, const std::string&) {}});
  EXPECT_TRUE(eventually([&] { return server_saw.count("close") >= 1; }));
  EXPECT_EQ(server_saw.count(std::string(1001, 'x')), 0U);
}

TEST(WebSocket, ASilentPeerIsFoundDeadAndALivingOneIsNot) {
  TempFolder folder;
  const Endpoint at = Endpoint::unix_socket(folder.path("s"));
  WsLimits limits;
  limits.ping_every = milliseconds(100);
  limits.dead_after = milliseconds(300);
  Seen server_saw;
  const auto server = serve(at, recording(server_saw), limits);
  {
    Seen client_saw;
    WsClient client(to(at), recording(client_saw));  // answers pings
    ASSERT_TRUE(eventually([&] { return server_saw.count("open") == 1; }));
    std::this_thread::sleep_for(milliseconds(700));
    EXPECT_EQ(server_saw.count("close"), 0U);
  }
  EXPECT_TRUE(eventually([&] { return server_saw.count("close") == 1; }));

  const Result<Fd> mute = connect_to(at, milliseconds(1000));  // speaks once, then never again
  const std::string_view hello =
      "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  ASSERT_EQ(::send(mute->get(), hello.data(), hello.size(), 0), static_cast<ssize_t>(hello.size()));
  ASSERT_TRUE(eventually([&] { return server_saw.count("open") == 2; }));
  EXPECT_TRUE(eventually([&] { return server_saw.count("close") == 2; }));
}

TEST(WebSocket, APlainRequestToASessionAddressIsToldToUpgrade) {
  TempFolder folder;
  const Endpoint at = Endpoint::unix_socket(folder.path("s"));
  Seen seen;
  const auto server = serve(at, recording(seen));
  HttpClient client(at);
  EXPECT_EQ(client.call({"GET", "/session"}).value().status, 426);
}

TEST(WebSocket, ARefusedUpgradeIsRetriedWithTheStatusSaid) {
  TempFolder folder;
  ServerOptions options;
  options.at = Endpoint::unix_socket(folder.path("s"));
  const auto server = Server::start(
      options, [](Request&&, const Responder& responder) { responder.answer(text_answer(403, "no")); });
  ASSERT_TRUE(server.has_value());
  Seen seen;
  WsClientOptions client_options = to(options.at);
  client_options.on_retry = [&](const std::string& why, milliseconds) { seen.add(why); };
  WsClient client(client_options, recording(seen));
  EXPECT_TRUE(eventually([&] { return seen.count("the server answered 403") >= 2; }));
}

TEST(WebSocket, AnUpgradeMayBeGrantedLaterFromAnotherThread) {
  TempFolder folder;
  ServerOptions options;
  options.at = Endpoint::unix_socket(folder.path("s"));
  Seen seen;
  std::thread later;
  const auto server = Server::start(options, [&](Request&&, const Responder& responder) {
    later = std::thread([responder, handlers = recording(seen)] {
      std::this_thread::sleep_for(milliseconds(30));
      responder.upgrade(handlers);
    });
  });
  ASSERT_TRUE(server.has_value());
  WsClient client(to(options.at), {[](const WsSessionPtr& session) { session->send(bytes("hello")); },
                                   [](const WsSessionPtr&, std::string&) { return true; },
                                   [](const WsSessionPtr&, const std::string&) {}});
  EXPECT_TRUE(eventually([&] { return seen.count("hello") == 1; }));
  later.join();
}

TEST(WebSocket, TheAnswerNamesTheProtocolAgreedOnAndTextIsTakenWhereItMayBe) {
  TempFolder folder;
  ServerOptions options;
  options.at = Endpoint::unix_socket(folder.path("s"));
  Seen seen;
  const auto server = Server::start(options, [&](Request&&, const Responder& responder) {
    responder.upgrade(recording(seen), {.protocol = "v4.channel.k8s.io", .text = true, .limits = std::nullopt});
  });
  ASSERT_TRUE(server.has_value());
  const Result<Fd> client = connect_to(options.at, milliseconds(1000));
  const std::string_view hello =
      "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  ASSERT_EQ(::send(client->get(), hello.data(), hello.size(), 0), static_cast<ssize_t>(hello.size()));
  ASSERT_TRUE(eventually([&] { return seen.count("open") == 1; }));
  char answer[1024];
  const ssize_t n = ::recv(client->get(), answer, sizeof answer, 0);
  ASSERT_GT(n, 0);
  EXPECT_NE(std::string(answer, static_cast<std::size_t>(n)).find("Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n"),
            std::string::npos);
  const std::string text("\x81\x82\0\0\0\0hi", 8);
  ASSERT_EQ(::send(client->get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  EXPECT_TRUE(eventually([&] { return seen.count("hi") == 1; }));
}

TEST(WebSocket, AReceiverThatSaysWhenItCanGoOnWaitsForNoPoll) {
  TempFolder folder;
  const Endpoint at = Endpoint::unix_socket(folder.path("s"));
  Seen seen;
  WsHandlers handlers = recording(seen);
  std::atomic<int> taken{0};
  handlers.on_message = [&, refused = false](const WsSessionPtr& session, std::string&) mutable {
    refused = !refused;
    if (refused) std::thread([session] { session->resume(); }).detach();
    else ++taken;
    return !refused;
  };
  const auto server = serve(at, handlers);
  const auto begin = std::chrono::steady_clock::now();
  WsClient client(to(at), {[](const WsSessionPtr& session) {
                             for (int i = 0; i < 200; ++i) session->send(bytes("x"));
                           },
                           [](const WsSessionPtr&, std::string&) { return true; },
                           [](const WsSessionPtr&, const std::string&) {}});
  ASSERT_TRUE(eventually([&] { return taken == 200; }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2000));  // 200 polls take 4 s
}

TEST(WebSocket, ASenderIsToldWhenLittleWaitsAgain) {
  TempFolder folder;
  const Endpoint at = Endpoint::unix_socket(folder.path("s"));
  ServerOptions options;
  options.at = at;
  std::atomic<int> drained{0};
  std::size_t left = 100;
  const auto fill = [&](const WsSessionPtr& session) {
    while (left > 0 && session->waiting() < 300'000) {
      session->send(bytes(std::string(100'000, 'x')));
      --left;
    }
  };
  WsHandlers handlers = echoing();
  handlers.on_open = fill;
  handlers.on_drained = [&](const WsSessionPtr& session) {
    ++drained;
    fill(session);
  };
  const auto server = Server::start(options, [&](Request&&, const Responder& responder) {
    responder.upgrade(handlers, {.low = 150'000, .limits = std::nullopt});
  });
  ASSERT_TRUE(server.has_value());
  std::atomic<int> got{0};
  WsClient client(to(at), {[](const WsSessionPtr&) {},
                           [&](const WsSessionPtr&, std::string&) {
                             ++got;
                             return true;
                           },
                           [](const WsSessionPtr&, const std::string&) {}});
  EXPECT_TRUE(eventually([&] { return got == 100; }));
  EXPECT_GT(drained, 10);
}

}  // namespace
}  // namespace drover::wire
