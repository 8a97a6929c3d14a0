// The columns of sacct, in the order of --helpformat.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "slurm/render/account.h"
#include "slurm/script/memory.h"

namespace drover::slurm {
namespace {

using Row = const AccountRow&;
using Lk = const AccountLook&;

std::string number(std::uint64_t n) { return std::to_string(n); }
std::string nothing(Row, Lk) { return ""; }
std::string zero(Row, Lk) { return "0"; }
std::string unknown(Row, Lk) { return "Unknown"; }

// For fields that only the job's own row has.
template <auto Get>
std::string of_job(Row row, Lk look) {
  return row.batch_step ? "" : Get(*row.job, look);
}

std::string base_id(const HistoryRow& row) {
  if (!row.pending_tasks.empty()) return number(row.job.value()) + "_[" + row.pending_tasks + "]";
  if (row.task != kNoTask) return number(row.array.value()) + "_" + number(row.task);
  return number(row.job.value());
}
std::string step_suffix(Row row) {
  if (row.step != nullptr) return "." + number(row.step->number);
  return row.batch_step ? ".batch" : "";
}
std::string job_id(Row row, Lk) { return base_id(*row.job) + step_suffix(row); }
std::string raw_id(Row row, Lk) { return number(row.job->job.value()) + step_suffix(row); }
std::string job_name(Row row, Lk) {
  return row.batch_step && row.step == nullptr ? "batch" : printable(row.job->name, 1024);
}

std::uint32_t cpus(const HistoryRow& row) { return row.cpu_count; }
std::string alloc_cpus(Row row, Lk) { return number(cpus(*row.job)); }
std::string node_list(Row row, Lk) {
  if (row.job->nodes.empty()) return "None assigned";
  const bool script = row.batch_step && row.step == nullptr;
  return script ? row.job->nodes.front() : nodes_text(row.job->nodes);
}
std::string node_count(Row row, Lk) {
  return row.batch_step && row.step == nullptr ? "1" : number(row.job->node_count);
}

// A batch step is the script alone, whatever the job asked for.
std::string tasks_of_step(Row row, Lk) {
  if (!row.batch_step) return "";
  return row.step == nullptr ? "1" : number(row.step->task_count);
}
std::string derived_exit(const HistoryRow& row, Lk) { return exit_text(row.highest_exit); }

std::string elapsed(Row row, Lk look) { return long_duration(account_elapsed_s(*row.job, look.look.now)); }
std::string elapsed_raw(Row row, Lk look) { return std::to_string(account_elapsed_s(*row.job, look.look.now)); }
std::string cpu_time(Row row, Lk look) {
  return long_duration(account_elapsed_s(*row.job, look.look.now) * cpus(*row.job));
}
std::string cpu_time_raw(Row row, Lk look) {
  return std::to_string(account_elapsed_s(*row.job, look.look.now) * cpus(*row.job));
}

std::string stamp(Instant at, Lk look, std::string_view none) { return look.look.times.print(time_of(at), none); }
std::string start(Row row, Lk look) { return stamp(row.job->started, look, "Unknown"); }
std::string end(Row row, Lk look) { return stamp(row.job->ended, look, "Unknown"); }
std::string submit(Row row, Lk look) {
  return stamp(row.batch_step ? row.job->started : row.job->submitted, look, "Unknown");
}
std::string eligible(Row row, Lk look) {
  return stamp(row.batch_step ? row.job->started : row.job->eligible, look, "Unknown");
}

std::string planned(const HistoryRow& row, Lk look) {
  if (row.eligible == Instant{}) return "";
  const Instant until = row.started == Instant{} ? look.look.now : row.started;
  return long_duration(std::max<std::int64_t>(0, unix_seconds(until) - unix_seconds(row.eligible)));
}

std::string exit_code(Row row, Lk) {
  const ExitStatus exit = account_exit(row);
  return std::to_string(exit.code) + ":" + std::to_string(exit.signal);
}

std::string alloc_tres(Row row, Lk) { return print_tres_sorted(account_granted(row)); }
std::string req_tres(const HistoryRow& row, Lk) { return print_tres_sorted(account_asked(row)); }
std::string req_mem(const HistoryRow& row, Lk look) {
  return print_memory_mib(account_asked(row).memory_mib, look.look.convert);
}

// Measured by the shim; shown on the step, as in Slurm.
template <auto Get>
std::string of_step(Row row, Lk look) {
  return row.batch_step ? Get(*row.job, look) : "";
}
std::string kibibytes(std::int64_t bytes, bool convert) {
  if (bytes == 0) return "0";
  const std::int64_t kib = bytes >> 10;
  if (!convert || kib % 512 != 0) return std::to_string(kib) + "K";
  return kib % 1024 == 0 ? print_memory_mib(kib / 1024) : std::to_string(kib) + "K";
}
std::string max_rss(const HistoryRow& row, Lk look) {
  return kibibytes(row.usage.peak_memory.count(), look.look.convert);
}
std::string first_node(const HistoryRow& row, Lk) { return row.nodes.empty() ? "" : row.nodes.front(); }
std::string step_zero(const HistoryRow&, Lk) { return "0"; }
std::int64_t total_cpu(const HistoryRow& row) { return (row.usage.user_cpu + row.usage.system_cpu).count(); }
std::string average_cpu(const HistoryRow& row, Lk) { return long_duration(total_cpu(row) / 1000); }
std::string usage_in(const HistoryRow& row, Lk look) {
  return "cpu=" + average_cpu(row, look) + ",mem=" + max_rss(row, look);
}

std::string limit(const HistoryRow& row, Lk) {
  return row.limit.count() == 0 ? "UNLIMITED" : long_duration(seconds_of(row.limit));
}
std::string limit_raw(const HistoryRow& row, Lk) {
  return row.limit.count() == 0 ? "UNLIMITED" : std::to_string(seconds_of(row.limit) / 60);
}
std::string reason(const HistoryRow& row, Lk) { return std::string(reason_word(row.reason)); }

template <auto Member>
std::string text_of(const HistoryRow& row, Lk) {
  return printable(row.*Member, 8192);
}
template <auto Member>
std::string number_of(const HistoryRow& row, Lk) {
  return std::to_string(row.*Member);
}

constexpr std::array kFields{
    AccountField{"Account", 10, [](Row row, Lk) { return row.job->account; }},
    AccountField{"AdminComment", 19, nothing},
    AccountField{"AllocCPUS", 10, alloc_cpus},
    AccountField{"AllocNodes", 10, node_count},
    AccountField{"AllocTRES", 10, alloc_tres},
    AccountField{"AssocID", 7, zero},
    AccountField{"AveCPU", 10, of_step<average_cpu>},
    AccountField{"AveCPUFreq", 10, of_step<step_zero>},
    AccountField{"AveDiskRead", 14, nothing},
    AccountField{"AveDiskWrite", 14, nothing},
    AccountField{"AvePages", 10, of_step<step_zero>},
    AccountField{"AveRSS", 10, of_step<max_rss>},
    AccountField{"AveVMSize", 10, nothing},
    AccountField{"BlockID", 16, nothing},
    AccountField{"Cluster", 10, [](Row, Lk look) { return look.cluster; }},
    AccountField{"Comment", 14, of_job<text_of<&HistoryRow::comment>>},
    AccountField{"Constraints", 19, of_job<[](const HistoryRow& row, Lk) { return row.request.features; }>},
    AccountField{"ConsumedEnergy", 14, zero},
    AccountField{"ConsumedEnergyRaw", 17, zero},
    AccountField{"Container", 19, nothing},
    AccountField{"CPUTime", 10, cpu_time},
    AccountField{"CPUTimeRAW", 10, cpu_time_raw},
    AccountField{"DBIndex", 10, raw_id},
    AccountField{"DerivedExitCode", 15, of_job<derived_exit>},
    AccountField{"Elapsed", 10, elapsed},
    AccountField{"ElapsedRaw", 10, elapsed_raw},
    AccountField{"Eligible", 19, eligible},
    AccountField{"End", 19, end},
    AccountField{"ExitCode", 8, exit_code},
    AccountField{"Flags", 20, nothing},
    AccountField{"GID", 6, of_job<number_of<&HistoryRow::gid>>},
    AccountField{"Group", 9, of_job<text_of<&HistoryRow::group>>},
    AccountField{"JobID", -12, job_id},
    AccountField{"JobIDRaw", -12, raw_id},
    AccountField{"JobName", 10, job_name},
    AccountField{"Layout", 9, of_step<[](const HistoryRow&, Lk) { return std::string("Unknown"); }>},
    AccountField{"MaxDiskRead", 12, nothing},
    AccountField{"MaxDiskReadNode", 15, nothing},
    AccountField{"MaxDiskReadTask", 15, nothing},
    AccountField{"MaxDiskWrite", 12, nothing},
    AccountField{"MaxDiskWriteNode", 16, nothing},
    AccountField{"MaxDiskWriteTask", 16, nothing},
    AccountField{"MaxPages", 8, of_step<step_zero>},
    AccountField{"MaxPagesNode", 12, of_step<first_node>},
    AccountField{"MaxPagesTask", 14, of_step<step_zero>},
    AccountField{"MaxRSS", 10, of_step<max_rss>},
    AccountField{"MaxRSSNode", 10, of_step<first_node>},
    AccountField{"MaxRSSTask", 10, of_step<step_zero>},
    AccountField{"MaxVMSize", 10, nothing},
    AccountField{"MaxVMSizeNode", 14, nothing},
    AccountField{"MaxVMSizeTask", 14, nothing},
    AccountField{"McsLabel", 10, nothing},
    AccountField{"MinCPU", 10, of_step<average_cpu>},
    AccountField{"MinCPUNode", 10, of_step<first_node>},
    AccountField{"MinCPUTask", 10, of_step<step_zero>},
    AccountField{"NCPUS", 10, alloc_cpus},
    AccountField{"NNodes", 8, node_count},
    AccountField{"NodeList", 15, node_list},
    AccountField{"NTasks", 8, tasks_of_step},
    AccountField{"Partition", 10, of_job<text_of<&HistoryRow::partition>>},
    AccountField{"Planned", 10, of_job<planned>},
    AccountField{"PlannedCPU", 10, of_job<planned>},
    AccountField{"PlannedCPURAW", 13, nothing},
    AccountField{"Priority", 10, of_job<number_of<&HistoryRow::priority>>},
    AccountField{"QOS", 10, of_job<text_of<&HistoryRow::qos>>},
    AccountField{"QOSRAW", 10, zero},
    AccountField{"Reason", 22, of_job<reason>},
    AccountField{"ReqCPUFreq", 10, unknown},
    AccountField{"ReqCPUFreqGov", 13, unknown},
    AccountField{"ReqCPUFreqMax", 13, unknown},
    AccountField{"ReqCPUFreqMin", 13, unknown},
    AccountField{"ReqCPUS", 8, [](Row row, Lk) { return number(row.job->cpus_asked); }},
    AccountField{"ReqMem", 10, of_job<req_mem>},
    AccountField{"ReqNodes", 8, node_count},
    AccountField{"ReqTRES", 10, of_job<req_tres>},
    AccountField{"Reservation", 20, nothing},
    AccountField{"ReservationId", 13, nothing},
    AccountField{"Start", 19, start},
    AccountField{"State", 10, [](Row row, Lk) { return account_state(row); }},
    AccountField{"Submit", 19, submit},
    AccountField{"SubmitLine", 20, of_job<text_of<&HistoryRow::submit_line>>},
    AccountField{"Suspended", 10, [](Row, Lk) { return std::string("00:00:00"); }},
    AccountField{"SystemComment", 19, nothing},
    AccountField{"SystemCPU", 10, [](Row row, Lk) { return cpu_duration(row.job->usage.system_cpu.count()); }},
    AccountField{"Timelimit", 10, of_job<limit>},
    AccountField{"TimelimitRaw", 12, of_job<limit_raw>},
    AccountField{"TotalCPU", 10, [](Row row, Lk) { return cpu_duration(total_cpu(*row.job)); }},
    AccountField{"TRESUsageInAve", 14, of_step<usage_in>},
    AccountField{"TRESUsageInMax", 14, of_step<usage_in>},
    AccountField{"TRESUsageInMaxNode", 18, nothing},
    AccountField{"TRESUsageInMaxTask", 18, nothing},
    AccountField{"TRESUsageInMin", 14, of_step<usage_in>},
    AccountField{"TRESUsageInMinNode", 18, nothing},
    AccountField{"TRESUsageInMinTask", 18, nothing},
    AccountField{"TRESUsageInTot", 14, of_step<usage_in>},
    AccountField{"TRESUsageOutAve", 15, nothing},
    AccountField{"TRESUsageOutMax", 15, nothing},
    AccountField{"TRESUsageOutMaxNode", 19, nothing},
    AccountField{"TRESUsageOutMaxTask", 19, nothing},
    AccountField{"TRESUsageOutMin", 15, nothing},
    AccountField{"TRESUsageOutMinNode", 19, nothing},
    AccountField{"TRESUsageOutMinTask", 19, nothing},
    AccountField{"TRESUsageOutTot", 15, nothing},
    AccountField{"UID", 6, of_job<number_of<&HistoryRow::uid>>},
    AccountField{"User", 9, of_job<text_of<&HistoryRow::user>>},
    AccountField{"UserCPU", 10, [](Row row, Lk) { return cpu_duration(row.job->usage.user_cpu.count()); }},
    AccountField{"WCKey", 10, of_job<text_of<&HistoryRow::wckey>>},
    AccountField{"WCKeyID", 8, zero},
    AccountField{"WorkDir", 20, of_job<text_of<&HistoryRow::work_dir>>},
};

}  // namespace

std::span<const AccountField> account_fields() { return kFields; }

}  // namespace drover::slurm
