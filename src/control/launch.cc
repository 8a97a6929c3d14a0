#include "control/launch.h"

#include <algorithm>

#include "base/proto.h"

namespace drover::control {
namespace {

std::vector<std::string> uuids_of(const Cluster& cluster, const NodeShare& share) {
  std::vector<std::string> uuids;
  for (const Grant& grant : share.devices) uuids.push_back(cluster.device(grant.device).info.uuid);
  return uuids;
}

}  // namespace

Result<Launch> make_launch(const Cluster& cluster, const Job& job, const NodeShare& share, Payloads& payloads,
                           const DoorLaunches& doors) {
  const JobSpec spec = TRY(payloads.spec(job.spec));
  const Settings& settings = cluster.config().settings;
  Launch launch{.user = cluster.text(job.user),
                .uid = job.uid,
                .gid = job.gid,
                .script = spec.script,
                .arguments = spec.arguments,
                .work_dir = spec.work_dir,
                .append_output = spec.append_output,
                .umask = spec.umask,
                .rlimits = spec.rlimits,
                .cpus = share.all_cpus(),
                .memory = share.memory,
                .limit = job.limit,
                .grace = settings.kill_grace,
                .warn = spec.warn,
                .no_new_privs = settings.no_new_privs,
                .run = !job.allocation && share.node == job.run->placement->shares.front().node};
  launch.device_uuids = uuids_of(cluster, share);
  launch.pod = job.pod;
  if (job.pod) return launch;
  const auto door = doors.find(spec.door);
  if (door == doors.end() || !door->second.batch) return Error{Errc::invalid, "no door called " + spec.door};
  std::shared_ptr<const std::string> environment;
  if (spec.environment) environment = TRY(payloads.get(spec.environment));
  door->second.batch({.cluster = cluster, .job = job, .share = share, .spec = spec,
                      .environment = environment ? std::string_view(*environment) : std::string_view{}},
                     launch);
  return launch;
}

Result<PodLaunch> make_pod_launch(const Cluster& cluster, const Job& job, NodeId node, Payloads& payloads,
                                  const DoorLaunches& doors) {
  const JobSpec spec = TRY(payloads.spec(job.spec));
  const auto door = doors.find(spec.door);
  if (door == doors.end() || !door->second.pod) return Error{Errc::invalid, "no door makes pods: " + spec.door};
  const auto& shares = job.run->placement->shares;
  const auto share = std::ranges::find(shares, node, &NodeShare::node);
  PodLaunch launch = TRY(door->second.pod(cluster, job, *share));
  launch.user = job.uid;
  launch.group = job.gid;
  launch.cpus = share->all_cpus();
  launch.memory = share->memory;
  launch.device_uuids = uuids_of(cluster, *share);
  return launch;
}

Result<StepLaunch> make_step_launch(const Cluster& cluster, const Job& job, const Step& step, const StepShare& share,
                                    Payloads& payloads, const DoorLaunches& doors) {
  const auto bytes = TRY(payloads.get(step.spec));
  const StepSpec spec = TRY(decode<StepSpec>(*bytes));
  const auto door = doors.find(spec.door);
  if (door == doors.end() || !door->second.step) return Error{Errc::invalid, "no door makes steps: " + spec.door};
  const auto same_node = [&](const NodeShare& of_job) { return of_job.node == share.share.node; };
  const auto of_job = std::ranges::find_if(job.run->placement->shares, same_node);
  const Settings& settings = cluster.config().settings;
  StepLaunch launch{.user = cluster.text(job.user),
                    .uid = job.uid,
                    .gid = job.gid,
                    .ticket = step.ticket,
                    .work_dir = spec.work_dir,
                    .append_output = spec.append_output,
                    .umask = spec.umask,
                    .rlimits = spec.rlimits,
                    .input_task = spec.input_task,
                    .pty = spec.pty,
                    .rows = spec.rows,
                    .columns = spec.columns,
                    .cpus = share.share.cpus,
                    .memory = share.share.memory,
                    .device_uuids = uuids_of(cluster, share.share),
                    .job_cpus = of_job->cpus,
                    .job_memory = of_job->memory,
                    .job_device_uuids = uuids_of(cluster, *of_job),
                    .limit = step.limit,
                    .grace = settings.kill_grace,
                    .no_new_privs = settings.no_new_privs};
  door->second.step(cluster, job, step, spec, share, launch);
  return launch;
}

}  // namespace drover::control
