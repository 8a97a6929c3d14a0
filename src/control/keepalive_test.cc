#include "control/keepalive.h"

#include <gtest/gtest.h>

namespace drover::control {
namespace {

constexpr Duration at(int second) { return seconds(second); }

Cluster with_allocations() {
  Cluster cluster;
  NodeRegistered node{.node = NodeId(1)};
  node.inventory.name = "n1";
  node.inventory.cpus = 8;
  cluster.apply(node);
  for (std::uint32_t i = 1; i <= 3; ++i) {
    JobSubmitted job{.job = JobId(i), .submit = {.partitions = "main"}};
    job.submit.allocation = i != 3;
    cluster.apply(job);
    NodeShare share{.node = NodeId(1)};
    share.cpus.add(i);
    cluster.apply(JobPlaced{.job = JobId(i), .placement = {.shares = {share}}});
    cluster.apply(JobStarted{.job = JobId(i)});
  }
  return cluster;
}

TEST(Keepalive, NamesTheAllocationsWhoseClientIsSilent) {
  const Cluster cluster = with_allocations();
  Keepalive keepalive;
  for (std::uint32_t i = 1; i <= 3; ++i) keepalive.follow(cluster, JobStarted{.job = JobId(i)}, at(0));
  keepalive.heard(JobId(2), at(30));
  EXPECT_TRUE(keepalive.silent(at(59)).empty());
  EXPECT_EQ(keepalive.silent(at(60)), (std::vector<JobId>{JobId(1)}));
  EXPECT_TRUE(keepalive.silent(at(61)).empty()) << "once";
  EXPECT_EQ(keepalive.silent(at(90)), (std::vector<JobId>{JobId(2)}));
  EXPECT_EQ(keepalive.silent(at(120)), (std::vector<JobId>{JobId(1)})) << "its end may have been refused";
  keepalive.follow(cluster, JobEnding{.job = JobId(1)}, at(121));
  keepalive.follow(cluster, JobEnded{.job = JobId(2)}, at(121));
  keepalive.heard(JobId(1), at(122));
  EXPECT_TRUE(keepalive.silent(at(1000)).empty());
}

TEST(Keepalive, AStartOfTheControllerCountsAsHeard) {
  Keepalive keepalive;
  keepalive.begin(with_allocations(), at(500));
  EXPECT_TRUE(keepalive.silent(at(559)).empty());
  EXPECT_EQ(keepalive.silent(at(560)), (std::vector<JobId>{JobId(1), JobId(2)}));
}

}  // namespace
}  // namespace drover::control
