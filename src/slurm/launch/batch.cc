#include "slurm/launch/batch.h"

#include "slurm/launch/environment.h"
#include "slurm/script/logname.h"

namespace drover::slurm {
namespace {

std::string path_of(const api::JobView& job, const std::string& pattern) {
  LogNames names{.job = job.id.value(), .array_job = job.array ? job.array.value() : job.id.value()};
  if (job.task != kNoTask) names.task = job.task;
  names.job_name = job.name;
  names.user = job.user;
  if (!job.nodes.empty()) names.node = job.nodes.front();
  names.restarts = job.restarts;
  const std::string path = expand_log_name(pattern, names);
  return path.starts_with('/') ? path : job.spec->work_dir + "/" + path;
}

}  // namespace

JobFiles job_files(const api::JobView& job) {
  const JobSpec& spec = *job.spec;
  JobFiles files;
  files.in = spec.stdin_path.empty() ? "/dev/null" : path_of(job, spec.stdin_path);
  const bool array = static_cast<bool>(job.array);
  files.out = path_of(job, spec.stdout_path.empty() ? std::string(default_log_name(array)) : spec.stdout_path);
  if (!spec.stderr_path.empty()) files.err = path_of(job, spec.stderr_path);
  return files;
}

void fill_batch(const Cluster& cluster, const Job& job, const JobSpec& spec, std::string_view environment,
                Launch& launch) {
  api::JobView view = api::job_view(cluster, job, api::Fields{});
  view.spec = spec;
  LaunchFacts facts{.cluster_name = cluster.config().settings.cluster_name};
  if (job.array_info) facts.array = *job.array_info;
  launch.environment = batch_environment(view, environment, facts);
  launch.arguments = spec.arguments;
  launch.work_dir = spec.work_dir;
  const JobFiles files = job_files(view);
  launch.stdin_path = files.in;
  launch.stdout_path = files.out;
  launch.stderr_path = files.err;
}

}  // namespace drover::slurm
