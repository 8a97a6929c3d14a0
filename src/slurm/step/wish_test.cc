#include "slurm/step/wish.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace drover::slurm {
namespace {

using testing::HasSubstr;

Result<MadeStep> made(const std::vector<std::string>& words, bool inside = true,
                      const Environment& environment = {}) {
  auto line = parse_step_line(srun_rows(), words, environment, inside, {.program = "srun"}).value();
  return make_step(line.options, {.inside = inside,
                                  .command = line.command,
                                  .multi_prog = "0 a\n1 b\n",
                                  .work_dir = "/home/bob",
                                  .host = "login",
                                  .environment = environment});
}
StepRequest request_of(const std::vector<std::string>& words, const Environment& environment = {}) {
  return made(words, true, environment).value().wish.request;
}

TEST(StepWishes, AskForWhatWasTyped) {
  const MadeStep step =
      made({"-N2", "-n4", "-c2", "--gres=gpu:a100:1", "--mem=1G", "-r1", "--exact", "/bin/env"})
          .value();
  const StepRequest& request = step.wish.request;
  EXPECT_EQ(step.wish.name, "env");
  EXPECT_EQ(request.min_nodes, 2U);
  EXPECT_EQ(request.tasks, 4U);
  EXPECT_EQ(request.cpus_per_task, 2U);
  EXPECT_EQ(request.gpus_per_node, (std::vector<GpuAsk>{{"a100", 1}}));
  EXPECT_EQ(request.memory_rule, MemoryRule::per_node);
  EXPECT_EQ(request.memory, mebibytes(1024));
  EXPECT_EQ(request.first_node, 1U);
  EXPECT_TRUE(request.exact);
  EXPECT_EQ(step.spec.programs.at(0).argv, std::vector<std::string>{"/bin/env"});
  EXPECT_EQ(request_of({"--mem=0", "x"}).memory_rule, MemoryRule::proportional);
}

TEST(StepWishes, SetTheWordsOfTheJobAsideForWhatWasTyped) {
  const Environment job{
      {"SLURM_NTASKS", "4"}, {"SLURM_NTASKS_PER_NODE", "2"}, {"SLURM_NNODES", "2"}};
  EXPECT_EQ(request_of({"x"}, job).tasks, 4U);
  const StepRequest one = request_of({"-N1", "-n1", "x"}, job);
  EXPECT_EQ(one.tasks, 1U);
  EXPECT_EQ(one.tasks_per_node, 0U);
  const StepRequest per_node = request_of({"--ntasks-per-node=1", "x"}, job);
  EXPECT_EQ(per_node.tasks, 0U);
  EXPECT_EQ(per_node.tasks_per_node, 1U);
  EXPECT_EQ(request_of({"-w", "n1", "x"}, job).min_nodes, 1U);
}

TEST(StepWishes, WarnOfMoreNodesThanTasks) {
  const MadeStep step = made({"-N2", "-n1", "x"}).value();
  EXPECT_EQ(step.warnings,
            std::vector<std::string>{"can't run 1 processes on 2 nodes, setting nnodes to 1"});
  EXPECT_EQ(step.wish.request.max_nodes, 1U);
}

TEST(StepWishes, DealFilesBetweenTheNodesAndSrun) {
  const MadeStep shared = made({"-o", "log-%j", "-i", "none", "x"}).value();
  EXPECT_EQ(shared.out.file, "log-%j");
  EXPECT_EQ(shared.err.file, "log-%j");
  EXPECT_EQ(shared.spec.stdout_path, "");
  EXPECT_EQ(shared.spec.input_task, 0xFFFFFFFEU);
  const MadeStep each = made({"-o", "log-%t", "-e", "none", "-i", "3", "x"}).value();
  EXPECT_EQ(each.spec.stdout_path, "log-%t");
  EXPECT_EQ(each.spec.stderr_path, "/dev/null");
  EXPECT_EQ(each.spec.input_task, 3U);
  EXPECT_EQ(made({"-o", "2", "x"}).value().out.task, 2U);
  EXPECT_EQ(made({"--pty", "x"}).value().spec.input_task, 0U);
  EXPECT_THAT(made({"--pty", "-o", "f", "x"}).error().message,
              HasSubstr("--output is incompatible with --pty"));
}

TEST(StepWishes, PassOnTheEnvironmentButNoOtherJobsWords) {
  const Environment own{{"A", "1"}, {"SLURM_JOB_ID", "17"}, {"SLURM_SUBMIT_DIR", "/x"}};
  const auto has = [](const MadeStep& step, const std::string& item) {
    return std::ranges::count(step.spec.environment, item) > 0;
  };
  EXPECT_TRUE(has(made({"x"}, true, own).value(), "SLURM_SUBMIT_DIR=/x"));
  const MadeStep alone = made({"x"}, false, {{"A", "1"}, {"SLURM_STEP_ID", "4"}}).value();
  EXPECT_FALSE(has(alone, "SLURM_STEP_ID=4"));
  EXPECT_TRUE(has(alone, "SLURM_SUBMIT_DIR=/home/bob"));
  EXPECT_FALSE(has(made({"--export=NONE", "x"}, true, own).value(), "A=1"));
  EXPECT_FALSE(has(made({"--jobid=18", "x"}, true, own).value(), "SLURM_SUBMIT_DIR=/x"));
  EXPECT_THAT(made({"-r1", "x"}, false).error().message, HasSubstr("--relative option invalid"));
}

TEST(StepWishes, ReadProgramsOfGroups) {
  EXPECT_EQ(made({"--multi-prog", "-n2", "conf"}).value().spec.programs.size(), 2U);
  EXPECT_FALSE(made({"--multi-prog", "-n3", "conf"}));
}

}  // namespace
}  // namespace drover::slurm
