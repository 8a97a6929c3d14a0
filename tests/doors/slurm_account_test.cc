// sacct against the bytes of the reference system (its srun steps left out: a job here has its batch
// step).
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "doors/golden.h"
#include "slurm/render/account.h"

namespace drover::slurm {
namespace {

constexpr std::int64_t kStart = 1796063980;  // 2026-11-30T18:39:40 UTC

HistoryRow row(std::uint64_t id, const std::string& name, Cause cause, ExitStatus exit = {}) {
  HistoryRow row{.job = JobId(id),
                 .attempt = 1,
                 .name = name,
                 .user = "root",
                 .account = "lab",
                 .qos = "normal",
                 .partition = "main",
                 .phase = Phase::ended,
                 .cause = cause,
                 .exit = exit};
  row.submitted = row.eligible = row.started = Instant(seconds(kStart));
  row.ended = row.started + seconds(3);
  row.nodes = {"n3"};
  row.node_count = row.task_count = row.cpus_asked = row.cpu_count = 1;
  row.memory = mebibytes(1000);
  row.limit = std::chrono::hours(1);
  row.work_dir = "/home/alice/jobs";
  return row;
}

std::vector<HistoryRow> history() {
  std::vector<HistoryRow> rows;
  HistoryRow train = row(1, "train-llama", Cause::completed);
  train.user = "alice";
  train.account = "vision";
  train.cpus_asked = train.cpu_count = 4;
  train.memory = gibibytes(8);
  train.request.gpus_per_node = train.gpus = {{.model = "a100", .count = 2}};
  train.limit = std::chrono::hours(2);
  train.nodes = {"n1"};
  rows.push_back(train);
  rows.push_back(row(2, "failing", Cause::failed, {3, 0}));
  rows.push_back(row(3, "killed", Cause::failed, {0, 9}));
  const std::uint64_t ids[] = {10, 11, 12, 4};
  for (std::uint32_t i = 0; i < 4; ++i) {
    HistoryRow task = row(ids[i], "sweep", Cause::completed);
    task.array = JobId(4);
    task.task = i;
    rows.push_back(task);
  }
  rows.push_back(row(5, "todie", Cause::cancelled, {0, 15}));
  rows.push_back(row(6, "stepfail", Cause::completed));
  HistoryRow slow = row(7, "slow", Cause::none);
  slow.phase = Phase::running;
  slow.ended = {};
  rows.push_back(slow);
  rows.push_back(row(8, "requeued", Cause::requeued));
  return rows;
}

const AccountLook kLook{.look = {.times = TimeFormat(utc_zone(), kStart), .now = Instant(seconds(kStart + 10))},
                        .cluster = "demo"};

std::string table(std::string_view format, std::vector<std::uint64_t> ids, bool steps = true, bool header = true,
                  Separation separation = Separation::columns) {
  auto all = history();
  if (!ids.empty()) {
    std::erase_if(all, [&](const HistoryRow& r) {
      return std::ranges::find(ids, r.job.value()) == ids.end() &&
             std::ranges::find(ids, r.array.value()) == ids.end();
    });
  }
  const AccountLayout layout{.columns = account_columns(format).value(), .separation = separation};
  return account_table(layout, account_rows(all, steps), kLook, header);
}

// Without the lines of steps that srun made: an id with a dot and a number.
std::string golden(const std::string& command) {
  static const auto entries = read_golden("accounting.txt");
  std::string kept;
  const std::string& output = entries.at(command).output;
  for (const std::string_view line : split(std::string_view(output).substr(0, output.size() - 1), '\n')) {
    const std::string_view id = trim(line).substr(0, trim(line).find_first_of(" |"));
    const std::size_t dot = id.find('.');
    if (dot != std::string_view::npos && parse_uint(id.substr(dot + 1))) continue;
    kept.append(line).append("\n");
  }
  return kept;
}

TEST(SacctGolden, DefaultAndBrief) {
  EXPECT_EQ(table(kAccountFormat, {}), golden("sacct"));
  EXPECT_EQ(table(kAccountFormat, {}, false), golden("sacct -X"));
  EXPECT_EQ(table(kAccountBrief, {}), golden("sacct -b"));
  EXPECT_EQ(table(kAccountFormat, {99999999}), golden("sacct -j 99999999"));
}

TEST(SacctGolden, BarsAndOwnFormats) {
  EXPECT_EQ(table(kAccountFormat, {1}, true, true, Separation::bars), golden("sacct -j 1 -P"));
  EXPECT_EQ(table(kAccountFormat, {1}, true, false, Separation::bars_closed), golden("sacct -j 1 -p -n"));
  EXPECT_EQ(table("JobID,JobIDRaw,State,NodeList", {4}, false, true, Separation::bars),
            golden("sacct -j 4 -X -o JobID,JobIDRaw,State,NodeList --parsable2"));
  EXPECT_EQ(table("JobID,State,NodeList", {1, 4}, true, true, Separation::bars),
            golden("sacct -o JobID,State,NodeList --parsable2 -j 1 -j 4"));
  EXPECT_EQ(table("JobIdRaw,State", {4}, false, false, Separation::bars),
            golden("sacct -X --parsable2 --noheader --format=JobIdRaw,State --name sweep"));
  EXPECT_EQ(table("jobid,state%30", {5}, true, false), golden("sacct -j 5 -o jobid,state%30 -n"));
  EXPECT_EQ(table("jobid,state", {5}, true, false), golden("sacct -j 5 -o jobid,state -n"));
}

TEST(SacctGolden, EveryColumnWidth) {
  const std::string format =
      "JobID,AllocTRES%60,ReqTRES%50,Elapsed,ElapsedRaw,CPUTimeRAW,NCPUS,NTasks,Timelimit,User,Account,QOS,Submit,"
      "Start,"
      "End,WorkDir";
  // The path was shortened after it was printed, and with it went its padding.
  std::string expected = golden("sacct -j 1 -o " + format);
  expected.erase(expected.find("            /home"), 7);
  EXPECT_EQ(table(format, {1}), expected);
}

TEST(SacctGolden, UnknownFieldsAndHelp) {
  EXPECT_EQ(account_columns("nosuchfield").error().message + "\n", golden("sacct -o nosuchfield"));
  EXPECT_EQ(account_columns("JobID,State,Start,End,Restarts").error().message + "\n",
            golden("sacct -j 8 -D -X -o JobID,State,Start,End,Restarts"));
  const std::string help = account_help_format();
  EXPECT_TRUE(help.starts_with(golden("sacct -e | head -5")));
  EXPECT_TRUE(account_columns(kAccountLong).has_value());
}

TEST(Sacct, AWaitingJobHasNoStepAndAnArrayItsTasks) {
  std::vector<HistoryRow> rows{row(9, "pend", Cause::none)};
  rows[0].phase = Phase::waiting;
  rows[0].attempt = 0;
  rows[0].started = rows[0].ended = {};
  rows[0].nodes.clear();
  rows[0].pending_tasks = "2-9%2";
  const AccountLayout layout{.columns = account_columns("jobid,state,start,nodelist").value(),
                             .separation = Separation::bars};
  EXPECT_EQ(account_table(layout, account_rows(rows, true), kLook, false),
            "9_[2-9%2]|PENDING|Unknown|None assigned\n");
}

}  // namespace
}  // namespace drover::slurm
