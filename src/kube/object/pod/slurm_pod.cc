#include "kube/object/pod/slurm_pod.h"

#include <algorithm>

#include "base/text.h"
#include "kube/object/pod/parts.h"
#include "kube/object/times.h"
#include "kube/object/uid.h"
#include "kube/select/quantity.h"

namespace drover::kube {
namespace {

// What a label may hold: other letters become dashes.
std::string label_text(const std::string& text) {
  std::string value;
  for (const char c : text.substr(0, 63)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '.' || c == '_';
    value += plain ? c : '-';
  }
  const auto plain_end = value.find_last_not_of("-_.");
  value.resize(plain_end == std::string::npos ? 0 : plain_end + 1);
  value.erase(0, std::min(value.find_first_not_of("-_."), value.size()));
  return value;
}

struct Amounts {
  std::int64_t cpus = 0;
  std::int64_t memory = 0;
  std::int64_t gpus = 0;
};

std::int64_t count_of(const std::vector<GpuAsk>& asks) {
  std::int64_t count = 0;
  for (const GpuAsk& ask : asks) count += ask.count;
  return count;
}

// On one node, as far as a request says before it is placed.
Amounts asked(const Request& request) {
  const std::int64_t nodes = std::max(1U, request.min_nodes);
  const std::int64_t tasks = std::max<std::int64_t>(1, (request.tasks + nodes - 1) / nodes);
  Amounts amounts{.cpus = tasks * request.cpus_per_task};
  amounts.gpus = count_of(request.gpus_per_node) + count_of(request.gpus_per_task) * tasks +
                 (count_of(request.gpus_per_job) + nodes - 1) / nodes;
  const std::int64_t memory = request.memory.count();
  if (request.memory_rule == MemoryRule::per_node) amounts.memory = memory;
  if (request.memory_rule == MemoryRule::per_cpu) amounts.memory = memory * amounts.cpus;
  if (request.memory_rule == MemoryRule::per_gpu) amounts.memory = memory * amounts.gpus;
  return amounts;
}

Amounts granted(const NodeShare& share) {
  return {.cpus = share.cpus.count(),
          .memory = share.memory.count(),
          .gpus = static_cast<std::int64_t>(share.devices.size())};
}

Object resources_of(const Amounts& amounts) {
  Object list;
  if (amounts.cpus > 0) list["cpu"] = std::to_string(amounts.cpus);
  if (amounts.memory > 0) {
    list["memory"] = kube::Quantity::of(amounts.memory, kube::Quantity::Format::binary).text();
  }
  if (amounts.gpus > 0) list[kGpuResource] = std::to_string(amounts.gpus);
  Object limits = list;  // GPUs, CPUs and memory are held apart from other jobs'
  return {{"limits", std::move(limits)}, {"requests", std::move(list)}};
}

const Placement* placement_of(const Job& job) {
  const Placement* placement = job.run->placement.get();
  const bool has =
      job.phase != Phase::waiting && placement != nullptr && !placement->shares.empty();
  return has ? placement : nullptr;
}

std::string nodes_of(const Cluster& cluster, const Placement& placement) {
  std::vector<std::string> names;
  for (const NodeShare& share : placement.shares) names.push_back(cluster.node(share.node).name());
  return join(names, ",");
}

Object metadata_of(const Cluster& cluster, const Job& job, const SlurmPodView& view) {
  const std::string name = slurm_pod_name(job);
  Object labels{{"drover.dev/job-id", std::to_string(job.id.value())}};
  const auto label = [&](const char* key, const std::string& text) {
    const std::string value = label_text(text);
    if (!value.empty()) labels[key] = value;
  };
  label("drover.dev/job-name", job.name);
  label("drover.dev/user", cluster.text(job.user));
  label("drover.dev/account", cluster.text(job.account));
  label("drover.dev/partition", cluster.text(job.partition));
  Object annotations{{"drover.dev/read-only", "a Slurm job: delete is scancel"}};
  if (const Placement* placement = placement_of(job)) {
    annotations["drover.dev/nodes"] = nodes_of(cluster, *placement);
  }
  if (job.pending) annotations["drover.dev/waiting-tasks"] = std::to_string(job.pending->count());
  return {{"name", name},
          {"namespace", view.space},
          {"uid", stable_uid(view.cluster, "job/" + std::to_string(job.id.value()))},
          {"resourceVersion", std::to_string(job.version)},
          {"creationTimestamp", time_text(job.submitted)},
          {"labels", std::move(labels)},
          {"annotations", std::move(annotations)}};
}

// A job's one container, as its node would report it.
PodStatus status_of(const Job& job) {
  const Run& run = *job.run;
  ContainerStatus one{.name = "job", .image = "host"};
  if (job.phase == Phase::ended) {
    one.state = {.phase = ContainerPhase::terminated, .exit = run.exit};
    one.state.reason = job.cause == Cause::completed       ? "Completed"
                       : job.cause == Cause::out_of_memory ? "OOMKilled"
                                                           : "Error";
    one.state.finished = run.ended;
    // An end without an exit status of its own isn't a success.
    const bool none = run.exit == ExitStatus{};
    if (none && job.cause != Cause::completed) one.state.exit = {.code = 137};
  } else if (job.phase == Phase::placed) {
    one.state.reason = "ContainerCreating";
  } else {
    one.state.phase = ContainerPhase::running;
    one.ready = one.started = true;
  }
  if (one.state.phase != ContainerPhase::waiting) one.state.started = run.started;
  one.restarts = run.restarts;
  return {.containers = {one},
          .started = run.started,
          .initialized = true,
          .initialized_at = run.started,
          .ready_since = job.phase == Phase::ended ? run.ended : run.started};
}

Object spec_of(const Cluster& cluster, const Job& job) {
  const Placement* placement = placement_of(job);
  const Amounts amounts =
      placement != nullptr ? granted(placement->shares.front()) : asked(cluster.request(job));
  Object container{{"name", "job"},
                   {"image", "host"},
                   {"resources", resources_of(amounts)},
                   {"terminationMessagePath", "/dev/termination-log"},
                   {"terminationMessagePolicy", "File"},
                   {"imagePullPolicy", "IfNotPresent"}};
  Object spec{{"containers", Array{std::move(container)}},
              {"restartPolicy", "Never"},
              {"terminationGracePeriodSeconds", 30},
              {"dnsPolicy", "Default"},
              {"hostNetwork", true},
              {"securityContext",
               Object{{"runAsUser", std::int64_t{job.uid}}, {"runAsGroup", std::int64_t{job.gid}}}},
              {"schedulerName", "drover"}};
  if (placement != nullptr) spec["nodeName"] = cluster.node(placement->shares.front().node).name();
  return spec;
}

}  // namespace

std::string slurm_pod_name(const Job& job) {
  const bool task = job.task != kNoTask;
  const JobId id = task && job.array ? job.array : job.id;
  const std::string name = "job-" + std::to_string(id.value());
  return task ? name + "-" + std::to_string(job.task) : name;
}

std::optional<SlurmPodName> slurm_pod_of(std::string_view name) {
  if (!name.starts_with("job-")) return std::nullopt;
  name.remove_prefix(4);
  const auto dash = name.find('-');
  const auto id = parse_uint(name.substr(0, dash));
  if (!id || *id == 0) return std::nullopt;
  SlurmPodName found{.job = JobId(*id)};
  if (dash == std::string_view::npos) return found;
  const auto task = parse_uint(name.substr(dash + 1));
  if (!task || *task >= kNoTask) return std::nullopt;
  found.task = static_cast<std::uint32_t>(*task);
  return found;
}

Value pod_of_slurm_job(const Cluster& cluster, const Job& job, const SlurmPodView& view) {
  Value pod = Object{{"kind", "Pod"},
                     {"apiVersion", "v1"},
                     {"metadata", metadata_of(cluster, job, view)},
                     {"spec", spec_of(cluster, job)}};
  Job shown = job;
  if (placement_of(job) != nullptr) {
    shown.run.edit().pod = std::make_shared<const PodStatus>(status_of(job));
  }
  render_pod(pod, cluster, shown, view.pod);
  return pod;
}

}  // namespace drover::kube
