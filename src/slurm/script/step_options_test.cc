#include "slurm/script/step_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace drover::slurm {
namespace {

using testing::HasSubstr;

Result<StepLine> parsed(const std::vector<std::string>& words, const Environment& environment = {},
                        bool inside = false) {
  return parse_step_line(srun_rows(), words, environment, inside, {.program = "srun"});
}
StepOptions options_of(const std::vector<std::string>& words, const Environment& environment = {},
                       bool inside = false) {
  return parsed(words, environment, inside).value().options;
}
std::string refusal_of(const std::vector<std::string>& words) {
  const auto line = parsed(words);
  return line ? "" : line.error().message;
}

TEST(SrunOptions, EndAtTheFirstWordThatIsNone) {
  const StepLine line =
      parsed({"-N2", "-n4", "-l", "-K1", "--gres", "gpu:a100:2", "sh", "-c", "x", "--label"})
          .value();
  EXPECT_EQ(line.command, (std::vector<std::string>{"sh", "-c", "x", "--label"}));
  EXPECT_EQ(line.options.job.nodes, (NodeRange{2, 2}));
  EXPECT_EQ(line.options.job.ntasks, 4U);
  EXPECT_TRUE(line.options.label);
  EXPECT_EQ(line.options.kill_on_bad_exit, true);
  EXPECT_EQ(line.options.job.gres.at(0).count, 2);
}

TEST(SrunOptions, TakeWhatScriptsUse) {
  const StepOptions o = options_of({"-c3",
                                    "-u",
                                    "-r1",
                                    "-x",
                                    "n1",
                                    "-W",
                                    "60",
                                    "-I5",
                                    "-D/tmp",
                                    "-mplane=4",
                                    "-O",
                                    "--exact",
                                    "--overlap",
                                    "--cpu-bind=v,cores",
                                    "--gpu-bind=single:2",
                                    "--mpi=none",
                                    "--pty",
                                    "--gpus=0",
                                    "--jobid=17",
                                    "x"});
  EXPECT_EQ(o.job.cpus_per_task.value, 3U);
  EXPECT_TRUE(o.unbuffered && o.exact && o.overlap && o.pty && o.no_gpus && o.job.overcommit);
  EXPECT_EQ(o.relative, 1U);
  EXPECT_EQ(o.wait_s, 60U);
  EXPECT_EQ(o.immediate_s, 5U);
  EXPECT_EQ(o.distribution, Distribution::plane);
  EXPECT_EQ(o.plane, 4U);
  EXPECT_EQ(o.job_id, 17U);
  EXPECT_TRUE(options_of({"--gres=none", "x"}).no_gpus);
  EXPECT_EQ(options_of({"-I", "x"}).immediate_s, 0U);
  EXPECT_EQ(options_of({"-K", "x"}).kill_on_bad_exit, true);
  EXPECT_EQ(options_of({"-m", "cyclic:block", "x"}).distribution, Distribution::cyclic);
}

TEST(SrunOptions, TheCommandLineWinsOverVariables) {
  const Environment environment{{"SLURM_NTASKS", "4"},        {"SLURM_CPUS_PER_TASK", "2"},
                                {"SLURM_LABELIO", "1"},       {"SLURM_WAIT", "30"},
                                {"SLURM_KILL_BAD_EXIT", "1"}, {"SLURM_UNBUFFEREDIO", "0"},
                                {"SLURM_STDOUTMODE", "o"}};
  const StepOptions o = options_of({"-n1", "-K0", "x"}, environment, true);
  EXPECT_EQ(o.job.ntasks, 1U);
  EXPECT_EQ(o.job.cpus_per_task.value, 2U);  // followed since 23.11
  EXPECT_TRUE(o.label);
  EXPECT_FALSE(o.unbuffered);
  EXPECT_EQ(o.wait_s, 30U);
  EXPECT_EQ(o.kill_on_bad_exit, false);
  EXPECT_EQ(o.job.output, "o");
  EXPECT_TRUE(o.given("ntasks"));
  EXPECT_FALSE(o.given("label"));
}

TEST(SrunOptions, InsideAJobItsAmountsAreNotTheSteps) {
  const Environment environment{
      {"SLURM_MEM_PER_NODE", "1000"}, {"SLURM_GPUS", "8"}, {"SLURM_PARTITION", "p"}};
  EXPECT_FALSE(options_of({"x"}, environment, true).job.mem_mib.set());
  EXPECT_TRUE(options_of({"x"}, environment, true).job.gpus.empty());
  EXPECT_EQ(options_of({"x"}, environment).job.mem_mib.value, 1000);
  const StepOptions other = options_of({"--mem-per-cpu=2G", "x"}, environment);
  EXPECT_FALSE(other.job.mem_mib.set());
  EXPECT_EQ(other.job.mem_per_cpu_mib.value, 2048);
}

TEST(SrunOptions, RefuseByNameWhatIsNotThere) {
  EXPECT_THAT(refusal_of({"--container-image=x", "y"}),
              HasSubstr("--container-image is not supported"));
  EXPECT_THAT(refusal_of({"--mpi=pmix", "y"}), HasSubstr("--mpi=pmix is not supported"));
  EXPECT_THAT(refusal_of({"--mpi=nosuch", "y"}), HasSubstr("--mpi=list for acceptable types"));
  EXPECT_THAT(refusal_of({"--het-group=1", "y"}), HasSubstr("--het-group"));
  EXPECT_THAT(refusal_of({"--cpu-bind=ldoms", "y"}),
              HasSubstr("--cpu-bind=ldoms is not supported"));
  EXPECT_THAT(refusal_of({"-m", "block:cyclic", "y"}), HasSubstr("--distribution=block:cyclic"));
  EXPECT_THAT(refusal_of({"-m", "sideways", "y"}),
              HasSubstr("Invalid --distribution specification"));
  EXPECT_THAT(refusal_of({"-n", "0", "y"}),
              HasSubstr("srun: error: Invalid numeric value \"0\" for --ntasks."));
  EXPECT_THAT(refusal_of({"--nosuch"}), HasSubstr("srun: unrecognized option '--nosuch'"));
  EXPECT_THAT(refusal_of({"--mem=1", "--mem-per-cpu=1", "y"}), HasSubstr("mutually exclusive"));
  EXPECT_THAT(parsed({"y"}, {{"SLURM_PROLOG", "/x"}}).error().message,
              HasSubstr("SLURM_PROLOG (--prolog)"));
}

TEST(StepTables, NameEachOptionOnce) {
  for (const StepRows& table : {srun_rows(), salloc_rows()}) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const StepRow& row : table.rows) {
      EXPECT_TRUE(names.insert(row.name).second) << row.name;
      if (row.letter != 0) {
        EXPECT_TRUE(letters.insert(row.letter).second) << row.name;
      }
    }
  }
}

TEST(MultiProg, GivesEachTaskItsProgram) {
  const auto programs =
      parse_multi_prog("# roles\n0 head --rank %t\n1-2,4 work 'a b' \\\n  more\n* rest\n", 6)
          .value();
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_EQ(programs[1].argv, (std::vector<std::string>{"work", "a b", "more"}));
  EXPECT_EQ(programs[1].tasks, (std::vector<drover::TaskRange>{{1, 2, 1}, {4, 4, 1}}));
  EXPECT_EQ(programs[2].tasks, (std::vector<drover::TaskRange>{{3, 3, 1}, {5, 5, 1}}));
  EXPECT_EQ(parse_multi_prog("0-9 a", 2).value().front().tasks,
            (std::vector<drover::TaskRange>{{0, 1, 1}}));
  for (const char* wrong : {"0 a", "0 a\n0-1 b", "0-1", "1-0 a\n0 b", "x a"}) {
    EXPECT_FALSE(parse_multi_prog(wrong, 2)) << wrong;
  }
}

}  // namespace
}  // namespace drover::slurm
