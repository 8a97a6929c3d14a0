// One container of a pod from its start to its end, and to its next start.
#include <algorithm>

#include "agent/pod/backoff.h"
#include "agent/pod/log.h"
#include "agent/pod/pod.h"
#include "base/text.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr std::size_t kLongestMessage = 4096;
constexpr std::int64_t kLogLinesOfMessage = 80;
constexpr std::size_t kLogBytesOfMessage = 2048;
constexpr Duration kHookPatience = minutes(5);
constexpr Duration kLeastAfterHook = seconds(2);

std::string seconds_text(Duration duration) {
  const std::int64_t all = duration.count() / 1000;
  const std::string rest = std::to_string(all % 60) + "s";
  return all < 60 ? rest : std::to_string(all / 60) + "m" + rest;
}

}  // namespace

// ---- while it runs ----

void Pod::supervise(Index i) {
  ContainerRecord& record = record_.containers[i];
  Present& present = present_[i];
  if (present.stopping || present.seen_exit) return;
  if (!record.hooked) {
    present.busy = true;
    const std::uint32_t run = record.run;
    runtime()->exec(record.id, spec(i).after_start, kHookPatience, then<ExecDone>([this, i, run](const auto& answer) {
      present_[i].busy = false;
      if (record_.containers[i].run != run || record_.containers[i].stage != Stage::running) return;
      record_.containers[i].hooked = true;
      if (answer && answer->exit_code == 0) return turn();
      const std::string why = answer ? "exited with " + std::to_string(answer->exit_code) + ": " + answer->output
                                     : answer.error().message;
      note("FailedPostStartHook", "PostStartHook failed: " + printable(why), spec(i).name, true);
      stop(i, launch_->grace, "FailedPostStartHook");
    }));
    return;
  }
  if (!record.startup_passed && !spec(i).startup) record.startup_passed = true;
  status(i).started = record.startup_passed;
  if (!record.startup_passed) return probe(i, *spec(i).startup, present.startup, "Startup");
  if (spec(i).liveness) probe(i, *spec(i).liveness, present.liveness, "Liveness");
  if (spec(i).readiness) probe(i, *spec(i).readiness, present.readiness, "Readiness");
}

void Pod::probe(Index i, const PodProbe& probe, ProbeWatch& watch, const char* what) {
  if (!watch.begun()) watch.begin(probe, now().boot);
  if (!watch.due(now().boot)) return;
  watch.asked();
  const std::uint32_t run = record_.containers[i].run;
  const std::string kind = what;
  if (probe.kind == ProbeKind::exec) {
    runtime()->exec(record_.containers[i].id, probe.command, probe.timeout,
                    then<ExecDone>([this, i, run, kind](const auto& answer) {
                      if (!answer) return answered(i, kind, run, answer.error());
                      if (answer->exit_code == 0) return answered(i, kind, run, Done{});
                      answered(i, kind, run, Error{Errc::unavailable, printable(answer->output, 1024)});
                    }));
    return;
  }
  // On the host's network a pod's own address is the machine's.
  const std::string address = launch_->host_network ? "127.0.0.1" : record_.status.pod_ip;
  site_.workers->ask<Done>([probe, address] { return ask_probe(probe, address); },
                           then<Done>([this, i, run, kind](const Status& answer) { answered(i, kind, run, answer); }));
}

void Pod::answered(Index i, const std::string& what, std::uint32_t run, const Status& answer) {
  const ContainerRecord& record = record_.containers[i];
  if (record.run != run || record.stage != Stage::running || record_.ending) return;
  const PodContainer& container = spec(i);
  const bool startup = what == "Startup";
  const bool readiness = what == "Readiness";
  const auto& asked = startup ? container.startup : readiness ? container.readiness : container.liveness;
  ProbeWatch& watch = startup ? present_[i].startup : readiness ? present_[i].readiness : present_[i].liveness;
  if (!asked) return;
  if (!answer) note("Unhealthy", what + " probe failed: " + answer.error().message, container.name, true);
  const auto verdict = watch.answered(*asked, answer.has_value(), now().boot);
  if (verdict == ProbeWatch::Verdict::passed) {
    if (startup) record_.containers[i].startup_passed = true;
    if (readiness) present_[i].probed_ready = true;
  }
  if (verdict == ProbeWatch::Verdict::failed) {
    if (readiness) {
      present_[i].probed_ready = false;
    } else {
      stop(i, launch_->grace, "Container " + container.name + " failed " + lower(what) + " probe, will be restarted");
    }
  }
  turn();
}

// ---- its end ----

void Pod::stop(Index i, Duration grace, const std::string& why) {
  if (present_[i].stopping) return;
  const bool again = present_[i].busy;  // only the grace is shorter now
  present_[i].stopping = true;
  if (!again) note("Killing", why, spec(i).name);
  const PodContainer& container = spec(i);
  const bool hook = !container.before_stop.empty() || container.before_stop_sleep > Duration{};
  if (!hook || again || grace <= Duration{}) return stop_after_hook(i, grace);
  const Duration begun = now().boot;
  const auto done = [this, i, grace, begun](bool good, const std::string& said) {
    if (!good) note("FailedPreStopHook", "PreStopHook failed: " + printable(said), spec(i).name, true);
    stop_after_hook(i, std::max(grace - (now().boot - begun), kLeastAfterHook));
  };
  std::vector<std::string> command = container.before_stop;
  if (command.empty()) command = {"sleep", std::to_string(container.before_stop_sleep.count() / 1000)};
  runtime()->exec(record_.containers[i].id, command, grace, then<ExecDone>([done](const auto& answer) {
    done(answer && answer->exit_code == 0, answer ? answer->output : answer.error().message);
  }));
}

