// Ten thousand agents that come back after the controller was killed: droverd as it is, started again on its store.
// The agents are played, each over mutual TLS with a certificate of its own, as those of other machines are.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>

#include "base/proto.h"
#include "base/random.h"
#include "bench/bench.h"
#include "domain/session.h"
#include "os/clock.h"
#include "os/file.h"
#include "tls/transport.h"
#include "wire/http_server.h"
#include "wire/shard.h"
#include "wire/websocket.h"

extern char** environ;

namespace drover::bench {
namespace {

constexpr int kThreads = 2;  // of all played agents together
constexpr std::size_t kBareShare = 4;
constexpr double kPatience = 60;
constexpr std::int64_t kFirstPauseMs = 100;  // as an agent pauses between its tries
constexpr std::int64_t kLongestPauseMs = 5'000;

template <class T>
T must(Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

// One agent's end of its session, with the pauses of wire::WsClient but without a thread of its own.
class Played : public std::enable_shared_from_this<Played> {
 public:
  Played(std::shared_ptr<wire::Shard> shard, std::shared_ptr<tls::Context> context, std::string name, std::uint64_t seed,
         std::atomic<int>& welcomed)
      : shard_(std::move(shard)), context_(std::move(context)), name_(std::move(name)), timer_(shard_->context()),
        random_(seed), welcomed_(welcomed) {}

  void start(const wire::Endpoint& to) {
    shard_->post_later([self = shared_from_this(), to] {
      self->to_ = to;
      self->connect();
    });
  }
  void stop() {
    shard_->post_later([self = shared_from_this()] {
      ++self->life_;
      self->timer_.cancel();
      if (self->session_) self->session_->close();
      self->cluster_.clear();
      self->epoch_ = {};
      self->head_ = {};
      self->tries_ = 0;
    });
  }

 private:
  void connect() {
    auto socket = wire::connect_to(to_, std::chrono::seconds(2));
    if (!socket) return again();
    wire::WsHandlers handlers;
    handlers.on_open = [self = shared_from_this()](const wire::WsSessionPtr& session) { self->greet(session); };
    handlers.on_message = [self = shared_from_this()](const wire::WsSessionPtr&, std::string& bytes) {
      self->hear(bytes);
      return true;
    };
    handlers.on_close = [self = shared_from_this()](const wire::WsSessionPtr&, const std::string&) {
      self->session_.reset();
    };
    tls::client_websocket(context_, tls::expect_controller())(
        shard_, std::move(*socket), {.host = to_.text(), .target = "/v1/agent", .headers = {}}, {}, std::move(handlers),
        [self = shared_from_this(), life = life_](const std::string&) {
          if (life == self->life_) self->again();
        });
  }
  void again() {
    const auto longest = std::min(kFirstPauseMs << std::min(tries_++, 20), kLongestPauseMs);
    timer_.expires_after(std::chrono::milliseconds(random_.between(longest / 2, longest)));
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->connect();
    });
  }
  void greet(const wire::WsSessionPtr& session) {
    session_ = session;
    NodeInventory inventory{.name = name_, .boot_id = "played", .cpus = 64, .cores_per_socket = 64,
                            .memory = gibibytes(512), .stream_address = ":7412"};
    session->send(wire::bytes(encode(FromAgent{Hello{
        .cluster_id = cluster_, .epoch = epoch_, .head = head_, .inventory = std::move(inventory), .held = {}}})));
  }
  void hear(const std::string& bytes) {
    const auto message = decode<ToAgent>(bytes);
    if (!message) return;
    tries_ = 0;
    if (const auto* welcome = std::get_if<Welcome>(&*message)) {
      cluster_ = welcome->cluster_id;
      epoch_ = welcome->epoch;
    } else if (const auto* wanted = std::get_if<Wanted>(&*message); wanted != nullptr) {
      head_ = wanted->head;
      if (wanted->full) ++welcomed_;
    } else if (const auto* refuse = std::get_if<Refuse>(&*message)) {
      std::fprintf(stderr, "%s\n", refuse->reason.c_str());
    }
  }

