#include "domain/cluster.h"

#include <gtest/gtest.h>

#include "base/proto.h"

namespace drover {
namespace {

NodeRegistered node(std::uint64_t id, std::uint32_t gpus, std::uint64_t first_device) {
  NodeRegistered e{.node = NodeId(id), .at = Instant(seconds(1))};
  e.inventory.name = "n" + std::to_string(id);
  e.inventory.cpus = 8;
  e.inventory.memory = gibibytes(64);
  for (std::uint32_t i = 0; i < gpus; ++i) {
    e.inventory.devices.push_back({.uuid = e.inventory.name + "-" + std::to_string(i), .model = "a100", .index = i});
    e.devices.emplace_back(first_device + i);
  }
  return e;
}

JobSubmitted submitted(std::uint64_t id) {
  return {.job = JobId(id),
          .owner = {.uid = 7, .gid = 7, .user = "ann"},
          .submit = {.name = "j", .partitions = "main"},
          .at = Instant(seconds(2)),
          .key = "k" + std::to_string(id)};
}

JobPlaced placed(std::uint64_t id) {
  NodeShare share{.node = NodeId(1), .cpus = CpuSet::first(2), .memory = gibibytes(8)};
  share.devices.push_back({.device = DeviceId(2)});
  return {.job = JobId(id), .attempt = 1, .partition = "main", .placement = {.shares = {share}},
          .at = Instant(seconds(3))};
}

Step step(std::uint32_t number) {
  return {.number = number, .attempt = 1, .name = "s", .shares = {{.share = {.node = NodeId(1)}, .tasks = {{}}}}};
}

TEST(Cluster, PlacedHoldsAndEndedFrees) {
  Cluster cluster;
  cluster.apply(node(1, 4, 1));
  cluster.apply(submitted(1));
  cluster.apply(placed(1));
  EXPECT_EQ(cluster.node(NodeId(1)).cpus_free(), 6U);
  EXPECT_EQ(cluster.device(DeviceId(2)).used, Milli::of(1000));
  cluster.apply(JobEnded{.job = JobId(1), .attempt = 1, .at = Instant(seconds(4))});
  EXPECT_EQ(cluster.node(NodeId(1)).cpus_free(), 8U);
  EXPECT_EQ(cluster.device(DeviceId(2)).used, Milli::of(0));
  cluster.apply(JobsForgotten{.jobs = {JobId(1)}});
  EXPECT_TRUE(cluster.jobs().empty());
  EXPECT_EQ(cluster.job_of_key(7, "k1"), JobId(1));
}

TEST(Cluster, ASnapshotGivesAnEqualCluster) {
  Cluster cluster;
  cluster.apply(Configured{.config = {.partitions = {{.name = "main", .is_default = true}}}});
  cluster.apply(node(1, 4, 1));
  cluster.apply(node(2, 2, 5));
  cluster.apply(submitted(1));
  JobSubmitted array = submitted(2);
  array.submit.array = ArrayPending{.tasks = {{.first = 0, .last = 9, .step = 1}}, .throttle = 2};
  array.submit.dependency.terms.push_back({.kind = DependencyKind::after_ok, .job = JobId(1)});
  cluster.apply(array);
  cluster.apply(ArrayTaskSplit{.array = JobId(2), .task = 3, .job = JobId(3)});
  cluster.apply(placed(1));
  cluster.apply(StepPlaced{.job = JobId(1), .step = step(0), .key = "s0"});
  cluster.apply(StepPlaced{.job = JobId(1), .step = step(1)});
  cluster.apply(StepEnded{.job = JobId(1), .step = 0, .cause = Cause::failed, .exit = {.code = 3}});
  JobSubmitted allocation = submitted(4);
  allocation.submit.allocation = true;
  allocation.submit.first_step = StepWish{.name = "first"};
  cluster.apply(allocation);
  const auto back = Cluster::from_snapshot(cluster.to_snapshot());
  ASSERT_TRUE(back.has_value());
  EXPECT_TRUE(*back == cluster);
  EXPECT_EQ(cluster.array_task(JobId(2), 3)->id, JobId(3));
  EXPECT_EQ(cluster.array_task(JobId(2), 4)->id, JobId(2));
  EXPECT_EQ(cluster.dependents(JobId(1)).size(), 2U);
}

TEST(Cluster, KeepsTheHighestExitAndTheLastStepsOfAJob) {
  Cluster cluster;
  cluster.apply(node(1, 4, 1));
  cluster.apply(submitted(1));
  cluster.apply(placed(1));
  for (std::uint32_t i = 0; i < 100; ++i) {
    cluster.apply(StepPlaced{.job = JobId(1), .step = step(i), .key = "k" + std::to_string(i)});
    cluster.apply(StepEnded{.job = JobId(1), .step = i, .exit = {.code = i == 7 ? 9 : 1, .signal = 0}});
  }
  cluster.apply(StepPlaced{.job = JobId(1), .step = step(100)});
  EXPECT_EQ(cluster.steps(JobId(1)).steps.size(), 33U);
  EXPECT_EQ(cluster.steps(JobId(1)).highest, (ExitStatus{.code = 9}));
  EXPECT_EQ(cluster.steps(JobId(1)).keys.size(), 100U);
  EXPECT_TRUE(cluster.step(JobId(1), 100)->uses(NodeId(1)));
  cluster.apply(JobEnded{.job = JobId(1), .attempt = 1, .at = Instant(seconds(4))});
  EXPECT_EQ(cluster.steps(JobId(1)).over.size(), 8U);
  cluster.apply(JobsForgotten{.jobs = {JobId(1)}});
  EXPECT_TRUE(cluster.all_steps().empty());
}

TEST(Cluster, TheLastTaskKeepsTheArraysId) {
  Cluster cluster;
  JobSubmitted array = submitted(1);
  array.submit.array = ArrayPending{.tasks = {{.first = 0, .last = 1, .step = 1}}};
  cluster.apply(array);
  cluster.apply(ArrayTaskSplit{.array = JobId(1), .task = 0, .job = JobId(2)});
  cluster.apply(ArrayTaskSplit{.array = JobId(1), .task = 1, .job = JobId(1)});
  EXPECT_FALSE(cluster.job(JobId(1))->is_array());
  EXPECT_EQ(cluster.job(JobId(1))->task, 1U);
}

TEST(Events, EveryFactIsReadBackAsItWasWritten) {
  const std::vector<Event> events{node(1, 4, 1), submitted(1), placed(1),
                                  JobEnded{.job = JobId(1), .note = "x"},
                                  StepPlaced{.job = JobId(1), .step = step(3), .key = "k"},
                                  StepEnded{.job = JobId(1), .step = 3, .cause = Cause::failed, .exit = {.code = 2}},
                                  ReasonsNoted{.reasons = {{JobId(1), Reason::resources}}}};
  for (const Event& event : events) {
    const auto back = decode<Event>(encode(event));
    ASSERT_TRUE(back.has_value());
    EXPECT_TRUE(*back == event);
  }
}

}  // namespace
}  // namespace drover
