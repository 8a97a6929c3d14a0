#include "cli/runner.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "cli/ask.h"
#include "cli/containerd.h"
#include "cli/keepers.h"
#include "os/clock.h"
#include "os/process.h"
#include "wire/socket.h"

namespace drover::cli {
namespace {

constexpr Duration kTick(100);
constexpr Duration kStartPatience = seconds(60);
constexpr Duration kStopPatience = seconds(10);

sigset_t our_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, kKeepJobs, SIGCHLD}) ::sigaddset(&set, signal);
  return set;
}

// Where the Kubernetes door is when the cluster file doesn't say: at its usual port, or, where somebody else
// has that one, at any free one.
std::string kubernetes_address() {
  constexpr std::uint16_t kPort = 6443;
  const std::string usual = "127.0.0.1:" + std::to_string(kPort);
  return wire::listen_on(wire::Endpoint::tcp("127.0.0.1", kPort), 0) ? usual : "127.0.0.1:0";
}

std::vector<DaemonSpec> daemons_of(const Place& place, const std::string& file, const ClusterFile& cluster,
                                   std::optional<DaemonSpec> containerd, bool hidden) {
  const std::string bin = program_folder();
  const std::string socket = "unix:" + place.state() + "/droverd.sock";
  std::vector<DaemonSpec> daemons{{.name = "droverd",
                                   .argv = {bin + "/droverd", "--state", place.state(), "--cluster", file},
                                   .log = place.log_of("droverd")}};
  if (cluster.kubernetes.empty()) {
    daemons[0].argv.insert(daemons[0].argv.end(), {"--kubernetes", hidden ? "127.0.0.1:0" : kubernetes_address()});
  }
  std::vector<std::string> with;
  if (containerd) {
    const auto own = own_containerd(place);
    if (own) with = {"--containerd", *own};
    daemons.insert(daemons.begin(), *std::move(containerd));  // it goes last, after what runs with it
  }
  for (const NodeDeclaration& node : cluster.nodes) {
    if (node.joins) continue;
    const std::string& name = node.declared.name;
    daemons.push_back({.name = "agent " + name,
                       .argv = {bin + "/drover-agent", "--cluster", file, "--node", name, "--state", place.node(name),
                                "--controller", socket},
                       .log = place.log_of(name)});
    auto& argv = daemons.back().argv;
    argv.insert(argv.end(), with.begin(), with.end());
  }
  return daemons;
}

std::vector<std::string> names_of(const ClusterFile& cluster) {
  std::vector<std::string> names;
  for (const NodeDeclaration& node : cluster.nodes) {
    if (!node.joins) names.push_back(node.declared.name);
  }
  return names;
}

std::string clock_text() {
  const std::time_t now = unix_seconds(wall_now());
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%H:%M:%S", &local)};
}

}  // namespace

Runner::Runner(Place place, std::string cluster_path, const ClusterFile& cluster,
               std::optional<DaemonSpec> containerd, bool detached, bool hidden)
    : place_(std::move(place)),
      cluster_path_(std::move(cluster_path)),
      names_(names_of(cluster)),
      grace_(cluster.config.settings.kill_grace),
      ink_(!detached && wants_colours(STDOUT_FILENO)),
      own_containerd_(containerd.has_value()),
      supervisor_(daemons_of(place_, cluster_path_, cluster, std::move(containerd), hidden),
                  [this](const std::string& line) { say(line); }) {}

void Runner::block_signals() {
  const sigset_t set = our_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c)
}

