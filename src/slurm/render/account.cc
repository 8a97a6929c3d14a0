#include "slurm/render/account.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace drover::slurm {

std::optional<std::size_t> account_field_by_name(std::string_view name) {
  const auto fields = account_fields();
  std::optional<std::size_t> beginning;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (iequals(fields[i].name, name)) return i;
    if (!beginning && fields[i].name.size() > name.size() && iequals(fields[i].name.substr(0, name.size()), name)) {
      beginning = i;
    }
  }
  return beginning;
}

Result<std::vector<AccountColumn>> account_columns(std::string_view format) {
  return parse_account_columns(
      format, account_field_by_name, [](std::size_t field) { return account_fields()[field].width; }, "sacct");
}

std::int64_t account_elapsed_s(const HistoryRow& row, Instant now) {
  if (row.started == Instant{}) return 0;
  return std::max<std::int64_t>(0,
                                unix_seconds(row.ended == Instant{} ? now : row.ended) - unix_seconds(row.started));
}

Tres account_asked(const HistoryRow& row) {
  return asked_tres(
      row.request,
      {.cpus = row.cpus_asked, .memory_mib = mib(row.memory), .nodes = row.node_count, .tasks = row.task_count});
}

Tres account_granted(const AccountRow& row) {
  const HistoryRow& job = *row.job;
  return {.cpus = job.cpu_count,
          .memory_mib = mib(job.memory),
          .nodes = job.nodes.empty() ? 0 : job.node_count,
          .billing = row.batch_step ? 0 : job.cpu_count,
          .gpus = gpu_total(job.gpus)};
}

ExitStatus account_exit(const AccountRow& row) {
  const HistoryRow& job = *row.job;
  if (!row.batch_step) return shown_exit(job.cause, job.exit);
  switch (job.cause) {
    case Cause::cancelled:
    case Cause::time_limit:
    case Cause::requeued:
    case Cause::preempted:
    case Cause::deadline:
      return {.code = 0, .signal = 15};
    case Cause::none:
    case Cause::completed:
    case Cause::failed:
    case Cause::out_of_memory:
    case Cause::node_failed:
    case Cause::launch_failed:
    case Cause::unknown:
      return shown_exit(job.cause, job.exit);
  }
  return {};
}

std::string account_state(const AccountRow& row) {
  const HistoryRow& job = *row.job;
  const JobState state = job_state(job.phase, job.cause);
  const bool ended = job.phase == Phase::ended;
  if (!row.batch_step) {
    std::string text(
        state_word(state == JobState::configuring || state == JobState::completing ? JobState::running : state));
    if (state == JobState::cancelled) text += " by " + std::to_string(job.cancelled_by);
    return text;
  }
  if (!ended) return "RUNNING";
  switch (job.cause) {
    case Cause::completed:
      return "COMPLETED";
    case Cause::out_of_memory:
      return "OUT_OF_MEMORY";
    case Cause::failed:
      return row.step == nullptr && job.exit.signal != 0 ? "CANCELLED" : "FAILED";
    case Cause::launch_failed:
    case Cause::unknown:
      return "FAILED";
    case Cause::none:
      return "RUNNING";
    case Cause::cancelled:
    case Cause::time_limit:
    case Cause::node_failed:
    case Cause::preempted:
    case Cause::deadline:
    case Cause::requeued:
      return "CANCELLED";
  }
  return "";
}

namespace {

AccountRow step_row(const HistoryRow& job, const StepRow& step) {
  auto own = std::make_shared<HistoryRow>(job);
  own->name = step.name;
  own->phase = step.phase == StepPhase::ended ? Phase::ended : Phase::running;
  own->cause = step.cause;
  own->cancelled_by = step.cancelled_by;
  own->exit = step.exit;
  own->note = step.note;
  own->started = step.started;
  own->ended = step.ended;
  own->nodes = step.nodes;
  own->node_count = static_cast<std::uint32_t>(step.nodes.size());
  own->task_count = step.task_count;
  own->cpu_count = step.cpu_count;
  if (step.memory > Bytes{}) own->memory = step.memory;
  own->gpus = step.gpus;
  own->usage = step.usage;
  return {.job = own.get(), .batch_step = true, .step = &step, .own = own};
}

}  // namespace

std::vector<AccountRow> account_rows(std::vector<HistoryRow>& history, bool with_steps) {
  std::map<JobId, JobId> latest;
  for (const HistoryRow& row : history) {
    if (row.array) latest[row.array] = std::max(latest[row.array], row.job);
  }
  const auto place = [&latest](const HistoryRow& row) { return row.array ? latest[row.array] : row.job; };
  std::ranges::stable_sort(history, [&](const HistoryRow& a, const HistoryRow& b) {
    if (place(a) != place(b)) return place(a) < place(b);
    if (a.task != b.task) return a.task < b.task;
    return a.restarts < b.restarts;
  });
  std::vector<AccountRow> rows;
  for (const HistoryRow& row : history) {
    rows.push_back({.job = &row});
    if (!with_steps || row.attempt == 0 || row.started == Instant{} || row.cause == Cause::launch_failed) continue;
    if (!row.allocation) rows.push_back({.job = &row, .batch_step = true});
    for (const StepRow& step : row.steps) rows.push_back(step_row(row, step));
  }
  return rows;
}

std::string account_table(const AccountLayout& layout, const std::vector<AccountRow>& rows, const AccountLook& look,
                          bool header) {
  std::string text;
  std::vector<std::string> cells(layout.columns.size());
  if (header) {
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = account_fields()[layout.columns[i].field].name;
    AccountLayout cut = layout;
    text += account_line(cut, cells);
    text += account_rule(layout);
  }
  for (const AccountRow& row : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i] = account_fields()[layout.columns[i].field].text(row, look);
    }
    text += account_line(layout, cells);
  }
  return text;
}

std::string account_help_format() {
  constexpr std::size_t kColumns = 4;
  constexpr std::size_t kWidth = 19;
  std::string text;
  std::size_t column = 0;
  for (const AccountField& field : account_fields()) {
    text += field.name;
    text.append(field.name.size() < kWidth ? kWidth - field.name.size() : 0, ' ');
    text += ++column % kColumns == 0 ? "\n" : " ";
  }
  if (column % kColumns != 0) text.back() = '\n';
  return text;
}

}  // namespace drover::slurm