  const std::shared_ptr<wire::Shard> shard_;
  const std::shared_ptr<tls::Context> context_;
  const std::string name_;
  wire::Endpoint to_;
  boost::asio::steady_timer timer_;
  Random random_;
  std::atomic<int>& welcomed_;
  wire::WsSessionPtr session_;
  std::string cluster_;
  Epoch epoch_;
  HeadSeen head_;
  int tries_ = 0;
  int life_ = 0;  // what belongs to an earlier one is over
};

// All of them, on a few threads.
class Fleet {
 public:
  Fleet(const tls::KeyAndCertificate& authority, const std::string& cluster, int size)
      : agents_(static_cast<std::size_t>(size)) {
    for (int i = 0; i < kThreads; ++i) shards_.push_back(std::make_shared<wire::Shard>());
    std::vector<std::thread> makers;
    for (std::size_t i = 0; i < shards_.size(); ++i) makers.emplace_back([&, i] { make(authority, cluster, i); });
    for (std::thread& maker : makers) maker.join();
    for (const auto& shard : shards_) shard->start();
  }
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  ~Fleet() {
    hang_up();
    for (const auto& shard : shards_) shard->stop();
  }
  // The first `count` of them.
  void start(const wire::Endpoint& to, std::size_t count) {
    started_ = count;
    for (std::size_t i = 0; i < count; ++i) agents_[i]->start(to);
  }
  void hang_up() {
    for (const auto& agent : agents_) agent->stop();
    ::usleep(1'000'000);  // farewells
    welcomed_ = 0;
  }
  void forget() { welcomed_ = 0; }
  [[nodiscard]] std::size_t size() const { return agents_.size(); }
  // Seconds until all that were started have their wanted set; 0: they don't get it.
  double wait_for_all(double begin) const {
    while (welcomed_ < static_cast<int>(started_)) {
      if (now_seconds() - begin > kPatience) {
        std::fprintf(stderr, "only %d of %zu agents came back\n", welcomed_.load(), started_);
        return 0;
      }
      ::usleep(2'000);
    }
    return now_seconds() - begin;
  }

 private:
  void make(const tls::KeyAndCertificate& authority, const std::string& cluster, std::size_t first) {
    const std::string key = must(tls::make_key());
    const std::string request = must(tls::make_request(key));
    const tls::Validity validity{wall_now() - minutes(5), wall_now() + minutes(60)};
    for (std::size_t i = first; i < agents_.size(); i += shards_.size()) {
      const tls::Identity who{.kind = tls::Identity::Kind::node, .cluster = cluster, .name = fmt::format("p{}", i)};
      const tls::Credentials own{.authority = authority.certificate,
                                 .certificate = must(tls::sign_request(authority, request, who, {}, validity)),
                                 .key = key};
      auto context = must(tls::Context::make(tls::Context::Side::client, own, {.cluster = cluster}));
      agents_[i] = std::make_shared<Played>(shards_[first], std::move(context), who.name, i, welcomed_);
    }
  }

  std::vector<std::shared_ptr<wire::Shard>> shards_;
  std::atomic<int> welcomed_ = 0;
  std::size_t started_ = 0;
  std::vector<std::shared_ptr<Played>> agents_;
};

class Controller {
 public:
  Controller(const std::string& programs, std::string folder, std::uint16_t port)
      : program_(programs + "/droverd"), folder_(std::move(folder)), listen_(fmt::format("127.0.0.1:{}", port)) {
    std::ofstream(folder_ + "/cluster.yaml") << "cluster: bench\nnodes:\n  - {name: other, cpus: 1, memory: 1GB, gpus: []}\n"
                                                "partitions:\n  - {name: main, default: true, nodes: all}\n";
  }
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  ~Controller() { kill(); }
  void start() {
    std::vector<std::string> words{program_, "--state", folder_, "--cluster", folder_ + "/cluster.yaml",
                                   "--listen", listen_, "--kubernetes", "off"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (folder_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0600);
    if (::posix_spawn(&pid_, program_.c_str(), &actions, nullptr, argv.data(), environ) != 0) pid_ = 0;
    ::posix_spawn_file_actions_destroy(&actions);
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  // The authority that it has made for its cluster.
  [[nodiscard]] tls::KeyAndCertificate authority() const {
    const std::string file = folder_ + "/identity/authority";
    for (int i = 0; i < 500 && !file_exists(file); ++i) ::usleep(10'000);
    const std::string text = must(read_file(file));
    const std::size_t cut = text.find("-----BEGIN CERTIFICATE-----");
    return {.key = text.substr(0, cut), .certificate = text.substr(cut)};
  }

 private:
  const std::string program_;
  const std::string folder_;
  const std::string listen_;
  pid_t pid_ = 0;
};

std::uint16_t free_port() { return wire::local_port(must(wire::listen_on(wire::Endpoint::tcp("127.0.0.1", 0), 0)).get()); }

// Some of these agents against a server that does nothing but answer each of them: what TLS and sockets alone take here,
// in seconds for all.
double bare_seconds(Fleet& fleet, const tls::KeyAndCertificate& authority, const std::string& cluster) {
  const std::string key = must(tls::make_key());
  const tls::Identity who{.kind = tls::Identity::Kind::controller, .cluster = cluster, .name = {}};
  const tls::Validity validity{wall_now() - minutes(5), wall_now() + minutes(60)};
  const std::string certificate = must(tls::sign_request(authority, must(tls::make_request(key)), who, {"127.0.0.1"}, validity));
  const auto context = must(tls::Context::make(
      tls::Context::Side::server, {.authority = authority.certificate, .certificate = certificate, .key = key},
      {.cluster = cluster}));
  wire::ServerOptions options{.at = wire::Endpoint::tcp("127.0.0.1", 0), .threads = 2, .max_connections = 1U << 16U};
  options.transport = tls::server_transport(context, [](const std::string&) {});
  const auto server = must(wire::Server::start(options, [](wire::Request&&, const wire::Responder& responder) {
    responder.upgrade({.on_open = [](const wire::WsSessionPtr&) {},
                       .on_message = [](const wire::WsSessionPtr& session, std::string&) {
                         session->send(wire::bytes(encode(ToAgent{Wanted{.full = true}})));
                         return true;
                       },
                       .on_close = [](const wire::WsSessionPtr&, const std::string&) {}});
  }));
  const double begin = now_seconds();
  const std::size_t some = fleet.size() / kBareShare;
  fleet.start(wire::Endpoint::tcp("127.0.0.1", server->port()), some);
  const double took = fleet.wait_for_all(begin);
  fleet.hang_up();
  return took * static_cast<double>(fleet.size()) / static_cast<double>(some);
}

}  // namespace

void bench_reconnect(const Options& options, Rows& rows) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const int size = std::max(16, static_cast<int>(10'000 * options.scale));
  const std::string folder = options.folder + "/reconnect";
  ::mkdir(folder.c_str(), 0700);
  const std::uint16_t port = free_port();
  Controller controller(options.programs, folder, port);
  controller.start();
  const auto authority = controller.authority();
  const std::string cluster = must(tls::read_certificate(authority.certificate)).identity.cluster;
  Fleet fleet(authority, cluster, size);
  const double bare = bare_seconds(fleet, authority, cluster);
  const double first = now_seconds();
  fleet.start(wire::Endpoint::tcp("127.0.0.1", port), fleet.size());
  if (fleet.wait_for_all(first) == 0) return;
  controller.kill();
  fleet.forget();
  const double begin = now_seconds();
  controller.start();
  const double took = fleet.wait_for_all(begin);
  rows.push_back({.id = "sessions.bare", .value = bare, .unit = "s", .calibration = "", .ratio = 0, .goal = ""});
  rows.push_back({.id = "sessions.reconnect", .value = took, .unit = "s", .calibration = "sessions.bare",
                  .ratio = bare > 0 ? took / bare : 0, .goal = "<= 10, 10,000 agents"});
}

}  // namespace drover::bench
