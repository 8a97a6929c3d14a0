#include "agent/pod/pods.h"

#include <algorithm>
#include <set>
#include <utility>

#include "agent/pod/log.h"
#include "base/text.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr Duration kLookEvery(250);     // while something may change
constexpr Duration kSweepEvery = seconds(10);  // else, and for what nobody knows
constexpr Duration kLogsEvery = seconds(5);

std::string key_of(JobId job, std::uint32_t attempt) {
  return std::to_string(job.value()) + "." + std::to_string(attempt);
}

}  // namespace

Pods::Pods(PodSite site) : site_(std::move(site)) {
  const auto quiet = [](const auto&) {};
  site_.need = quiet;
  site_.report = quiet;
  site_.note = quiet;
  if (!site_.say) site_.say = quiet;
  take_up();
}

void Pods::start(Ears ears) {
  site_.need = std::move(ears.need);
  site_.report = std::move(ears.report);
  site_.note = std::move(ears.note);
  site_.say = std::move(ears.say);
  started_ = true;
}

void Pods::take_up() {
  const auto names = list_folder(site_.brief);
  for (const std::string& key : names ? *names : std::vector<std::string>{}) {
    const PodFolder folder = site_.folder(key);
    auto record = read_record(folder);
    if (!record || key != key_of(record->job, record->attempt)) {
      [[maybe_unused]] const Status gone = remove_with_mounts(folder.brief);
      continue;
    }
    auto launch = read_launch(folder);
    if (!launch) record->containers.clear();
    pods_.emplace(key, std::make_shared<Pod>(site_, key, *std::move(record), std::move(launch)));
  }
  // After a boot nothing runs, and what lies on the disk is nobody's.
  const auto left = list_folder(site_.lasting);
  for (const std::string& key : left ? *left : std::vector<std::string>{}) {
    if (pods_.contains(key)) continue;
    [[maybe_unused]] const Status gone = remove_with_mounts(site_.folder(key).lasting);
  }
}

void Pods::want(JobId job, std::uint32_t attempt, const Launch& launch) {
  const std::string key = key_of(job, attempt);
  if (pods_.contains(key)) return;
  PodRecord record{.job = job, .attempt = attempt, .device_uuids = launch.device_uuids, .cpus = launch.cpus,
                   .limit = launch.limit};
  auto pod = std::make_shared<Pod>(site_, key, std::move(record), std::nullopt);
  pods_.emplace(key, pod);
  pod->turn();
}

bool Pods::is_over(const std::string& key) const {
  const auto found = pods_.find(key);
  return found != pods_.end() && found->second->over();
}

const Pod* Pods::find(const std::string& key) const {
  const auto found = pods_.find(key);
  return found == pods_.end() ? nullptr : found->second.get();
}

void Pods::on_body(const PodBody& body) {
  const auto found = pods_.find(key_of(body.job, body.attempt));
  if (found != pods_.end()) found->second->on_body(body);
}

void Pods::end(const std::string& key, drover::Cause cause, Duration grace) {
  const auto found = pods_.find(key);
  if (found == pods_.end()) return;
  if (found->second->over()) found->second->report_all();
  else found->second->end(cause, grace);
}

Status Pods::forget(const std::string& key) {
  const auto found = pods_.find(key);
  if (found == pods_.end()) return Done{};
  if (!found->second->over()) return Error{Errc::conflict, "pod " + key + " isn't over"};
  pods_.erase(found);
  site_.workers->ask<Done>(
      [folder = site_.folder(key)]() -> Status {
        TRY(remove_with_mounts(folder.brief));
        return remove_with_mounts(folder.lasting);
      },
      [this, key](const Status& gone) {
        if (!gone) site_.say("pod " + key + ": " + gone.error().message);
      });
  return Done{};
}

std::vector<HeldAttempt> Pods::held() const {
  std::vector<HeldAttempt> held;
  for (const auto& [key, pod] : pods_) held.push_back({.job = pod->record().job, .attempt = pod->record().attempt});
  return held;
}

