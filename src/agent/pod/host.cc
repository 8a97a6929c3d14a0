#include "agent/pod/host.h"

#include <algorithm>
#include <utility>

#include "agent/shim/key.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr std::int64_t kMostProcesses = 16'384;
constexpr std::int64_t kPeriodUs = 100'000;
constexpr std::string_view kSandbox = "host-";

// What a machine's own root can't give, in the order in which it is missed.
std::string why_not(const ContainerSpec& spec) {
  const PodSecurity& security = spec.security;
  if (spec.command.empty() && spec.arguments.empty()) return "a process of the host needs a command";
  if (security.privileged || !security.add_capabilities.empty()) {
    return "a process of the host gets no capabilities";
  }
  if (security.user && *security.user != spec.user) return "a process of the host runs as its pod's owner";
  if (security.must_not_be_root && spec.user == 0) return "container's runAsUser breaks non-root policy";
  if (security.read_only_root) return "the host's root can't be made read-only";
  if (spec.sandbox.share_pids) return "processes of the host don't share a space of process ids";
  if (!spec.sandbox.host_network) return "a process of the host has the host's network: set hostNetwork";
  if (spec.terminal || spec.input) return "a process of the host has neither terminal nor input";
  return {};
}

ContainerSeen seen_of(const Attempt& attempt) {
  const auto key = container_of(attempt.key);
  ContainerSeen seen{.id = attempt.key, .pod = key ? key->pod : std::string{}, .index = key ? key->index : 0,
                     .run = key ? key->run : 0};
  if (attempt.started) {
    seen.phase = RunPhase::running;
    seen.started = attempt.started->at;
  }
  if (!attempt.ended) return seen;
  const Ended& ended = *attempt.ended;
  seen.phase = RunPhase::exited;
  seen.finished = ended.at;
  seen.exit_code = ended.signal != 0 ? 128 + ended.signal : ended.exit_code;
  seen.out_of_memory = ended.oom_kills > 0 && seen.exit_code != 0;
  seen.message = ended.message;
  if (ended.cause == Cause::lost) seen.exit_code = 137;
  return seen;
}

}  // namespace

