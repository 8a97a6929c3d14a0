// Pods through the Kubernetes door: HTTPS with certificates, each stored before it is answered, placed by the
// engine on played nodes, and seen on a watch. Clients, door, core and disk share the machine.
#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "bench/bench.h"
#include "bench/cluster.h"
#include "control/authority.h"
#include "control/driver.h"
#include "control/follower.h"
#include "control/ledger.h"
#include "control/service.h"
#include "kube/rest/server.h"
#include "os/clock.h"
#include "store/history/history.h"
#include "store/sqlite/sqlite_log.h"
#include "tls/channel.h"
#include "tls/transport.h"
#include "wire/http_client.h"
#include "wire/http_server.h"

namespace drover::bench {
namespace {

using namespace control;  // NOLINT(google-build-using-namespace): one file of a benchmark

constexpr int kClients = 8;

template <class T>
T must(Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

class Door final : public Follower::Listener {
 public:
  explicit Door(const std::string& folder)
      : log_(must(store::SqliteLog::open({.folder = folder}))),
        history_(must(store::History::open(folder + "/history.db", log_->cluster()))),
        payloads_(*log_),
        ledger_(*history_, payloads_),
        follower_(Cluster{}, 0, wall_now(), ledger_),
        driver_({.epoch = 1}, engine::Core{}, *log_, ClusterTime(Instant{}, wall_now(), since_boot()),
                [this](Committed group) { follower_.push(std::move(group)); }, give_up),
        service_({.cluster_id = log_->cluster(),
                  .version = "bench",
                  .started = wall_now(),
                  .pulses = [] { return std::map<NodeId, api::NodePulse>{}; },
                  .heard = [](JobId) {}},
                 driver_, follower_, ledger_, payloads_, *log_),
        authority_(must(Authority::open({.folder = folder + "/identity", .cluster = log_->cluster()}))) {
    follower_.start(*this);
    kube_ = std::make_unique<kube::Server>(
        service_, kube::ServerOptions{.identify = [](const wire::Request&) {
                                        return kube::User{.name = "root", .admin = true};
                                      },
                                      .address = [] { return std::string("127.0.0.1:6443"); },
                                      .now = wall_now,
                                      .say = give_up});
    kube_->start();
    const auto own = must(authority_->controller({"127.0.0.1"}));
    const auto context = must(tls::Context::make(tls::Context::Side::server, own, {.cluster = log_->cluster()}));
    wire::ServerOptions options{.at = wire::Endpoint::tcp("127.0.0.1", 0), .max_stream_queue = 512U << 20U};
    options.transport = tls::server_transport(context, [](const std::string&) {});
    server_ = must(wire::Server::start(options, [this](wire::Request&& request, const wire::Responder& responder) {
      kube_->handle(std::move(request), responder);
    }));
    const auto person = must(authority_->user(0, "root"));
    client_ = must(tls::Context::make(tls::Context::Side::client, person, {.cluster = log_->cluster()}));
  }
  ~Door() override {
    kube_->stop();
    server_->stop();
    driver_.stop();
    follower_.stop();
  }

  void add_nodes(std::uint32_t count) {
    push(configure());
    for (std::uint32_t n = 1; n <= count; ++n) push(node(n, 64, 8));
  }
  [[nodiscard]] wire::HttpClient client() const {
    return wire::HttpClient(wire::Endpoint::tcp("127.0.0.1", server_->port()),
                            {.open = tls::client_stream(client_, tls::expect_controller())});
  }

 private:
  void push(Input input) {
    Work work{.input = std::move(input)};
    while (!driver_.push(std::move(work))) std::this_thread::yield();
  }
  void changed(const Cluster&, const Committed&) override {}
  void tick(const Cluster&) override {}

  std::unique_ptr<store::Log> log_;
  std::unique_ptr<store::History> history_;
  Payloads payloads_;
  Ledger ledger_;
  Follower follower_;
  Driver driver_;
  LiveService service_;
  std::unique_ptr<Authority> authority_;
  std::unique_ptr<kube::Server> kube_;
  std::unique_ptr<wire::Server> server_;
  std::shared_ptr<tls::Context> client_;
};

std::string pod(int number) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{}","labels":{{"app":"bench"}}}},"spec":)"
      R"({{"restartPolicy":"Never","containers":[{{"name":"main","image":"local.drover/busybox:1","command":["true"],)"
      R"("resources":{{"requests":{{"cpu":"1","memory":"100Mi"}}}}}}]}}}})",
      number);
}

// Counts pods that have a node, as a watcher learns of it.
void watch(Door& door, std::atomic<std::size_t>& bound, std::size_t all) {
  std::string rest;
  const auto on_piece = [&](std::string_view piece) {
    rest += piece;
    for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
      const std::string_view line(rest.data(), end);
      if (line.find(R"("nodeName")") != std::string_view::npos) ++bound;  // nothing changes a pod after that here
      rest.erase(0, end + 1);
    }
    return bound < all;
  };
  auto client = door.client();
  static_cast<void>(client.stream(
      {.target = "/api/v1/namespaces/default/pods?watch=1&resourceVersion=0&timeoutSeconds=300"}, on_piece));
}

}  // namespace

void bench_kube(const Options& options, const Calibration& calibration, Rows& rows) {
  const std::string folder = options.folder + "/kube";
  ::mkdir(folder.c_str(), 0700);
  ::mkdir((folder + "/identity").c_str(), 0700);
  Door door(folder);
  door.add_nodes(static_cast<std::uint32_t>(5000 * options.scale) + 1);
  const auto pods = static_cast<std::size_t>(50'000 * options.scale);
  const std::int64_t before = resident_bytes();
  std::atomic<std::size_t> bound = 0;
  std::thread watcher([&] { watch(door, bound, pods); });
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::atomic<int> next = 0;
  const double begin = now_seconds();
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      auto client = door.client();
      for (int n = next++; n < static_cast<int>(pods); n = next++) {
        const auto made = client.call({.method = "POST", .target = "/api/v1/namespaces/default/pods",
                                       .content_type = "application/json", .body = pod(n)});
        if (!made || made->status != 201) give_up(made ? made->body : made.error().message);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  const double created = now_seconds();
  watcher.join();
  const double seen = now_seconds();
  rows.push_back({.id = "B3.create", .value = static_cast<double>(pods) / (created - begin), .unit = "pods/s",
                  .calibration = "fdatasync", .ratio = static_cast<double>(pods) / (created - begin) / calibration.syncs,
                  .goal = "15,450: 15 x kube-apiserver 1.20 + etcd"});
  rows.push_back({.id = "B3.bound_on_watch", .value = static_cast<double>(pods) / (seen - begin), .unit = "pods/s",
                  .calibration = "fdatasync", .ratio = static_cast<double>(pods) / (seen - begin) / calibration.syncs,
                  .goal = "9,400: 20 x kube-scheduler"});
  rows.push_back({.id = "B3.memory", .value = static_cast<double>(resident_bytes() - before) / (1 << 20), .unit = "MiB",
                  .goal = "59: a tenth of its 590"});
  const double list = median_of(5, [&] {
    auto client = door.client();
    const double at = now_seconds();
    std::size_t bytes = 0;
    static_cast<void>(client.stream({.target = "/api/v1/pods"}, [&](std::string_view piece) {
      bytes += piece.size();
      return true;
    }));
    return (now_seconds() - at) * 1000;
  });
  rows.push_back({.id = "B9.list_pods", .value = list, .unit = "ms", .goal = "100, at 100,000 pods"});
}

}  // namespace drover::bench
