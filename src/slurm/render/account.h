// sacct's tables: a row for each job (attempt) and one for its batch step.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/history.h"
#include "slurm/render/format.h"
#include "slurm/render/job_text.h"

namespace drover::slurm {

struct AccountRow {
  const HistoryRow* job = nullptr;
  bool batch_step = false;        // not the job's own row
  const StepRow* step = nullptr;  // of a step; `job` then is `own`: what the step has in place of the job's
  std::shared_ptr<const HistoryRow> own;
};

struct AccountLook {
  Look look;
  std::string cluster;
};

struct AccountField {
  std::string_view name;
  int width = 10;  // negative: to the left
  std::string (*text)(const AccountRow& row, const AccountLook& look) = nullptr;
};

[[nodiscard]] std::span<const AccountField> account_fields();
[[nodiscard]] std::optional<std::size_t> account_field_by_name(std::string_view name);  // unique beginnings too
[[nodiscard]] Result<std::vector<AccountColumn>> account_columns(std::string_view format);

inline constexpr std::string_view kAccountFormat = "jobid,jobname,partition,account,alloccpus,state,exitcode";
inline constexpr std::string_view kAccountBrief = "jobid,state,exitcode";
inline constexpr std::string_view kAccountLong =
    "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,"
    "maxrssnode,maxrsstask,"
    "averss,maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,"
    "alloccpus,elapsed,"
    "state,exitcode,avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,reqmem,consumedenergy,"
    "maxdiskread,"
    "maxdiskreadnode,maxdiskreadtask,avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,"
    "avediskwrite,"
    "alloctres,tresusageinave,tresusageinmax,tresusageinmaxn,tresusageinmaxt,tresusageinmin,"
    "tresusageinminn,"
    "tresusageinmint,tresusageintot,tresusageoutmax,tresusageoutmaxn,tresusageoutmaxt,"
    "tresusageoutave,"
    "tresusageouttot";

// Slurm's order: arrays stay together, at the place of their latest task.
[[nodiscard]] std::vector<AccountRow> account_rows(std::vector<HistoryRow>& history, bool with_steps);

[[nodiscard]] std::string account_table(const AccountLayout& layout, const std::vector<AccountRow>& rows,
                                        const AccountLook& look, bool header);
[[nodiscard]] std::string account_help_format();

[[nodiscard]] std::string account_state(const AccountRow& row);  // "CANCELLED by 1000"
[[nodiscard]] ExitStatus account_exit(const AccountRow& row);
[[nodiscard]] std::int64_t account_elapsed_s(const HistoryRow& row, Instant now);
[[nodiscard]] Tres account_asked(const HistoryRow& row);
[[nodiscard]] Tres account_granted(const AccountRow& row);

}  // namespace drover::slurm