Result<StartSpec> host_spec(const ContainerSpec& spec) {
  if (const std::string why = why_not(spec); !why.empty()) return Error{Errc::invalid, why};
  StartSpec start{.argv = spec.command,
                  .environment = spec.environment,
                  .uid = spec.user,
                  .gid = spec.security.group ? static_cast<std::uint32_t>(*spec.security.group) : spec.group,
                  .cwd = spec.work_dir.empty() ? "/" : spec.work_dir};
  if (start.gid != spec.group && spec.user != 0) {
    return Error{Errc::invalid, "a process of the host has its owner's group"};
  }
  start.argv.insert(start.argv.end(), spec.arguments.begin(), spec.arguments.end());
  start.limits = {.memory_bytes = spec.memory_limit,
                  .pids = kMostProcesses,
                  .cpu_weight = std::clamp<std::int64_t>(spec.cpu_request_milli / 10, 1, 10'000),
                  .cpu_quota_us = spec.cpu_limit_milli * kPeriodUs / 1000};
  for (const std::uint32_t cpu : spec.cpus.list()) start.limits.cpus.push_back(static_cast<std::int32_t>(cpu));
  for (const std::string& uuid : spec.device_uuids) start.devices.push_back({.device = uuid});
  Box box{.pod = spec.sandbox.pod,
          .group = "c" + std::to_string(spec.index),
          .pod_limits = {.cpus = start.limits.cpus},
          .host_name = spec.sandbox.host_name,
          .own_pids = !spec.sandbox.host_pid,
          .own_ipc = !spec.sandbox.host_ipc,
          .log_path = spec.sandbox.log_folder + "/" + spec.log_path};
  for (const BindMount& mount : spec.mounts) {
    if (!file_exists(mount.target)) {
      if (mount.target.starts_with("/dev/")) continue;  // where a message is left: the log has it
      return Error{Errc::invalid, "a process of the host mounts where the machine has a folder already; there is no " +
                                      mount.target};
    }
    box.mounts.push_back({.source = mount.source, .target = mount.target, .read_only = mount.read_only});
  }
  start.box = std::move(box);
  return start;
}

HostRuntime::HostRuntime(Runner& runner, Workers& workers) : runner_(runner), workers_(workers) {
  for (const Attempt& attempt : runner_.list()) on_attempt(attempt);
}

void HostRuntime::on_attempt(const Attempt& attempt) {
  if (!container_of(attempt.key)) return;
  attempts_.insert_or_assign(attempt.key, attempt);
  if (attempt.state == AttemptState::unknown) {
    // Nobody can say how it goes on: what is left of it is killed, and it comes back as ended.
    [[maybe_unused]] const Status told = runner_.tell(attempt.key, Terminate{.grace = {}, .reason = "unknown"});
    return;
  }
  settle(attempt);
}

void HostRuntime::settle(const Attempt& attempt) {
  if (attempt.state == AttemptState::starting) return;
  if (auto waiting = starting_.extract(attempt.key)) {
    const bool failed = attempt.ended && attempt.ended->cause == Cause::not_started;
    reply<Done>(waiting.mapped(), failed ? Result<Done>(Error{Errc::unavailable, attempt.ended->message}) : Done{});
  }
  if (!attempt.ended) return;
  for (auto [at, end] = stopping_.equal_range(attempt.key); at != end; at = stopping_.erase(at)) {
    reply<Done>(at->second, Done{});
  }
  const std::string pod = job_of(attempt.key);
  const bool all = std::ranges::all_of(attempts_, [&](const auto& one) {
    return job_of(one.first) != pod || one.second.ended.has_value();
  });
  if (!all || !emptying_.contains(pod)) return;
  const auto known = attempts_;  // removing changes it
  for (const auto& [key, one] : known) {
    if (job_of(key) == pod) remove(key, [](const Status&) {});
  }
  for (auto [at, end] = emptying_.equal_range(pod); at != end; at = emptying_.erase(at)) {
    reply<Done>(at->second, Done{});
  }
}

void HostRuntime::find_image(const std::string&, Then<std::optional<ImageFound>> then) {
  reply<std::optional<ImageFound>>(then, std::optional(ImageFound{.id = "host"}));
}
void HostRuntime::pull_image(const std::string&, Then<ImageFound> then) {
  reply<ImageFound>(then, ImageFound{.id = "host"});  // it is always the newest
}
void HostRuntime::run_sandbox(const SandboxSpec& spec, Then<Sandbox> then) {
  reply<Sandbox>(then, Sandbox{.id = std::string(kSandbox) + spec.pod, .ip = {}});
}

void HostRuntime::remove_sandbox(const std::string& id, Then<Done> then) {
  const std::string pod = id.substr(kSandbox.size());
  bool alive = false;
  const auto known = attempts_;  // removing changes it
  for (const auto& [key, attempt] : known) {
    if (job_of(key) != pod) continue;
    if (attempt.ended) {
      remove(key, [](const Status&) {});
      continue;
    }
    alive = true;
    [[maybe_unused]] const Status told = runner_.tell(key, Terminate{.grace = {}, .reason = "cancelled"});
  }
  if (alive) emptying_.emplace(pod, std::move(then));
  else reply<Done>(then, Done{});
}

void HostRuntime::create(const ContainerSpec& spec, Then<std::string> then) {
  auto start = host_spec(spec);
  if (!start) return reply<std::string>(then, start.error());
  const std::string id = spec.sandbox.pod + "-" + std::to_string(spec.index) + "-" + std::to_string(spec.run);
  made_.insert_or_assign(id, *std::move(start));
  reply<std::string>(then, id);
}

void HostRuntime::start(const std::string& id, Then<Done> then) {
  auto made = made_.extract(id);
  if (!made) return reply<Done>(then, Error{Errc::not_found, "there is no such container"});
  const Status started = runner_.start(id, made.mapped());
  if (!started) return reply<Done>(then, started.error());
  attempts_.emplace(id, Attempt{.key = id});
  starting_.emplace(id, std::move(then));
}

void HostRuntime::stop(const std::string& id, Duration grace, Then<Done> then) {
  const auto known = attempts_.find(id);
  if (known == attempts_.end() || known->second.ended) return reply<Done>(then, Done{});
  const Status told = runner_.tell(id, Terminate{.grace = grace, .reason = "cancelled"});
  if (!told) return reply<Done>(then, told.error());
  stopping_.emplace(id, std::move(then));
}

void HostRuntime::remove(const std::string& id, Then<Done> then) {
  made_.erase(id);
  const auto known = attempts_.find(id);
  if (known == attempts_.end()) return reply<Done>(then, Done{});
  if (!known->second.ended) return reply<Done>(then, Error{Errc::conflict, "it runs"});
  attempts_.erase(known);
  const Status forgotten = runner_.forget(id);
  reply<Done>(then, forgotten ? Result<Done>(Done{}) : Result<Done>(forgotten.error()));
}

void HostRuntime::exec(const std::string&, const std::vector<std::string>&, Duration, Then<ExecDone> then) {
  reply<ExecDone>(then, Error{Errc::invalid, "commands don't get into processes of the host"});
}

void HostRuntime::look(const std::string& id, Then<ContainerSeen> then) {
  const auto known = attempts_.find(id);
  if (known == attempts_.end()) return reply<ContainerSeen>(then, Error{Errc::not_found, "it is gone"});
  reply<ContainerSeen>(then, seen_of(known->second));
}

void HostRuntime::list(Then<Inventory> then) {
  Inventory all;
  for (const auto& [key, attempt] : attempts_) {
    all.containers.push_back(seen_of(attempt));
    all.sandboxes.emplace(std::string(kSandbox) + job_of(key), job_of(key));
  }
  reply<Inventory>(then, all);
}

void HostRuntime::reopen_log(const std::string&, Then<Done> then) { reply<Done>(then, Done{}); }

}  // namespace drover::agent
