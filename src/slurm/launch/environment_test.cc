#include "slurm/launch/environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace drover::slurm {
namespace {

const Environment kEnvironment{{"PATH", "/bin"}, {"VAR", "1"}, {"OTHER", "2"}, {"SLURM_X", "3"}};

Environment passed(const std::optional<std::string>& words) {
  return exported(words, kEnvironment).value().variables;
}

TEST(Export, PassesWhatItNames) {  // C92
  EXPECT_EQ(passed(std::nullopt), kEnvironment);
  EXPECT_EQ(passed("ALL"), kEnvironment);
  EXPECT_EQ(passed("VAR"), (Environment{{"SLURM_X", "3"}, {"VAR", "1"}}));
  EXPECT_EQ(passed("NONE"), (Environment{{"SLURM_X", "3"}}));
  EXPECT_TRUE(exported("NONE", kEnvironment).value().with_login);
  EXPECT_FALSE(exported("NIL", kEnvironment).value().with_login);
  EXPECT_EQ(passed("A='b,c',OTHER"), (Environment{{"A", "b,c"}, {"OTHER", "2"}, {"SLURM_X", "3"}}));
  Environment more = kEnvironment;
  more["VAR"] = "9";
  more["NEW"] = "x=y";
  EXPECT_EQ(passed("ALL,VAR=9,NEW=x=y"), more);
  EXPECT_EQ(passed("VAR=9,ALL"), [] {
    Environment env = kEnvironment;
    env["VAR"] = "9";
    return env;
  }());
  EXPECT_FALSE(exported("A='b", kEnvironment));
}

TEST(Environment, SurvivesItsEncoding) {
  EXPECT_EQ(decode_environment(encode_environment(kEnvironment)), kEnvironment);
  EXPECT_EQ(decode_environment(std::string_view("=x\0novalue\0A=\0", 13)), (Environment{{"A", ""}}));
}

TEST(Repeated, CompressesRuns) {
  EXPECT_EQ(repeated({2, 2, 2, 1}), "2(x3),1");
  EXPECT_EQ(repeated({4}), "4");
  EXPECT_EQ(repeated({}), "");
}

api::JobView job_of_golden() {
  api::JobView job{.id = JobId(38), .name = "wrap", .user = "root", .partition = "main", .phase = Phase::running};
  job.started = Instant(seconds(1796063899));
  job.limit = minutes(5);
  job.request = {.tasks = 2,
                 .cpus_per_task = 3,
                 .memory_rule = MemoryRule::per_node,
                 .memory = gibibytes(2),
                 .gpus_per_node = {{"a100", 2}}};
  job.nodes = {"n1"};
  job.shares = {{.node = "n1", .tasks = 2, .cpu_count = 6, .memory = gibibytes(2), .gpu_indexes = {4, 7}}};
  job.task_count = 2;
  job.spec = JobSpec{.work_dir = "/home/alice/jobs", .submit_host = "login"};
  return job;
}

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::ranges::find(list, item) != list.end();
}

TEST(BatchEnvironment, NeverPassesOnAnotherJobsWords) {
  const auto env = batch_environment(
      job_of_golden(),
      encode_environment(
          {{"SLURM_ARRAY_TASK_ID", "7"}, {"SLURM_JOB_ID", "1"}, {"SLURM_RESTART_COUNT", "4"}, {"A", "b"}}),
      {});
  EXPECT_TRUE(has(env, "A=b"));
  EXPECT_TRUE(has(env, "SLURM_JOB_ID=38"));
  EXPECT_TRUE(std::ranges::none_of(
      env, [](const std::string& v) { return v.starts_with("SLURM_ARRAY") || v.starts_with("SLURM_RESTART"); }));
}

TEST(BatchEnvironment, NamesHostNumbersOfGpus) {
  EXPECT_TRUE(has(batch_environment(job_of_golden(), "", {}), "SLURM_JOB_GPUS=4,7"));
}

}  // namespace
}  // namespace drover::slurm
