// Server and client against each other, and the server against callers that misbehave.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "os/temp_folder.h"
#include "wire/http_client.h"
#include "wire/http_server.h"

namespace drover::wire {
namespace {

using std::chrono::milliseconds;

// Echoes method, target and body; other targets do what their name says.
void echo(Request&& request, const Responder& responder) {
  responder.answer({200, "text/plain", bytes(request.method + " " + request.target + "\n" + request.body), {}});
}

struct Served {
  explicit Served(ServerOptions options = {}, Handler handler = echo) {
    if (options.at.path.empty() && options.at.host.empty()) options.at = Endpoint::unix_socket(folder.path("s"));
    at = options.at;
    auto started = Server::start(options, std::move(handler));
    EXPECT_TRUE(started.has_value()) << started.error().message;
    server = std::move(started).value();
    if (at.path.empty()) at.port = server->port();
  }
  [[nodiscard]] HttpClient client() const { return HttpClient(at); }

  TempFolder folder;
  Endpoint at;
  std::unique_ptr<Server> server;
};

// Sends raw bytes and returns all that comes back until the end, or until `limit` is over.
std::string raw(const Endpoint& at, std::string_view sent, milliseconds limit = milliseconds(5000)) {
  Result<Fd> fd = connect_to(at, milliseconds(1000));
  if (!fd) return "no connection: " + fd.error().message;
  ::send(fd->get(), sent.data(), sent.size(), MSG_NOSIGNAL);
  std::string all;
  char part[4096];
  for (;;) {
    pollfd p{fd->get(), POLLIN, 0};
    if (::poll(&p, 1, static_cast<int>(limit.count())) <= 0) return all + "<open>";
    const ssize_t n = ::recv(fd->get(), part, sizeof part, 0);
    if (n <= 0) return all;
    all.append(part, static_cast<std::size_t>(n));
  }
}

std::string status_line(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 3000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST(Http, ARequestComesBackOverAUnixSocketWithTheCallersIdentity) {
  Peer seen;
  Served served({}, [&](Request&& request, Responder responder) {
    seen = request.peer;
    responder.answer(text_answer(201, request.target + " " + std::string(request.header("x-one")) + request.body));
  });
  HttpClient client = served.client();
  const auto response = client.call({"POST", "/a?b=c", {{"X-One", "1"}}, "text/plain", "body"});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "/a?b=c 1body");
  ASSERT_TRUE(seen.local.has_value());
  EXPECT_EQ(seen.local->uid, ::getuid());
  EXPECT_EQ(seen.local->pid, ::getpid());
}

TEST(Http, ARequestComesBackOverTcp) {
  ServerOptions options;
  options.at = Endpoint::tcp("127.0.0.1", 0);
  Served served(options);
  HttpClient client = served.client();
  for (int i = 0; i < 3; ++i) {
    const auto response = client.call({"GET", "/x"});
    ASSERT_TRUE(response.has_value()) << response.error().message;
    EXPECT_EQ(response->body, "GET /x\n");
  }
  EXPECT_EQ(served.server->connections(), 1U) << "the connection is kept";
}

TEST(Http, ALongSocketPathWorks) {
  TempFolder folder;
  std::string deep = folder.path();
  for (int i = 0; i < 6; ++i) {
    deep += "/" + std::string(40, 'd');
    ASSERT_EQ(::mkdir(deep.c_str(), 0700), 0);
  }
  ServerOptions options;
  options.at = Endpoint::unix_socket(deep + "/droverd.sock");
  Served served(options);
  HttpClient client = served.client();
  EXPECT_EQ(client.call({"GET", "/"}).value().status, 200);
}

TEST(Http, LargeBodiesGoBothWays) {
  Served served;
  HttpClient client = served.client();
  std::string body(5U << 20U, 'x');
  for (std::size_t i = 0; i < body.size(); i += 7) body[i] = static_cast<char>('a' + i % 26);
  const auto response = client.call({"PUT", "/big", {}, "application/octet-stream", body});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "PUT /big\n" + body);
}

TEST(Http, PipelinedAndChunkedRequestsAreAnsweredInOrder) {
  Served served;
  const std::string answers = raw(served.at,
                                  "POST /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
                                  "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n"
                                  "GET /3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const auto first = answers.find("POST /1\nabcde");
  const auto second = answers.find("GET /2");
  const auto third = answers.find("GET /3");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
}

TEST(Http, ManyConnectionsAtOnceAreAllServed) {
  ServerOptions options;
  options.threads = 2;
  Served served(options);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      HttpClient client = served.client();
      for (int i = 0; i < 50; ++i) {
        const std::string body = std::to_string(t * 1000 + i);
        const auto response = client.call({"POST", "/", {}, "text/plain", body});
        if (response && response->body == "POST /\n" + body) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 16 * 50);
}

TEST(Http, AnswersMayComeLaterFromAnotherThreadAndOnlyTheFirstCounts) {
  std::vector<std::thread> threads;
  Served served({}, [&](Request&&, const Responder& responder) {
    threads.emplace_back([responder] {
      std::this_thread::sleep_for(milliseconds(20));
      EXPECT_TRUE(responder.answer(text_answer(200, "first")));
      EXPECT_FALSE(responder.answer(text_answer(200, "second")));
    });
  });
  HttpClient client = served.client();
  EXPECT_EQ(client.call({"GET", "/"}).value().body, "first");
  EXPECT_EQ(client.call({"GET", "/"}).value().body, "first");
  for (auto& thread : threads) thread.join();
}

TEST(Http, ADroppedRequestIsAnInternalError) {
  Served served({}, [](Request&&, const Responder&) {});
  HttpClient client = served.client();
  EXPECT_EQ(client.call({"GET", "/"}).value().status, 500);
}

TEST(Http, AHeadRequestGetsTheHeadAlone) {
  Served served;
  HttpClient client = served.client();
  const auto response = client.call({"HEAD", "/"});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "");
  EXPECT_EQ(response->header("content-length"), "7");
  EXPECT_EQ(client.call({"GET", "/"}).value().body, "GET /\n") << "the connection is still in step";
}

TEST(Http, MalformedRequestsAreRefusedAndHarmNobody) {
  Served served;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\x16\x03\x01 this is TLS\r\n\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/1.1\r\nbad header\r\n\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/2.0\r\n\r\n", "HTTP/1.1 505"},
      {"GET /\r\n\r\n", "HTTP/1.1 400"},
      {"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "HTTP/1.1 400"},
      {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 400"},
      {"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", "HTTP/1.1 400"},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 400"},
      {std::string("GET /\0x HTTP/1.1\r\n\r\n", 20), "HTTP/1.1 400"},
  };
  for (const auto& [sent, wanted] : cases) {
    EXPECT_EQ(status_line(raw(served.at, sent)).substr(0, wanted.size()), wanted) << sent;
  }
  HttpClient client = served.client();
  EXPECT_EQ(client.call({"GET", "/"}).value().status, 200);
  EXPECT_TRUE(eventually([&] { return served.server->connections() == 1; }));
}

TEST(Http, AnyDamageToARequestLeavesTheServerServing) {
  ServerOptions options;
  options.header_timeout = options.body_timeout = options.idle_timeout = milliseconds(100);
  options.threads = 2;
  Served served(options);
  const std::string whole =
      "POST /a%20b?c=d HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nabcde"
      "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\nUpgrade: websocket\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\n";
  Random random(11);
  std::vector<Fd> open;  // some callers stay and say no more
  for (int i = 0; i < 2000; ++i) {
    std::string text = whole;
    for (auto n = 1 + random.below(4); n > 0; --n) {
      constexpr std::string_view kBytes = "\r\n :;/0f\0\xff";
      text[random.below(text.size())] = kBytes[random.below(kBytes.size())];
    }
    if (random.chance(1, 2)) text.resize(random.below(text.size()));
    Result<Fd> fd = connect_to(served.at, milliseconds(1000));
    ASSERT_TRUE(fd.has_value()) << fd.error().message;
    ::send(fd->get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (random.chance(1, 20)) open.push_back(std::move(*fd));
  }
  HttpClient client = served.client();
  EXPECT_EQ(client.call({"GET", "/"}).value().status, 200);
  client.disconnect();
  EXPECT_TRUE(eventually([&] { return served.server->connections() == 0; }));
}

TEST(Http, HeadersAndBodiesHaveLimits) {
  ServerOptions options;
  options.max_header = 2000;
  options.max_body = 1000;
  Served served(options);
  HttpClient client = served.client();
  EXPECT_EQ(client.call({"GET", "/", {{"X", std::string(3000, 'x')}}}).value().status, 431);
  EXPECT_EQ(client.call({"POST", "/", {}, "text/plain", std::string(1000, 'x')}).value().status, 200);
  EXPECT_EQ(client.call({"POST", "/", {}, "text/plain", std::string(1001, 'x')}).value().status, 413);
  // Far more than the socket takes: the answer still arrives.
  EXPECT_EQ(client.call({"POST", "/", {}, "text/plain", std::string(4U << 20U, 'x')}).value().status, 413);
  const std::string chunks = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3ff\r\n" + std::string(1023, 'x');
  EXPECT_EQ(status_line(raw(served.at, chunks)), "HTTP/1.1 413 Payload Too Large");
}

TEST(Http, AllBodiesTogetherHaveABudget) {
  std::mutex mutex;
  std::vector<Responder> held;
  ServerOptions options;
  options.max_bodies = 1500;
  Served served(options, [&](Request&& request, const Responder& responder) {
    if (request.target == "/hold") {
      const std::lock_guard lock(mutex);
      held.push_back(responder);
    } else {
      echo(std::move(request), responder);
    }
  });
  std::thread holder([&] {
    HttpClient client = served.client();
    EXPECT_EQ(client.call({"POST", "/hold", {}, "text/plain", std::string(1000, 'x')}).value().status, 200);
  });
  ASSERT_TRUE(eventually([&] { const std::lock_guard lock(mutex); return held.size() == 1; }));
  HttpClient client = served.client();
  const auto refused = client.call({"POST", "/", {}, "text/plain", std::string(1000, 'x')});
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->header("retry-after"), "1");
  EXPECT_EQ(client.call({"GET", "/"}).value().status, 200) << "small requests go on";
  held.front().answer(text_answer(200, ""));
  holder.join();
  EXPECT_EQ(client.call({"POST", "/", {}, "text/plain", std::string(1000, 'x')}).value().status, 200);
}

TEST(Http, ConnectionsBeyondTheLimitAreToldToComeBack) {
  ServerOptions options;
  options.max_connections = 2;
  Served served(options);
  HttpClient one = served.client();
  HttpClient two = served.client();
  HttpClient three = served.client();
  EXPECT_EQ(one.call({"GET", "/"}).value().status, 200);
  EXPECT_EQ(two.call({"GET", "/"}).value().status, 200);
  const auto refused = three.call({"GET", "/"});
  ASSERT_TRUE(refused.has_value()) << refused.error().message;
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->header("Retry-After"), "1");
  one.disconnect();
  EXPECT_TRUE(eventually([&] { return three.call({"GET", "/"}).value().status == 200; }));
}

TEST(Http, SlowRequestsRunOutOfTime) {
  ServerOptions options;
  options.header_timeout = milliseconds(150);
  options.body_timeout = milliseconds(150);
  options.idle_timeout = milliseconds(150);
  Served served(options);
  EXPECT_EQ(status_line(raw(served.at, "GET / HTTP/1.1\r\nHost:")), "HTTP/1.1 408 Request Timeout");
  EXPECT_EQ(status_line(raw(served.at, "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc")),
            "HTTP/1.1 408 Request Timeout");
  EXPECT_EQ(raw(served.at, ""), "") << "an idle connection is closed without a word";
}

TEST(Http, ABodyThatWaitsForPermissionGetsIt) {
  Served served;
  const std::string answer =
      raw(served.at, "POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", milliseconds(100));
  EXPECT_EQ(answer, "HTTP/1.1 100 Continue\r\n\r\n<open>");
}

TEST(Http, AnOldClientGetsAnOldAnswer) {
  Served served({}, [](Request&& request, Responder responder) {
    if (request.target == "/") {
      responder.answer(text_answer(200, "x"));
    } else {
      Stream stream = responder.stream(200, "text/plain");
      stream.write(bytes("abc"));
    }
  });
  const std::string answer = raw(served.at, "GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(status_line(answer), "HTTP/1.0 200 OK");
  EXPECT_EQ(answer.substr(answer.size() - 5), "\r\n\r\nx");
  const std::string stream = raw(served.at, "GET /s HTTP/1.0\r\n\r\n");
  EXPECT_EQ(stream.find("chunked"), std::string::npos);
  EXPECT_EQ(stream.substr(stream.size() - 7), "\r\n\r\nabc");
}

TEST(Http, HeadersOfAnAnswerCannotSmuggle) {
  Served served({}, [](Request&&, Responder responder) {
    responder.answer({200, "text/plain\r\nX-Evil: 1", bytes("x"), {{"X-Name", "a\r\nX-Evil: 1"}, {"X-Good", "1"}}});
  });
  HttpClient client = served.client();
  const auto response = client.call({"GET", "/"});
  EXPECT_EQ(response->header("X-Evil"), "");
  EXPECT_EQ(response->header("X-Good"), "1");
}

TEST(Http, AStreamArrivesPieceByPieceAtTheReadersPace) {
  constexpr std::size_t kPieces = 2000;
  Served served({}, [](Request&&, Responder responder) {
    struct Producer : std::enable_shared_from_this<Producer> {
      Stream stream;
      std::size_t next = 0;
      void go() {
        while (next < kPieces && stream.waiting() < 100'000) {
          ++next;
          if (!stream.write(bytes(std::string(10'000, 'x')))) return;
        }
        if (next < kPieces) {
          stream.when_drained(50'000, [self = shared_from_this()] { self->go(); });
        } else {
          stream.finish();
        }
      }
    };
    auto producer = std::make_shared<Producer>();
    producer->stream = responder.stream(200, "application/octet-stream");
    producer->go();
  });
  HttpClient client = served.client();
  std::size_t size = 0;
  const auto response = client.stream({"GET", "/"}, [&](std::string_view piece) {
    size += piece.size();
    return true;
  });
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(size, kPieces * 10'000);
}

TEST(Http, AStreamThatIsAbortedNeverLooksComplete) {
  Served served({}, [](Request&&, const Responder& responder) {
    const Stream stream = responder.stream(200, "text/plain");
    stream.write(bytes("half"));
    stream.abort();
  });
  EXPECT_FALSE(served.client().call({"GET", "/"}).has_value());
}

TEST(Http, AReaderThatDoesNotReadIsCut) {
  std::atomic<bool> cut{false};
  std::atomic<bool> told{false};
  ServerOptions options;
  options.max_stream_queue = 1U << 20U;
  std::thread writer;
  Served served(options, [&](Request&&, Responder responder) {
    Stream stream = responder.stream(200, "text/plain");
    stream.when_gone([&] { told = true; });
    writer = std::thread([&cut, stream] {
      const Bytes piece = bytes(std::string(100'000, 'x'));
      for (int i = 0; i < 1000 && !cut; ++i) {
        cut = !stream.write(piece);
        std::this_thread::sleep_for(milliseconds(1));
      }
    });
  });
  Result<Fd> fd = connect_to(served.at, milliseconds(1000));
  const std::string_view request = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(fd->get(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  EXPECT_TRUE(eventually([&] { return cut && told && served.server->connections() == 0; }));
  writer.join();
}

TEST(Http, AnAnswerThatNobodyTakesIsGivenUp) {
  ServerOptions options;
  options.write_timeout = milliseconds(200);
  Served served(options, [](Request&&, Responder responder) {
    responder.answer(text_answer(200, std::string(8U << 20U, 'x')));
  });
  Result<Fd> fd = connect_to(served.at, milliseconds(1000));
  const std::string_view request = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(fd->get(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  ASSERT_TRUE(eventually([&] { return served.server->connections() == 1; }));
  EXPECT_TRUE(eventually([&] { return served.server->connections() == 0; }));
}

TEST(Http, ACallerWhoHangsUpIsNoticed) {
  std::atomic<bool> gone{false};
  std::mutex mutex;
  std::vector<Responder> held;
  Served served({}, [&](Request&&, Responder responder) {
    responder.when_gone([&] { gone = true; });
    const std::lock_guard lock(mutex);
    held.push_back(std::move(responder));
  });
  {
    Result<Fd> fd = connect_to(served.at, milliseconds(1000));
    const std::string_view request = "GET / HTTP/1.1\r\n\r\n";
    ASSERT_EQ(::send(fd->get(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
    ASSERT_TRUE(eventually([&] { const std::lock_guard lock(mutex); return held.size() == 1; }));
    EXPECT_FALSE(held.front().gone());
  }
  EXPECT_TRUE(eventually([&] { return gone && held.front().gone(); }));
  held.front().answer(text_answer(200, "to nobody"));
  EXPECT_TRUE(eventually([&] { return served.server->connections() == 0; }));
}

TEST(Http, StopUnderLoadEndsInTimeAndAnswersAreWholeOrAbsent) {
  auto served = std::make_unique<Served>([] { ServerOptions o; o.threads = 2; return o; }());
  std::atomic<bool> go{true};
  std::atomic<int> good{0};
  std::atomic<int> bad{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      HttpClient client = served->client();
      while (go) {
        const auto response = client.call({"POST", "/", {}, "text/plain", "abc"});
        if (!response) return;
        if (response->body == "POST /\nabc") ++good; else ++bad;
      }
    });
  }
  ASSERT_TRUE(eventually([&] { return good > 100; }));
  served->server->stop();
  go = false;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(::access(served->at.path.c_str(), F_OK), -1) << "the socket's file is gone";
}

TEST(Http, RespondersAndStreamsMayOutliveTheServer) {
  std::mutex mutex;
  std::vector<Responder> held;
  std::vector<Stream> streams;
  ServerOptions options;
  options.stop_grace = milliseconds(50);
  auto served = std::make_unique<Served>(options, [&](Request&& request, Responder responder) {
    const std::lock_guard lock(mutex);
    if (request.target == "/s") {
      streams.push_back(responder.stream(200, "text/plain"));
    } else {
      held.push_back(std::move(responder));
    }
  });
  std::thread a([&] { EXPECT_FALSE(served->client().call({"GET", "/"}).has_value()); });
  std::thread b([&] { EXPECT_FALSE(served->client().call({"GET", "/s"}).has_value()); });
  ASSERT_TRUE(eventually([&] { const std::lock_guard lock(mutex); return held.size() + streams.size() == 2; }));
  served->server->stop();
  a.join();
  b.join();
  served.reset();
  EXPECT_TRUE(held.front().gone());
  held.front().answer(text_answer(200, "late"));
  EXPECT_FALSE(streams.front().write(bytes("late")));
}

TEST(Http, ASecondServerDoesNotTakeTheFirstOnesSocket) {
  Served served;
  ServerOptions options;
  options.at = served.at;
  const auto second = Server::start(options, echo);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Errc::conflict);
  served.server->stop();
  EXPECT_TRUE(Server::start(options, echo).has_value());
}

TEST(Http, ADeadServersSocketFileIsReplaced) {
  TempFolder folder;
  ServerOptions options;
  options.at = Endpoint::unix_socket(folder.path("s"));
  { const Fd dead = std::move(listen_on(options.at, 0600)).value(); }
  ASSERT_EQ(::access(options.at.path.c_str(), F_OK), 0);
  Served served(options);
  EXPECT_EQ(served.client().call({"GET", "/"}).value().status, 200);
}

TEST(HttpClient, SaysWhenNobodyListens) {
  TempFolder folder;
  HttpClient client(Endpoint::unix_socket(folder.path("nobody")));
  const auto response = client.call({"GET", "/"});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, Errc::unavailable);
  EXPECT_FALSE(client.sent());
}

TEST(HttpClient, GivesUpOnASilentServerAndSaysThatTheRequestWasSent) {
  Served served({}, [](Request&&, const Responder& responder) {
    std::thread([responder] { std::this_thread::sleep_for(milliseconds(400)); }).detach();
  });
  ClientOptions options;
  options.read_timeout = milliseconds(100);
  HttpClient client(served.at, options);
  const auto response = client.call({"GET", "/"});
  ASSERT_FALSE(response.has_value());
  EXPECT_TRUE(client.sent());
  std::this_thread::sleep_for(milliseconds(500));
}

TEST(HttpClient, RefusesToSendWhatWouldBreakTheHead) {
  Served served;
  HttpClient client = served.client();
  EXPECT_FALSE(client.call({"GET", "/a b"}).has_value());
  EXPECT_FALSE(client.call({"GET", "/", {{"X", "1\r\nY: 2"}}}).has_value());
}

TEST(Endpoint, IsReadFromText) {
  EXPECT_EQ(Endpoint::parse("unix:/run/x").value().path, "/run/x");
  EXPECT_EQ(Endpoint::parse("localhost:80").value().port, 80);
  EXPECT_EQ(Endpoint::parse("[::1]:80").value().host, "::1");
  for (const auto* bad : {"", "unix:", "host", "host:", ":80", "host:99999", "::1:80"}) {
    EXPECT_FALSE(Endpoint::parse(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace drover::wire
