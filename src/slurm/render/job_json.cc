#include "slurm/render/job_json.h"

#include <optional>

#include "slurm/render/json.h"

namespace drover::slurm {
namespace {

std::string job_object(const api::JobView& job, const Look& look) {
  const std::string state(state_word(job_state(job.phase, job.cause)));
  const JobSpec spec = job.spec.value_or(JobSpec{});
  const ExitStatus exit = shown_exit(job.cause, job.exit);
  JsonObject m;
  m.number("job_id", static_cast<std::int64_t>(job.id.value())).text("name", job.name).words("job_state", {state});
  m.maybe("array_job_id", static_cast<std::int64_t>(job.array.value()));
  m.maybe("array_task_id", job.task == kNoTask ? std::nullopt : std::optional<std::int64_t>(job.task));
  m.text("array_task_string", job.pending ? array_task_text(job) : "");
  m.text("user_name", job.user).number("user_id", job.uid).text("group_name", job.group).number("group_id", job.gid);
  m.text("account", job.account).text("qos", job.qos);
  m.text("partition", job.phase == Phase::waiting ? job.partitions : job.partition);
  m.text("state_reason", reason_text(job)).flag("hold", job.hold != Hold::none);
  m.maybe("priority", job.priority).number("nice", job.nice).flag("requeue", job.requeue);
  m.number("restart_cnt", job.restarts);
  m.text("nodes", nodes_text(job.nodes)).text("batch_host", job.nodes.empty() ? "" : job.nodes.front());
  m.maybe("node_count", job.node_count).maybe("cpus", job.cpu_count).maybe("tasks", job.task_count);
  m.text("tres_req_str", print_tres(asked_tres(job))).text("tres_alloc_str", print_tres(granted_tres(job)));
  m.text("tres_per_node", gpu_asks_text(job.request.gpus_per_node));
  m.text("features", job.request.features).text("dependency", job.dependency ? dependency_text(*job.dependency) : "");
  m.text("required_nodes", nodes_text(job.request.include_nodes));
  m.text("excluded_nodes", nodes_text(job.request.exclude_nodes));
  const bool unlimited = job.limit.count() == 0;
  m.maybe("time_limit", unlimited ? std::nullopt : std::optional(seconds_of(job.limit) / 60), unlimited);
  m.maybe("submit_time", time_of(job.submitted)).maybe("eligible_time", time_of(job.eligible));
  m.maybe("start_time", start_of(job, look.now)).maybe("end_time", end_of(job, look.now));
  m.raw("exit_code", json_exit(exit)).raw("derived_exit_code", json_exit(job.highest_exit));
  m.flag("batch_flag", !job.allocation);
  m.text("current_working_directory", spec.work_dir).text("command", spec.command).text("comment", spec.comment);
  m.text("standard_output", spec.stdout_path).text("standard_error", spec.stderr_path);
  m.text("standard_input", spec.stdin_path).text("wckey", spec.wckey).text("submit_line", spec.submit_line);
  return m.end();
}

}  // namespace

std::string jobs_json(const std::vector<api::JobView>& jobs, const Look& look) {
  std::vector<std::string> items;
  for (const api::JobView& job : jobs) items.push_back(job_object(job, look));
  return json_answer("jobs", items, unix_seconds(look.now));
}

std::string job_ids_json(const std::vector<JobId>& jobs) {
  std::vector<std::string> items;
  for (const JobId job : jobs)
    items.push_back(JsonObject().number("job_id", static_cast<std::int64_t>(job.value())).end());
  return json_answer("jobs", items);
}

}  // namespace drover::slurm
