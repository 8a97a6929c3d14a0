#include "slurm/script/request.h"

#include <gtest/gtest.h>

namespace drover::slurm {
namespace {

Result<api::Execute> made(const std::vector<std::string>& words) {
  const OptionContext context;
  const CommandLine line = TRY(split_command_line(words, context));
  const SbatchOptions options = TRY(combine_options("", "", {}, line, context));
  return make_submit(options, {.script = "#!/bin/sh\n", .default_name = "wrap", .work_dir = "/home/a"});
}
Submit submit(const std::vector<std::string>& words) {
  auto wish = made(words);
  EXPECT_TRUE(wish.has_value()) << (wish ? "" : wish.error().message);
  return wish ? std::get<Submit>(wish.value().command) : Submit{};
}

TEST(Request, SaysWhatTheOptionsMean) {
  const Submit wish =
      submit({"-N2-4", "-n8", "-c3", "--mem-per-cpu=2G", "--gres=gpu:a100:2", "-C", "a&b", "-x", "n[1-2]", "-t",
              "90:30", "--exclusive", "-J", "x", "--nice=5", "-H", "--no-requeue", "-p", "main,debug"});
  EXPECT_EQ(wish.request.min_nodes, 2U);
  EXPECT_EQ(wish.request.max_nodes, 4U);
  EXPECT_EQ(wish.request.tasks, 8U);
  EXPECT_EQ(wish.request.cpus_per_task, 3U);
  EXPECT_EQ(wish.request.memory_rule, MemoryRule::per_cpu);
  EXPECT_EQ(wish.request.memory, gibibytes(2));
  EXPECT_EQ(wish.request.gpus_per_node, (std::vector<GpuAsk>{{"a100", 2}}));
  EXPECT_EQ(wish.request.exclude_nodes.size(), 2U);
  EXPECT_EQ(wish.limit, Duration(minutes(91)));
  EXPECT_TRUE(wish.request.exclusive && wish.hold && !wish.requeue);
  EXPECT_EQ(wish.nice, 5);
  EXPECT_EQ(wish.partitions, "main,debug");
}

TEST(Request, LeavesOpenWhatWasNotSaid) {
  const Submit wish = submit({});
  EXPECT_EQ(wish.name, "wrap");
  EXPECT_FALSE(wish.limit);
  EXPECT_EQ(wish.request, Request{});
  EXPECT_EQ(submit({"-t", "UNLIMITED"}).limit, Duration(0));
  EXPECT_EQ(submit({"--mem=0"}).request.memory_rule, MemoryRule::whole_node);  // C112
}

TEST(Request, LimitsThatMayShrinkAndEndInTime) {
  const Submit wish =
      submit({"--time-min=30", "--deadline=2026-12-24T12:00:00", "--contiguous", "--threads-per-core=1"});
  EXPECT_EQ(wish.min_limit, Duration(minutes(30)));
  EXPECT_EQ(unix_seconds(wish.deadline), 1798113600);
  EXPECT_TRUE(wish.request.contiguous);
  EXPECT_EQ(wish.request.threads_per_core, 1U);
  EXPECT_FALSE(made({"--time-min=UNLIMITED"}));
  EXPECT_FALSE(made({"--deadline=yesterdayish"}));
}

TEST(Request, PerGpuAmounts) {  // C82
  const Submit wish = submit({"--gpus=3", "--cpus-per-gpu=6", "--mem-per-gpu=20G"});
  EXPECT_EQ(wish.request.gpus_per_job, (std::vector<GpuAsk>{{"", 3}}));
  EXPECT_EQ(wish.request.cpus_per_gpu, 6U);
  EXPECT_EQ(wish.request.memory_rule, MemoryRule::per_gpu);
}

TEST(Request, ArraysAndDependencies) {
  const Submit wish = submit({"-a", "0-8:4,9%2", "-d", "afterok:3:4_1?after:5+10", "--kill-on-invalid-dep=yes"});
  EXPECT_EQ(wish.array.value().tasks, (std::vector<TaskRange>{{0, 0, 1}, {4, 4, 1}, {8, 9, 1}}));
  EXPECT_EQ(wish.array.value().throttle, 2U);
  EXPECT_EQ(wish.array.value().total, 4U);
  EXPECT_EQ(submit({"-a", "1-9:2"}).array.value().tasks, (std::vector<TaskRange>{{1, 9, 2}}));
  EXPECT_EQ(submit({"-a", "1-9:2"}).array.value().step, 2U);
  EXPECT_TRUE(wish.dependency.any && wish.dependency.cancel_if_never);
  EXPECT_EQ(wish.dependency.terms.at(1).task, 1U);
  EXPECT_EQ(wish.dependency.terms.at(2).delay, Duration(minutes(10)));
}

TEST(Request, WhatOnlyTheDoorKnowsIsKept) {
  const auto wish = made({"--signal=B:USR1@90", "--export=NONE", "-c1", "-D", "sub", "--open-mode=append"}).value();
  EXPECT_EQ(wish.spec.value().warn, (WarnSignal{10, seconds(90), SignalTarget::batch}));
  EXPECT_EQ(wish.spec.value().extra.at("export"), "NONE");
  EXPECT_EQ(wish.spec.value().extra.at("cpus_per_task"), "1");
  EXPECT_EQ(wish.spec.value().work_dir, "/home/a/sub");
  EXPECT_TRUE(wish.spec.value().append_output);
}

TEST(Request, OtherGenericResourcesAreRefused) { EXPECT_FALSE(made({"--gres=nvme:1"})); }

}  // namespace
}  // namespace drover::slurm
