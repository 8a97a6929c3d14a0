#include "api/views.h"

#include <algorithm>
#include <map>

namespace drover::api {
namespace {

std::vector<GpuAsk> by_model(const Cluster& cluster, const std::vector<Grant>& grants) {
  std::map<std::string, std::uint32_t> counts;
  for (const Grant& grant : grants) {
    const DeviceInfo& info = cluster.device(grant.device).info;
    if (info.kind == "gpu") ++counts[info.model];
  }
  std::vector<GpuAsk> asks;
  for (const auto& [model, count] : counts) asks.push_back({.model = model, .count = count});
  return asks;
}

ShareView share_view(const Cluster& cluster, const NodeShare& share) {
  ShareView view{.node = cluster.node(share.node).name(),
                 .tasks = share.tasks,
                 .cpus = share.all_cpus().text(),
                 .cpu_count = share.cpu_count(),
                 .memory = share.memory,
                 .gpus = by_model(cluster, share.devices)};
  for (const Grant& grant : share.devices) view.gpu_indexes.push_back(cluster.device(grant.device).info.index);
  return view;
}

std::vector<std::string> node_names(const Cluster& cluster, const Placement& placement) {
  std::vector<std::string> names;
  for (const NodeShare& share : placement.shares) names.push_back(cluster.node(share.node).name());
  return names;
}

// What the job holds, or held in its last attempt.
void fill_granted(const Cluster& cluster, const Placement& placement, const Fields& fields, JobView& view) {
  if (fields.has(37)) view.nodes = node_names(cluster, placement);
  std::map<std::string, std::uint32_t> gpus;
  for (const NodeShare& share : placement.shares) {
    if (fields.has(38)) view.shares.push_back(share_view(cluster, share));
    view.cpu_count += share.cpu_count();
    view.task_count += share.tasks;
    view.memory += share.memory;
    if (fields.has(47)) {
      for (const GpuAsk& ask : by_model(cluster, share.devices)) gpus[ask.model] += ask.count;
    }
  }
  view.node_count = static_cast<std::uint32_t>(placement.shares.size());
  for (const auto& [model, count] : gpus) view.gpus.push_back({.model = model, .count = count});
}

// What a request comes to at least, for a job that holds nothing yet.
void fill_asked(const Request& request, JobView& view) {
  const std::uint32_t nodes = std::max(request.min_nodes, 1U);
  std::uint32_t tasks = request.tasks;
  if (tasks == 0) tasks = nodes * std::max(request.tasks_per_node, 1U);
  view.node_count = nodes;
  view.task_count = tasks;
  const std::uint32_t cpus = std::max(request.cpus_per_task, request.cpu_milli > 0 ? 0U : 1U);
  view.cpu_count = std::max(tasks * cpus + nodes * ((request.cpu_milli + 999) / 1000), nodes);
}

}  // namespace

const std::vector<std::uint32_t>& job_view_fields() {
  static const std::vector<std::uint32_t> numbers = [] {
    std::vector<std::uint32_t> all;
    const auto collect = [&all](std::uint32_t number, std::string_view, const auto&) { all.push_back(number); };
    const JobView view;
    JobView::describe(view, collect);
    return all;
  }();
  return numbers;
}

JobView job_view(const Cluster& cluster, const Job& job, const Fields& fields) {
  JobView view{.id = job.id,
               .array = job.array,
               .task = job.task,
               .uid = job.uid,
               .gid = job.gid,
               .phase = job.phase,
               .cause = job.cause,
               .hold = job.hold,
               .reason = job.reason,
               .priority = job.hold == Hold::none ? job.priority : 0,
               .nice = job.nice,
               .submitted = job.submitted,
               .begin = job.begin,
               .eligible = job.eligible,
               .started = job.run->started,
               .ended = job.run->ended,
               .limit = job.limit,
               .min_limit = job.min_limit,
               .deadline = job.deadline,
               .attempt = job.run->attempt,
               .restarts = job.run->restarts,
               .requeue = job.requeue,
               .node_lost = job.node_lost,
               .cancelled_by = job.run->cancelled_by,
               .exit = job.run->exit,
               .spec_hash = job.spec,
               .allocation = job.allocation,
               .highest_exit = cluster.steps(job.id).highest};
  if (fields.has(4) && job.pending) view.pending = *job.pending;
  if (fields.has(5)) view.name = job.name;
  if (fields.has(6)) view.user = cluster.text(job.user);
  if (fields.has(8)) view.group = cluster.text(job.group);
  if (fields.has(10)) view.account = cluster.text(job.account);
  if (fields.has(11)) view.qos = cluster.text(job.qos);
  if (fields.has(12)) view.partitions = cluster.text(job.partitions);
  if (fields.has(13)) view.partition = cluster.text(job.partition);
  if (fields.has(18) && job.run->note) view.note = *job.run->note;
  if (fields.has(35)) view.request = cluster.request(job);
  if (fields.has(36) && job.dependency) view.dependency = *job.dependency;
  if (job.run->placement && job.phase != Phase::waiting) {
    fill_granted(cluster, *job.run->placement, fields, view);
  } else {
    fill_asked(cluster.request(job), view);
  }
  if (fields.has(39) || fields.has(40)) {
    const auto reserved = cluster.reservations().find(job.id);
    if (reserved != cluster.reservations().end()) {
      view.expected_start = reserved->second.start;
      view.expected_nodes = node_names(cluster, reserved->second.placement);
    }
  }
  return view;
}

StepView step_view(const Cluster& cluster, const Job& job, const Step& step) {
  StepView view{.job = job.id,
                .array = job.array,
                .task = job.task,
                .number = step.number,
                .attempt = step.attempt,
                .name = step.name,
                .user = cluster.text(job.user),
                .uid = job.uid,
                .account = cluster.text(job.account),
                .partition = cluster.text(job.partition),
                .phase = step.phase,
                .cause = step.cause,
                .exit = step.exit,
                .usage = step.usage,
                .note = step.note,
                .started = step.started,
                .ended = step.ended,
                .limit = step.limit,
                .request = step.request,
                .spec_hash = step.spec};
  for (const StepShare& part : step.shares) {
    const NodeInventory& node = cluster.node(part.share.node).inventory;
    view.shares.push_back({.share = share_view(cluster, part.share),
                           .tasks = part.tasks,
                           .over = !step.uses(part.share.node),
                           .address = node.address,
                           .stream_path = node.stream_path,
                           .stream_address = node.stream_address});
    view.task_count += part.share.tasks;
    view.cpu_count += part.share.cpus.count();
  }
  return view;
}

bool in_partition(const Partition& partition, const std::string& node) {
  return partition.nodes.empty() || std::ranges::find(partition.nodes, node) != partition.nodes.end();
}

NodeView node_view(const Cluster& cluster, const Node& node, const NodePulse& pulse) {
  NodeView view{.node = node,
                .cpus_used = node.cpus_used.count(),
                .cpus_used_list = node.cpus_used.text(),
                .memory_used = node.memory_used,
                .jobs = {node.jobs.begin(), node.jobs.end()},
                .exclusive = node.exclusive > 0,
                .load_centi = pulse.load_centi,
                .memory_free = pulse.memory_free};
  for (const auto& [job, reservation] : cluster.reservations()) {
    for (const NodeShare& share : reservation.placement.shares) view.planned |= share.node == node.id;
  }
  for (const Partition& partition : cluster.config().partitions) {
    if (in_partition(partition, node.name())) view.partitions.push_back(partition.name);
  }
  return view;
}

PartitionView partition_view(const Cluster& cluster, const Partition& partition) {
  PartitionView view{.partition = partition};
  std::map<std::string, std::uint32_t> gpus;
  for (const Node& node : cluster.nodes()) {
    if (!in_partition(partition, node.name())) continue;
    view.nodes.push_back(node.name());
    view.cpus += node.inventory.cpus;
    view.memory += node.inventory.memory;
    for (const Device& device : node.devices) {
      if (device.info.kind == "gpu") ++gpus[device.info.model];
    }
  }
  for (const auto& [model, count] : gpus) view.gpus.push_back({.model = model, .count = count});
  return view;
}

}  // namespace drover::api
