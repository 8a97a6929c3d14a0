#include "control/launch.h"

#include "base/proto.h"

namespace drover::control {

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
                .cpus = share.cpus,
                .memory = share.memory,
                .limit = job.limit,
                .grace = settings.kill_grace,
                .warn = spec.warn,
                .no_new_privs = settings.no_new_privs,
                .run = share.node == job.placement->shares.front().node};
  for (const Grant& grant : share.devices) launch.device_uuids.push_back(cluster.device(grant.device).info.uuid);
  const auto door = doors.find(spec.door);
  if (door == doors.end()) return Error{Errc::invalid, "no door called " + spec.door};
  std::shared_ptr<const std::string> environment;
  if (spec.environment) environment = TRY(payloads.get(spec.environment));
  door->second({.cluster = cluster, .job = job, .share = share, .spec = spec,
                .environment = environment ? std::string_view(*environment) : std::string_view{}},
               launch);
  return launch;
}

}  // namespace drover::control
