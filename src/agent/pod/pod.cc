#include "agent/pod/pod.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "agent/pod/backoff.h"
#include "agent/pod/volume.h"
#include "base/proto.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr Duration kAskEvery = seconds(5);
constexpr Duration kPublishEvery(100);
constexpr Duration kCleanEvery = seconds(2);

// Not synced: it has to outlive a process, not the machine.
Status put(const std::string& path, const std::string& bytes) {
  const std::string fresh = path + ".new";
  const Fd file = TRY(open_file(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  TRY(write_at(file, bytes, 0, fresh));
  return std::rename(fresh.c_str(), path.c_str()) == 0 ? Status(Done{}) : Status(system_error(errno, path));
}

template <class T>
std::optional<T> get(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return std::nullopt;
  auto value = decode<T>(*bytes);
  return value ? std::optional<T>(*std::move(value)) : std::nullopt;
}

}  // namespace

namespace {
// Of all that run at once.
std::int64_t asked_cpu_milli(const std::optional<PodLaunch>& launch) {
  std::int64_t sum = 0;
  if (!launch) return sum;
  for (const PodContainer& container : launch->containers) {
    if (!container.init || container.sidecar) sum += container.cpu_request_milli;
  }
  return sum;
}
}  // namespace

std::optional<PodRecord> read_record(const PodFolder& folder) { return get<PodRecord>(folder.record()); }
std::optional<PodLaunch> read_launch(const PodFolder& folder) { return get<PodLaunch>(folder.launch()); }

Pod::Pod(const PodSite& site, std::string key, PodRecord record, std::optional<PodLaunch> launch)
    : site_(site), key_(std::move(key)), folder_(site.folder(key_)), record_(std::move(record)),
      launch_(std::move(launch)) {
  present_.resize(record_.containers.size());
  // Made again where it is, which does no harm, so that its name is known.
  if (record_.volumes_ready && !over()) {
    const auto made = site_.groups->make(key_, record_.cpus, asked_cpu_milli(launch_), record_.device_uuids);
    if (made) group_ = *made;
  }
}

Runtime* Pod::runtime() const {
  if (!launch_) return nullptr;
  const bool host = std::ranges::all_of(launch_->containers, [](const auto& c) { return c.image == "host"; });
  return host ? site_.host : site_.images;
}

Pod::Runs Pod::runs_of(std::size_t index) const {
  const ContainerRecord& record = record_.containers[index];
  if (!record.last_started) return {};
  return {.last = *record.last_started, .before = record.started_before};
}

void Pod::note(const std::string& reason, const std::string& message, const std::string& container, bool warning) {
  notes_.push_back({.reason = reason, .message = message, .container = container, .warning = warning,
                    .at = now().wall});
}

// ---- from the order to its containers ----

void Pod::ask_for_body() {
  if (now().boot < ask_at_) return;
  ask_at_ = now().boot + kAskEvery;
  site_.need({.job = record_.job, .attempt = record_.attempt});
}

void Pod::on_body(const PodBody& body) {
  if (over()) return;
  if (!body.launch) {
    if (!launch_) fail_to_start(body.error);
    return;
  }
  if (launch_) {  // asked again, for a container that couldn't be made
    for (Index i = 0; i < launch_->containers.size() && i < body.launch->containers.size(); ++i) {
      if (spec(i).name != body.launch->containers[i].name || spec(i).error.empty()) continue;
      launch_->containers[i] = body.launch->containers[i];
      record_.containers[i].retry_at = {};
    }
    // What the missing one is made of may be new too; volumes that are there stay as they are.
    launch_->volumes = body.launch->volumes;
    record_.volumes_ready = false;
  } else {
    launch_ = body.launch;
    record_.status = PodStatus{.host_ip = site_.address, .started = now().wall};
    const std::string first = launch_->containers.empty() || !launch_->containers[0].init ? "ContainerCreating"
                                                                                         : "PodInitializing";
    for (const PodContainer& one : launch_->containers) {
      record_.containers.emplace_back();
      record_.status.containers.push_back(
          {.name = one.name, .init = one.init, .state = {.reason = first}, .image = one.image});
    }
    present_.resize(record_.containers.size());
  }
  [[maybe_unused]] const Status folder = make_folders(folder_.brief, 0711);
  if (const Status kept = put(folder_.launch(), encode(*launch_)); !kept) site_.say(kept.error().message);
  turn();
}

bool Pod::refuse_mixture() {
  const auto hosts = std::ranges::count(launch_->containers, "host", &PodContainer::image);
  if (hosts == 0 || hosts == std::ssize(launch_->containers)) return false;
  record_.status.reason = "MixedPod";
  record_.status.message = "a pod runs containers of images or processes of the host, not both";
  note("Failed", record_.status.message, {}, true);
  end(drover::Cause::failed, {});
  return true;
}

void Pod::prepare() {
  if (record_.ending) return wind_down();
  if (preparing_ || now().boot < prepare_at_ || refuse_mixture()) return;
  if (!record_.volumes_ready) return make_folders_and_volumes();
  make_sandbox();
}

void Pod::fail_to_start(const std::string& why) {
  record_.ended = ReportEnded{.job = record_.job, .attempt = record_.attempt, .cause = drover::Cause::launch_failed,
                              .exit = {.code = 1}, .note = why};
  site_.groups->remove(key_);
  save();
  site_.report(*record_.ended);
}

void Pod::make_folders_and_volumes() {
  const auto made = site_.groups->make(key_, record_.cpus, asked_cpu_milli(launch_), record_.device_uuids);
  if (!made) return fail_to_start("the pod's group: " + made.error().message);
  group_ = *made;
  preparing_ = true;
  const bool host = runtime() == site_.host;
  // Files of a pod of the host belong to whom it runs as; a container's user is the image's business.
  const VolumeOwner owner{.user = host ? launch_->user : 0, .group = host ? launch_->group : 0,
                          .fs_group = launch_->fs_group};
  site_.workers->ask<Done>(
      [folder = folder_, owner, launch = *launch_, hosts = site_.hosts_path]() -> Status {
        TRY(make_folders(folder.brief, 0711));
        TRY(make_folders(folder.lasting, 0711));
        TRY(make_folders(folder.logs(), 0700));
        const auto base = read_file(hosts.empty() ? "/etc/hosts" : hosts);
        std::string lines = base ? *base : "127.0.0.1\tlocalhost\n";
        for (const std::string& alias : launch.host_aliases) lines += alias + "\n";
        TRY(write_file_durably(folder.hosts(), lines, 0644));
        return make_volumes(launch.volumes, folder, owner);
      },
      then<Done>([this](const Status& answer) {
        preparing_ = false;
        if (answer) {
          record_.volumes_ready = true;
          prepare_failures_ = 0;
          return turn();
        }
        note("FailedMount", answer.error().message, {}, true);
        prepare_at_ = now().boot + backoff_after(++prepare_failures_);
      }));
}

SandboxSpec Pod::sandbox_spec() const {
  return {.pod = key_,
          .attempt = record_.sandboxes == 0 ? 0 : record_.sandboxes - 1,
          .name = launch_->name,
          .space = launch_->space,
          .uid = launch_->uid,
          .host_name = launch_->host_name,
          .log_folder = folder_.logs(),
          .cgroup_parent = group_,
          .labels = launch_->labels,
          .host_network = launch_->host_network,
          .host_pid = launch_->host_pid,
          .host_ipc = launch_->host_ipc,
          .share_pids = launch_->share_pids,
          .privileged = std::ranges::any_of(launch_->containers,
                                            [](const auto& c) { return c.security.privileged; })};
}

void Pod::make_sandbox() {
  if (runtime() == nullptr) {
    prepare_at_ = now().boot + backoff_after(1);
    for (ContainerStatus& one : record_.status.containers) one.state.message = site_.why_no_images;
    if (prepare_failures_++ == 0) note("FailedCreatePodSandBox", site_.why_no_images, {}, true);
    return;
  }
  preparing_ = true;
  ++record_.sandboxes;
  save();
  runtime()->run_sandbox(sandbox_spec(), then<Sandbox>([this](Result<Sandbox> made) {
    preparing_ = false;
    if (made) {
      record_.sandbox = *std::move(made);
      record_.status.pod_ip = record_.sandbox.ip.empty() ? record_.status.host_ip : record_.sandbox.ip;
      for (ContainerStatus& one : record_.status.containers) one.state.message.clear();
      prepare_failures_ = 0;
      return turn();
    }
    note("FailedCreatePodSandBox", "Failed to create pod sandbox: " + made.error().message, {}, true);
    for (ContainerStatus& one : record_.status.containers) one.state.message = made.error().message;
    prepare_at_ = now().boot + backoff_after(++prepare_failures_);
  }));
}

// ---- while it runs ----

void Pod::turn() {
  if (over()) return;
  if (!launch_) {
    if (record_.ending) return finish();
    return ask_for_body();
  }
  if (!record_.ending) check_deadline();
  if (record_.ending) {
    wind_down();
  } else if (!record_.volumes_ready || record_.sandbox.id.empty()) {
    prepare();
  } else {
    advance();
  }
  count_readiness();
  publish();
}

void Pod::check_deadline() {
  if (!record_.started) return;
  const Duration ran = now().boot - record_.began;
  const auto past = [&](Duration limit) { return limit > Duration{} && ran >= limit; };
  if (!past(launch_->deadline) && !past(record_.limit)) return;
  record_.status.reason = "DeadlineExceeded";
  record_.status.message = "Pod was active on the node longer than the specified deadline";
  note("DeadlineExceeded", record_.status.message, {}, true);
  end(drover::Cause::time_limit, launch_->grace);
}

void Pod::advance() {
  const bool asks = std::ranges::any_of(launch_->containers, [](const auto& c) { return !c.error.empty(); });
  if (asks) ask_for_body();
  if (!advance_init() || record_.ending) return;
  if (!record_.status.initialized) {
    record_.status.initialized = true;
    record_.status.initialized_at = now().wall;
    for (Index i = 0; i < launch_->containers.size(); ++i) {
      if (!spec(i).init && status(i).state.reason == "PodInitializing") status(i).state.reason = "ContainerCreating";
    }
  }
  for (Index i = 0; i < launch_->containers.size(); ++i) {
    if (!spec(i).init) tend(i);
  }
  conclude();
}

// One after the other; a sidecar lets the next begin once it has started. True: all have had their turn.
bool Pod::advance_init() {
  for (Index i = 0; i < launch_->containers.size(); ++i) {
    if (!spec(i).init) continue;
    tend(i);
    if (record_.containers[i].stage == Stage::done) {
      if (status(i).state.exit.code == 0 || spec(i).sidecar) continue;
      end(drover::Cause::failed, {});
      return false;
    }
    // A sidecar's restart holds nobody up.
    if (spec(i).sidecar && (status(i).started || record_.status.initialized)) continue;
    return false;
  }
  return true;
}

// All of its main containers are over for good.
void Pod::conclude() {
  bool failed = false;
  for (Index i = 0; i < launch_->containers.size(); ++i) {
    if (spec(i).init) continue;
    if (record_.containers[i].stage != Stage::done) return;
    failed = failed || status(i).state.exit.code != 0;
  }
  end(failed ? drover::Cause::failed : drover::Cause::completed, launch_->grace);
}

void Pod::count_readiness() {
  bool all = true;
  bool before = true;
  for (Index i = 0; i < launch_->containers.size(); ++i) {
    const bool counts = !spec(i).init || spec(i).sidecar;
    const bool running = record_.containers[i].stage == Stage::running && !record_.ending;
    if (counts) before = before && status(i).ready;
    status(i).ready = running && status(i).started && (!spec(i).readiness || present_[i].probed_ready);
    if (counts) all = all && status(i).ready;
    // An init container that has done its work counts as ready.
    if (spec(i).init && !spec(i).sidecar) {
      status(i).ready = record_.containers[i].stage == Stage::done && status(i).state.exit.code == 0;
    }
  }
  if (all != before || record_.status.ready_since == Instant{}) record_.status.ready_since = now().wall;
}

bool Pod::lively() const {
  if (over() || !launch_) return false;
  return preparing_ || cleaning_ || record_.ending ||
         std::ranges::any_of(record_.containers, [](const auto& c) {
           return c.stage == Stage::running || c.stage == Stage::creating;
         });
}

// ---- its end ----

void Pod::end(drover::Cause cause, Duration grace) {
  if (over()) return;
  const Duration at = now().boot;
  if (!record_.ending) {
    record_.ending = PodEnding{.cause = cause, .grace = grace, .since = at};
  } else if (at + grace < record_.ending->since + record_.ending->grace) {
    record_.ending->grace = at + grace - record_.ending->since;
    for (Present& one : present_) one.stopping = false;  // told again
  } else {
    return;
  }
  turn();
}

void Pod::wind_down() {
  if (preparing_) return;
  const Duration left = std::max(record_.ending->since + record_.ending->grace - now().boot, Duration{});
  bool mains = false;
  bool any = false;
  for (Index i = 0; i < launch_->containers.size(); ++i) {
    const Stage stage = record_.containers[i].stage;
    if (stage == Stage::exited) judge(i);
    if (record_.containers[i].stage == Stage::idle && !present_[i].busy) record_.containers[i].stage = Stage::done;
    const bool alive = record_.containers[i].stage == Stage::running || present_[i].busy;
    any = any || alive;
    mains = mains || (alive && !spec(i).sidecar);
  }
  for (Index i = 0; i < launch_->containers.size(); ++i) {
    if (spec(i).sidecar && mains && left > Duration{}) continue;  // they go last
    if (record_.containers[i].stage == Stage::running) stop(i, left, "Stopping container " + spec(i).name);
  }
  if (!any) clean_up();
}

void Pod::clean_up() {
  if (cleaned_) return finish();
  if (cleaning_ || now().boot < clean_at_) return;
  cleaning_ = true;
  const auto cleared = then<Done>([this](const Status& answer) {
    cleaning_ = false;
    cleaned_ = answer.has_value();
    clean_at_ = now().boot + kCleanEvery;
    if (!answer) site_.say("pod " + key_ + ": " + answer.error().message);
    turn();
  });
  const auto remove_folders = [folder = folder_]() -> Status {
    TRY(remove_with_mounts(folder.subpaths()));
    TRY(remove_with_mounts(folder.volumes()));
    TRY(remove_with_mounts(folder.lasting + "/run"));
    return remove_with_mounts(folder.files());
  };
  if (runtime() == nullptr || record_.sandbox.id.empty()) {
    site_.workers->ask<Done>(remove_folders, cleared);
    return;
  }
  runtime()->remove_sandbox(record_.sandbox.id, [this, weak = weak_from_this(), remove_folders,
                                                 cleared](const Status& answer) {
    const auto self = weak.lock();
    if (!self) return;
    if (!answer) return cleared(answer);
    site_.workers->ask<Done>(remove_folders, cleared);
  });
}

void Pod::finish() {
  ReportEnded report{.job = record_.job, .attempt = record_.attempt, .cause = record_.ending->cause};
  for (Index i = 0; launch_ && i < launch_->containers.size(); ++i) {
    const ContainerState& state = status(i).state;
    const bool counts = state.phase == ContainerPhase::terminated && !spec(i).sidecar;
    if (counts && report.exit.code == 0) report.exit = state.exit;
  }
  if (report.cause == drover::Cause::failed && report.exit.code == 0) report.exit.code = 1;
  report.usage = site_.groups->usage(key_);
  if (record_.started) report.ran = now().boot - record_.began;
  report.note = record_.status.message;
  site_.groups->remove(key_);
  if (launch_) {
    count_readiness();
    published_at_ = {};
    publish();
  }
  record_.ended = report;
  save();
  site_.report(report);
}

// ---- what others hear ----

void Pod::report_all() {
  if (record_.started) {
    site_.report(ReportStarted{.job = record_.job, .attempt = record_.attempt, .at = record_.started_at});
  }
  if (launch_) site_.report(ReportPod{.job = record_.job, .attempt = record_.attempt, .status = record_.status});
  published_ = record_.status;
  if (record_.ended) site_.report(*record_.ended);
}

void Pod::publish() {
  const Duration at = now().boot;
  if (at < published_at_ + kPublishEvery) return;
  if (!notes_.empty()) {
    site_.note({.job = record_.job, .attempt = record_.attempt, .notes = std::move(notes_)});
    notes_.clear();
    published_at_ = at;
  }
  if (!published_ || *published_ != record_.status) {
    published_ = record_.status;
    published_at_ = at;
    site_.report(ReportPod{.job = record_.job, .attempt = record_.attempt, .status = record_.status});
  }
  save();
}

void Pod::save() {
  std::string bytes = encode(record_);
  if (bytes == saved_) return;
  [[maybe_unused]] const Status folder = make_folders(folder_.brief, 0711);
  const Status kept = put(folder_.record(), bytes);
  if (kept) {
    saved_ = std::move(bytes);
  } else {
    site_.say("pod " + key_ + ": " + kept.error().message);
  }
}

}  // namespace drover::agent