std::map<std::string, std::vector<std::string>> Pods::devices() const {
  std::map<std::string, std::vector<std::string>> devices;
  for (const auto& [key, pod] : pods_) {
    if (!pod->over()) devices.emplace(key, pod->record().device_uuids);
  }
  return devices;
}

bool Pods::lively() const {
  return std::ranges::any_of(pods_, [](const auto& entry) { return entry.second->lively(); });
}

void Pods::report_all() {
  for (const auto& [key, pod] : pods_) pod->report_all();
}

void Pods::turn() {
  if (!started_) return;
  site_.workers->turn();
  const Duration now = site_.clock().boot;
  if (now >= looked_ + (lively() ? kLookEvery : kSweepEvery)) {
    looked_ = now;
    for (Runtime* runtime : {site_.images, site_.host}) look_at(runtime);
  }
  if (now >= logs_ + kLogsEvery) tend_logs();
  const auto all = pods_;  // a turn may end a pod, and whoever hears that may forget it
  for (const auto& [key, pod] : all) pod->turn();
  write_directory();
}

void Pods::write_directory() {
  PodDirectory::Targets targets;
  for (const auto& [key, pod] : pods_) {
    if (!pod->launch()) continue;
    const std::string logs = site_.folder(key).logs() + "/";
    for (std::size_t i = 0; i < pod->record().containers.size(); ++i) {
      const PodContainer& spec = pod->launch()->containers[i];
      const ContainerRecord& container = pod->record().containers[i];
      const auto runs = pod->runs_of(i);
      PodTarget target{.id = container.id,
                       .address = pod->launch()->host_network ? "127.0.0.1" : pod->record().status.pod_ip,
                       .running = container.stage == Stage::running,
                       .terminal = spec.terminal,
                       .input = spec.input,
                       .host = spec.image == "host"};
      if (runs.last) target.log = logs + PodFolder::log(spec.name, *runs.last);
      if (runs.before) target.previous_log = logs + PodFolder::log(spec.name, *runs.before);
      targets.emplace(std::pair(key, spec.name), std::move(target));
    }
  }
  directory_->put(std::move(targets));
}

void Pods::look_at(Runtime* runtime) {
  if (runtime == nullptr || std::exchange(looking_[runtime], true)) return;
  const Duration now = site_.clock().boot;
  const bool sweep = now >= swept_ + kSweepEvery;
  if (sweep && runtime == site_.images) swept_ = now;
  // What comes into being while the runtime makes its list isn't in it.
  std::set<std::string> settled;
  for (const auto& [key, pod] : pods_) {
    if (pod->runtime() == runtime && !pod->over()) settled.insert(key);
  }
  runtime->list([this, runtime, settled, sweep](const Result<Inventory>& inventory) {
    looking_[runtime] = false;
    if (!inventory) return;
    for (const std::string& key : settled) {
      const auto found = pods_.find(key);
      if (found != pods_.end()) found->second->see(*inventory);
    }
    for (const auto& [id, pod] : inventory->sandboxes) {
      if (sweep && (!pods_.contains(pod) || is_over(pod))) runtime->remove_sandbox(id, [](const Status&) {});
    }
  });
}

void Pods::tend_logs() {
  logs_ = site_.clock().boot;
  for (const auto& [key, pod] : pods_) {
    if (pod->over() || !pod->launch() || pod->runtime() != site_.images) continue;
    for (std::size_t i = 0; i < pod->record().containers.size(); ++i) {
      const ContainerRecord& container = pod->record().containers[i];
      if (container.stage != Stage::running) continue;
      const std::string log =
          site_.folder(key).logs() + "/" + PodFolder::log(pod->launch()->containers[i].name, container.run);
      site_.workers->ask<bool>([log] { return Result<bool>(rotate_log(log)); },
                               [runtime = site_.images, id = container.id](const Result<bool>& moved) {
                                 if (moved && *moved) runtime->reopen_log(id, [](const Status&) {});
                               });
    }
  }
}

}  // namespace drover::agent