void Runner::say(const std::string& line) const {
  std::fputs((ink_.dim(clock_text()) + " " + line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

int Runner::wait_for_signal(Duration patience) {
  const sigset_t set = our_signals();
  const timespec limit{.tv_sec = patience.count() / 1000, .tv_nsec = (patience.count() % 1000) * 1'000'000};
  const int signal = ::sigtimedwait(&set, nullptr, &limit);
  return signal == SIGCHLD ? 0 : std::max(signal, 0);
}

bool Runner::all_answer() const {
  const auto view = look(place_);
  if (!view) return false;
  std::size_t up = 0;
  for (const std::string& name : names_) {
    for (const api::NodeView& node : view->nodes) {
      if (node.node.name() == name && node.node.contact == Contact::up) ++up;
    }
  }
  return up == names_.size();
}

Status Runner::start() {
  const Duration begin = since_boot();
  while (true) {
    supervisor_.tend(since_boot());
    if (const DaemonSpec* broken = supervisor_.hopeless(); broken != nullptr) {
      const std::string words = tail_of(broken->log, 3);
      supervisor_.stop(kStopPatience);
      return Error{Errc::unavailable, broken->name + " doesn't start; it says:\n" + words};
    }
    if (all_answer()) {
      const Status ready = prepare_pods();
      if (!ready) supervisor_.stop(kStopPatience);
      return ready;
    }
    if (since_boot() - begin > kStartPatience) {
      supervisor_.stop(kStopPatience);
      return Error{Errc::unavailable, "not every node has answered after " +
                                          std::to_string(kStartPatience.count() / 1000) + " s; see " + place_.logs()};
    }
    if (wait_for_signal(kTick) == 0) continue;
    supervisor_.stop(kStopPatience);
    return Error{Errc::unavailable, "interrupted"};
  }
}

Status Runner::prepare_pods() const {
  if (!own_containerd_) return Done{};
  return load_sandbox_image(TRY(own_containerd(place_)), place_.log_of("containerd"));
}

std::string Runner::welcome(bool hidden) const {
  const auto view = look(place_);
  if (!view) return view.error().message + "\n";
  std::string text = status_text(*view, ink_) + "\n";
  std::vector<Row> uses;
  if (::access((program_folder() + "/sbatch").c_str(), X_OK) == 0) {
    uses.push_back({"commands", "export PATH=" + program_folder() + ":$PATH"});
  }
  if (hidden) uses.push_back({"find it", "export DROVER_STATE=" + place_.state()});
  uses.push_back({"submit", "sbatch --gres=gpu:1 --wrap 'echo $CUDA_VISIBLE_DEVICES'"});
  uses.push_back({"watch", "squeue, sinfo, sacct, drover status"});
  uses.push_back({"logs", place_.logs()});
  uses.push_back({"stop", "drover down (ends the running jobs; --keep-jobs leaves them to their nodes)"});
  for (Row& row : uses) row[0] = ink_.dim(row[0]);
  return text + table(uses);
}

void Runner::run() {
  while (true) {
    supervisor_.tend(since_boot());
    const int signal = wait_for_signal(kTick);
    if (signal == 0) continue;
    take_down(signal == kKeepJobs);
    return;
  }
}

void Runner::take_down(bool keep_jobs) {
  if (keep_jobs) {
    say("stopping; running jobs go on and are found again at the next `drover up`");
  } else {
    end_jobs();
  }
  supervisor_.stop(kStopPatience);
  if (!keep_jobs) end_keepers();
  say("the cluster is down");
}

// New jobs don't start any more; those that run are cancelled, which they are told by SIGTERM. A
// second signal cuts the wait short.
void Runner::end_jobs() {
  const auto view = look(place_);
  if (!view) {
    say("the controller doesn't answer (" + view.error().message + "); its running jobs can't be cancelled");
    return;
  }
  if (view->overview.jobs_active == 0) return say("stopping; no job is running");
  say("stopping; ending the " + std::to_string(view->overview.jobs_active) + " running jobs (Ctrl-C again: at once)");
  if (const Status asked = end_running_jobs(place_); !asked) return say(asked.error().message);
  const Duration end = since_boot() + grace_ + seconds(10);
  while (since_boot() < end) {
    supervisor_.tend(since_boot());
    const auto now = look(place_);
    if (now && now->overview.jobs_active == 0) return;
    if (wait_for_signal(kTick) != 0) break;
  }
  say("some jobs haven't ended; they are killed with their nodes");
}

void Runner::end_keepers() {
  const int left = end_keepers_of(place_, names_, seconds(5));
  if (left > 0) say(std::to_string(left) + " keepers or shims of the nodes are still there, with their jobs");
}

}  // namespace drover::cli
