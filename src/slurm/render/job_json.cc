#include "slurm/render/job_json.h"

#include <cstdio>
#include <optional>

namespace drover::slurm {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

// Members of one object, a line each.
class Members {
 public:
  Members& raw(std::string_view name, const std::string& value) {
    text_ += text_.empty() ? "\n      " : ",\n      ";
    text_ += quoted(name) + ": " + value;
    return *this;
  }
  Members& text(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }
  Members& number(std::string_view name, std::int64_t value) { return raw(name, std::to_string(value)); }
  Members& flag(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  // Slurm's way to write a number that may be missing or without bound.
  Members& maybe(std::string_view name, std::optional<std::int64_t> value, bool infinite = false) {
    return raw(name, std::string("{\"set\": ") + (value ? "true" : "false") + ", \"infinite\": " +
                         (infinite ? "true" : "false") + ", \"number\": " + std::to_string(value.value_or(0)) + "}");
  }
  [[nodiscard]] std::string end() const { return "{" + text_ + "\n    }"; }

 private:
  std::string text_;
};

std::string job_object(const api::JobView& job, const Look& look) {
  const std::string state = "[" + quoted(state_word(job_state(job.phase, job.cause))) + "]";
  const JobSpec spec = job.spec.value_or(JobSpec{});
  Members m;
  m.number("job_id", static_cast<std::int64_t>(job.id.value())).text("name", job.name).raw("job_state", state);
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
  m.raw("exit_code", "{\"return_code\": " + std::to_string(job.exit.code) +
                         ", \"signal\": " + std::to_string(job.exit.signal) + "}");
  m.text("current_working_directory", spec.work_dir).text("command", spec.command).text("comment", spec.comment);
  m.text("standard_output", spec.stdout_path).text("standard_error", spec.stderr_path);
  m.text("standard_input", spec.stdin_path).text("wckey", spec.wckey).text("submit_line", spec.submit_line);
  return m.end();
}

}  // namespace

std::string jobs_json(const std::vector<api::JobView>& jobs, const Look& look) {
  std::string text = "{\n  \"jobs\": [";
  for (const api::JobView& job : jobs) {
    text += &job == jobs.data() ? "\n    " : ",\n    ";
    text += job_object(job, look);
  }
  text += jobs.empty() ? "],\n" : "\n  ],\n";
  text += "  \"last_update\": {\"set\": true, \"infinite\": false, \"number\": " +
          std::to_string(unix_seconds(look.now)) + "},\n";
  text +=
      "  \"meta\": {\"plugin\": {\"data_parser\": \"data_parser/v0.0.44\"},\n"
      "    \"slurm\": {\"version\": {\"major\": \"26\", \"minor\": \"05\", \"micro\": \"3\"}, \"release\": "
      "\"26.05.3\"}},\n";
  return text + "  \"errors\": [],\n  \"warnings\": []\n}\n";
}

}  // namespace drover::slurm
