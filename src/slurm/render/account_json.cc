#include "slurm/render/account_json.h"

#include "slurm/render/json.h"

namespace drover::slurm {
namespace {

std::int64_t count(std::uint64_t n) { return static_cast<std::int64_t>(n); }

// Slurm's numbers of the resources it traces, and their names.
std::string tres_list(const Tres& tres) {
  std::vector<std::string> items;
  const auto add = [&items](std::string_view type, std::string_view name, std::int64_t id, std::int64_t amount) {
    if (amount == 0) return;
    items.push_back(
        JsonObject().text("type", type).text("name", name).number("id", id).number("count", amount).end());
  };
  add("cpu", "", 1, count(tres.cpus));
  add("mem", "", 2, tres.memory_mib);
  add("node", "", 4, count(tres.nodes));
  add("billing", "", 5, count(tres.billing));
  add("gres", "gpu", 1001, count(tres.gpus));
  return json_list(items);
}

std::string cpu_time(Duration time) {
  const std::int64_t ms = time.count();
  return JsonObject().number("seconds", ms / 1000).number("microseconds", ms % 1000 * 1000).end();
}

// "CANCELLED by 1000" without who.
std::string state_of_row(const AccountRow& row) {
  const std::string text = account_state(row);
  return text.substr(0, text.find(' '));
}

std::int64_t stamp(Instant at) { return time_of(at).value_or(0); }

void add_usage(JsonObject& time, const Usage& usage) {
  time.raw("system", cpu_time(usage.system_cpu)).raw("user", cpu_time(usage.user_cpu));
  time.raw("total", cpu_time(usage.system_cpu + usage.user_cpu));
}

std::int64_t count_of(const std::vector<std::string>& hosts) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(hosts.size()));
}

std::string step_object(const AccountRow& row, const AccountLook& look) {
  const HistoryRow& job = *row.job;
  JsonObject time;
  time.number("elapsed", account_elapsed_s(job, look.look.now)).number("suspended", 0);
  time.maybe("start", time_of(job.started)).maybe("end", time_of(job.ended));
  add_usage(time, job.usage);
  std::vector<std::string> hosts;
  if (row.step != nullptr) hosts = job.nodes;
  else if (!job.nodes.empty()) hosts.push_back(job.nodes.front());
  const std::string name = row.step == nullptr ? "batch" : std::to_string(row.step->number);
  JsonObject m;
  m.raw("step", JsonObject()
                    .text("id", std::to_string(job.job.value()) + "." + name)
                    .text("name", row.step == nullptr ? name : job.name)
                    .end());
  m.words("state", {state_of_row(row)}).raw("exit_code", json_exit(account_exit(row))).raw("time", time.end());
  m.raw("nodes", JsonObject()
                      .number("count", count_of(hosts)).text("range", nodes_text(hosts))
                      .words("list", hosts)
                      .end());
  m.raw("tasks", JsonObject().number("count", row.step == nullptr ? 1 : row.step->task_count).end());
  m.raw("tres", JsonObject().raw("allocated", tres_list(account_granted(row))).end());
  return m.end();
}

std::string time_object(const HistoryRow& job, const AccountLook& look) {
  const bool unlimited = job.limit.count() == 0;
  JsonObject time;
  time.number("elapsed", account_elapsed_s(job, look.look.now)).number("suspended", 0);
  time.number("submission", stamp(job.submitted)).number("eligible", stamp(job.eligible));
  time.number("start", stamp(job.started)).number("end", stamp(job.ended));
  time.maybe("limit", unlimited ? std::nullopt : std::optional(seconds_of(job.limit) / 60), unlimited);
  add_usage(time, job.usage);
  return time.end();
}

std::string array_object(const HistoryRow& job) {
  return JsonObject()
      .number("job_id", count(job.array.value()))
      .maybe("task_id", job.task == kNoTask ? std::nullopt : std::optional<std::int64_t>(job.task))
      .text("task", job.pending_tasks)
      .end();
}

std::optional<std::int64_t> memory_asked(const HistoryRow& job, MemoryRule rule) {
  return job.request.memory_rule == rule ? std::optional(mib(job.request.memory)) : std::nullopt;
}

std::string job_object(const AccountRow& row, const std::vector<std::string>& steps, const AccountLook& look) {
  const HistoryRow& job = *row.job;
  JsonObject m;
  m.number("job_id", count(job.job.value())).text("name", job.name).text("cluster", look.cluster);
  m.raw("state", JsonObject().words("current", {state_of_row(row)}).text("reason", reason_word(job.reason)).end());
  m.raw("exit_code", json_exit(account_exit(row))).raw("derived_exit_code", json_exit(job.highest_exit));
  m.raw("array", array_object(job)).raw("time", time_object(job, look));
  m.text("user", job.user).text("group", job.group).text("account", job.account).text("qos", job.qos);
  m.raw("association", JsonObject()
                           .text("account", job.account)
                           .text("cluster", look.cluster)
                           .text("partition", "")
                           .text("user", job.user)
                           .end());
  m.text("partition", job.partition).text("constraints", job.request.features);
  m.text("nodes", job.nodes.empty() ? "None assigned" : nodes_text(job.nodes));
  m.number("allocation_nodes", job.nodes.empty() ? 0 : job.node_count).number("restart_cnt", job.restarts);
  m.maybe("priority", job.priority);
  m.raw("required", JsonObject()
                        .number("CPUs", job.cpus_asked)
                        .maybe("memory_per_cpu", memory_asked(job, MemoryRule::per_cpu))
                        .maybe("memory_per_node", memory_asked(job, MemoryRule::per_node))
                        .end());
  m.raw("tres", JsonObject()
                    .raw("allocated", tres_list(account_granted(row)))
                    .raw("requested", tres_list(account_asked(job)))
                    .end());
  m.raw("comment", JsonObject().text("job", job.comment).text("administrator", "").text("system", "").end());
  m.raw("wckey", JsonObject().text("wckey", job.wckey).words("flags", {}).end());
  m.text("working_directory", job.work_dir).text("submit_line", job.submit_line);
  return m.raw("steps", json_list(steps)).end();
}

}  // namespace

std::string account_json(const std::vector<AccountRow>& rows, const AccountLook& look) {
  std::vector<std::string> jobs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const AccountRow& job = rows[i];
    std::vector<std::string> steps;
    while (i + 1 < rows.size() && rows[i + 1].batch_step) steps.push_back(step_object(rows[++i], look));
    jobs.push_back(job_object(job, steps, look));
  }
  return json_answer("jobs", jobs);
}

}  // namespace drover::slurm
