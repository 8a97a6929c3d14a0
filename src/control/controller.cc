#include "control/controller.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "control/driver.h"
#include "control/follower.h"
#include "control/keepalive.h"
#include "control/ledger.h"
#include "control/recovery.h"
#include "control/service.h"
#include "control/sessions.h"
#include "control/snapshots.h"
#include "os/clock.h"
#include "store/history/history.h"
#include "store/sqlite/sqlite_log.h"

namespace drover::control {
namespace {

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  name.resize(name.find('\0'));
  return name;
}

class LiveController final : public Controller, private Follower::Listener {
 public:
  LiveController(ControllerOptions options, std::unique_ptr<store::Log> log, std::unique_ptr<store::History> history)
      : options_(std::move(options)),
        log_(std::move(log)),
        history_(std::move(history)),
        payloads_(*log_),
        ledger_(*history_, payloads_) {}
  ~LiveController() override { stop(); }

  Status begin();
  api::Service& service() override { return *service_; }
  void accept_agent(const wire::Request& request, wire::Responder responder) override {
    sessions_->accept(request, std::move(responder));
  }
  void cut_agent(const std::string& node) override { sessions_->cut(node); }
  void stop() override;

 private:
  void changed(const Cluster& cluster, const Committed& group) override;
  void tick(const Cluster& cluster) override;
  Result<Recovered> recovered();
  PodBody pod_body(NodeId node, const NeedPod& need);
  void take_notes(NodeId node, PodNotes notes);

  ControllerOptions options_;
  std::unique_ptr<store::Log> log_;
  std::unique_ptr<store::History> history_;
  Payloads payloads_;
  Ledger ledger_;
  std::unique_ptr<Follower> follower_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Sessions> sessions_;
  std::unique_ptr<Snapshots> snapshots_;
  std::unique_ptr<LiveService> service_;
  Keepalive keepalive_;
  const std::function<Result<JobSpec>(const PayloadHash&)> read_spec_ = [this](const PayloadHash& hash) {
    return payloads_.spec(hash);
  };
  bool stopped_ = false;
};

// Rows that the accounts' file has not got yet are made again from the facts.
Result<Recovered> LiveController::recovered() {
  const std::uint64_t known = TRY(history_->position());
  Recovered r = TRY(recover(*log_, [&](const Cluster& after, const Event& event, std::uint64_t position) {
    if (position > known) ledger_.note(after, event);
  }));
  if (r.snapshot > known && r.snapshot > 0) {
    options_.say(fmt::format("the accounts end at record {}, the snapshot begins at {}: what ended between is missing "
                             "from sacct", known, r.snapshot));
  }
  if (r.position > known) ledger_.reached(r.position);
  return r;
}

Status LiveController::begin() {
  Recovered r = TRY(recovered());
  if (!r.warning.empty()) options_.say(r.warning);
  const Epoch epoch(r.epoch + 1);
  const Instant wall = wall_now();
  const ClusterTime time(r.at, wall, since_boot());
  keepalive_.begin(r.cluster, since_boot());
  follower_ = std::make_unique<Follower>(r.cluster, r.position, std::max(r.at, wall), ledger_);
  driver_ = std::make_unique<Driver>(
      Driver::Options{.epoch = epoch.value(), .position = r.position}, engine::Core(std::move(r.cluster)), *log_, time,
      [this](Committed group) { follower_->push(std::move(group)); }, options_.fail);
  sessions_ = std::make_unique<Sessions>(Sessions::Options{.cluster_id = log_->cluster(),
                                                           .epoch = epoch,
                                                           .doors = options_.doors,
                                                           .pod = [this](NodeId node, const NeedPod& need) {
                                                             return pod_body(node, need);
                                                           },
                                                           .note = [this](NodeId node, PodNotes notes) {
                                                             take_notes(node, std::move(notes));
                                                           },
                                                           .fail = options_.fail,
                                                           .say = options_.say},
                                         *driver_, payloads_, *log_);
  service_ = std::make_unique<LiveService>(
      LiveService::Options{.cluster_id = log_->cluster(),
                           .version = options_.version,
                           .host = host_name(),
                           .state_dir = options_.state_dir,
                           .epoch = epoch,
                           .started = wall,
                           .pulses = [this] { return sessions_->pulses(); },
                           .heard = [this](JobId job) { keepalive_.heard(job, since_boot()); },
                           .say = options_.say},
      *driver_, *follower_, ledger_, payloads_, *log_);
  snapshots_ = std::make_unique<Snapshots>(*follower_, ledger_, payloads_, *log_, r.snapshot, options_.say);
  follower_->start(*this);
  // The first record of the epoch: from here on, an older leader is fenced.
  CHECK(driver_->push({.input = Configure{options_.config}}));
  return Done{};
}

// An agent learns of a pod only while its node holds it.
PodBody LiveController::pod_body(NodeId node, const NeedPod& need) {
  PodBody body{.job = need.job, .attempt = need.attempt};
  follower_->read([&](const Cluster& cluster, Instant, std::uint64_t) {
    const Job* job = cluster.job(need.job);
    if (job == nullptr || !job->pod || job->run->attempt != need.attempt || !job->holds(node)) {
      body.error = "this node holds no such pod";
      return;
    }
    auto launch = make_pod_launch(cluster, *job, node, payloads_, options_.doors);
    if (launch) body.launch = *std::move(launch);
    else body.error = launch.error().message;
  });
  return body;
}

void LiveController::take_notes(NodeId node, PodNotes notes) {
  const bool its_own = follower_->read([&](const Cluster& cluster, Instant, std::uint64_t) {
    const Job* job = cluster.job(notes.job);
    if (job == nullptr || !job->pod || !job->run->placement) return false;
    return job->run->placement->shares.front().node == node;
  });
  if (its_own) follower_->note(notes.job, std::move(notes.notes));
}

void LiveController::changed(const Cluster& cluster, const Committed& group) {
  for (const Event& event : group.facts) {
    if (const auto* registered = std::get_if<NodeRegistered>(&event)) {
      sessions_->welcome(cluster, registered->inventory.name);
    }
    keepalive_.follow(cluster, event, since_boot());
    if (options_.notice) options_.notice(cluster, event, read_spec_);
  }
  sessions_->sync(cluster, group.dirty);
  sessions_->signal(group.signals);
}

void LiveController::tick(const Cluster& cluster) {
  sessions_->tick(cluster);
  for (const JobId job : keepalive_.silent(since_boot())) {
    options_.say(fmt::format("job {}: its client has not been heard of for {} s, the allocation is ended", job.value(),
                             Keepalive::kSilence / seconds(1)));
    // With a full inbox it is named again after another silence.
    [[maybe_unused]] const bool told = driver_->push(
        {.input = Asked{.caller = {.user = "root"}, .command = Cancel{.jobs = {.jobs = {{.job = job}}}}}});
  }
}

void LiveController::stop() {
  if (std::exchange(stopped_, true) || !driver_) return;
  sessions_->close();
  driver_->stop();
  follower_->stop();
  snapshots_->stop(true);
}

}  // namespace

Result<std::unique_ptr<Controller>> Controller::start(ControllerOptions options) {
  auto log = TRY(store::SqliteLog::open({.folder = options.state_dir + "/store"}));
  auto history = TRY(store::History::open(options.state_dir + "/store/history.db", log->cluster()));
  auto controller = std::make_unique<LiveController>(std::move(options), std::move(log), std::move(history));
  TRY(controller->begin());
  return std::unique_ptr<Controller>(std::move(controller));
}

}  // namespace drover::control