void Pod::stop_after_hook(Index i, Duration grace) {
  const std::uint32_t run = record_.containers[i].run;
  runtime()->stop(record_.containers[i].id, grace, then<Done>([this, i, run](const Status& answer) {
    const ContainerRecord& record = record_.containers[i];
    if (record.run != run || record.stage != Stage::running) return;
    if (!answer) {
      site_.say("pod " + key_ + ", container " + spec(i).name + ": " + answer.error().message);
      present_[i].stopping = false;  // once more
      return;
    }
    runtime()->look(record.id, then<ContainerSeen>([this](const Result<ContainerSeen>& seen) {
      if (seen) see(*seen);
    }));
  }));
}

void Pod::exited(Index i, const ContainerSeen& seen) {
  ContainerRecord& record = record_.containers[i];
  record.stage = Stage::exited;
  ContainerState& state = status(i).state;
  const Instant began = seen.started != Instant{} ? seen.started : state.started;
  if (state.phase == ContainerPhase::terminated) status(i).last = state;
  state = {.phase = ContainerPhase::terminated,
           .reason = seen.out_of_memory ? "OOMKilled" : seen.exit_code == 0 ? "Completed" : "Error",
           .message = seen.message,
           .exit = {.code = seen.exit_code},
           .started = began,
           .finished = seen.finished != Instant{} ? seen.finished : now().wall};
  if (!spec(i).message_path.empty()) {
    const auto said = read_file(folder_.message(spec(i).name, record.run));
    if (said && !said->empty()) state.message = said->substr(0, kLongestMessage);
  }
  if (state.message.empty() && spec(i).message_from_log && seen.exit_code != 0) {
    state.message = log_tail(folder_.logs() + "/" + PodFolder::log(spec(i).name, record.run), kLogLinesOfMessage,
                             kLogBytesOfMessage);
  }
  status(i).started = false;
  present_[i] = {};
  save();
}

bool Pod::restarts(Index i) const {
  if (record_.ending) return false;
  if (spec(i).sidecar) return true;
  const bool failed = record_.status.containers[i].state.exit.code != 0;
  switch (launch_->restart) {
    case RestartPolicy::always: return !spec(i).init || failed;
    case RestartPolicy::on_failure: return failed;
    case RestartPolicy::never: return false;
  }
  return false;
}

void Pod::judge(Index i) {
  ContainerRecord& record = record_.containers[i];
  const ContainerState state = status(i).state;
  if (!record.id.empty()) runtime()->remove(record.id, [](const Status&) {});
  record.id.clear();
  if (!restarts(i)) {
    record.stage = Stage::done;
    return;
  }
  if (state.finished - state.started >= kGoodRun) record.crashes = 0;
  const Duration delay = restart_delay(++record.crashes);
  record.stage = Stage::idle;
  record.retry_at = now().boot + delay;
  if (delay == Duration{}) return begin(i);
  const std::string who = "container=" + spec(i).name + " pod=" + launch_->name + "_" + launch_->space + "(" +
                          launch_->uid + ")";
  note("BackOff", "Back-off restarting failed container " + spec(i).name + " in pod " + launch_->name + "_" +
                      launch_->space + "(" + launch_->uid + ")", spec(i).name, true);
  wait(i, "CrashLoopBackOff", "back-off " + seconds_text(delay) + " restarting failed " + who);
}

// ---- what the runtime says ----

void Pod::see(const ContainerSeen& seen) {
  for (Index i = 0; i < record_.containers.size(); ++i) {
    const ContainerRecord& record = record_.containers[i];
    if (record.id != seen.id || record.stage != Stage::running || seen.phase != RunPhase::exited) continue;
    exited(i, seen);
    return turn();
  }
}

void Pod::see(const Inventory& inventory) {
  if (!launch_ || over()) return;
  for (const auto& [id, pod] : inventory.sandboxes) {
    if (pod == key_ && record_.sandbox.id.empty() && !preparing_ && record_.sandboxes > 0) record_.sandbox.id = id;
  }
  for (Index i = 0; i < record_.containers.size(); ++i) {
    ContainerRecord& record = record_.containers[i];
    if (present_[i].busy && record.stage != Stage::running) continue;
    if (record.stage != Stage::creating && record.stage != Stage::running) continue;
    const auto seen = std::ranges::find_if(inventory.containers, [&](const ContainerSeen& one) {
      const bool same = one.name.empty() ? one.index == i : one.name == spec(i).name;
      return same && one.pod == key_ && one.run == record.run;
    });
    if (seen == inventory.containers.end()) {
      if (record.stage == Stage::creating) {
        record.stage = Stage::idle;  // it was never made
      } else {
        exited(i, {.id = record.id, .phase = RunPhase::exited, .exit_code = 137,
                   .message = "The container could not be located when the pod was looked at"});
        status(i).state.reason = "ContainerStatusUnknown";
      }
      continue;
    }
    record.id = seen->id;
    if (record.stage == Stage::creating) {
      if (seen->phase == RunPhase::created) {  // and its start never asked for: another is made
        runtime()->remove(seen->id, [](const Status&) {});
        record.stage = Stage::idle;
        continue;
      }
      started(i);
    }
    if (seen->phase != RunPhase::exited || present_[i].seen_exit) continue;
    present_[i].seen_exit = true;
    runtime()->look(seen->id, then<ContainerSeen>([this, i](const Result<ContainerSeen>& how) {
      present_[i].seen_exit = false;
      if (how) see(*how);
    }));
  }
  turn();
}

}  // namespace drover::agent
