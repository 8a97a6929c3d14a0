#include "slurm/launch/mail.h"

#include <gtest/gtest.h>

namespace drover::slurm {
namespace {

Cluster with_job(std::optional<ArrayPending> array = {}) {
  Cluster cluster;
  NodeRegistered node{.node = NodeId(1)};
  node.inventory.name = "n1";
  node.inventory.cpus = 4;
  node.inventory.memory = gibibytes(4);
  cluster.apply(node);
  cluster.apply(JobSubmitted{.job = JobId(1), .owner = {.uid = 7, .user = "ann"},
                             .submit = {.name = "train", .partitions = "main", .array = std::move(array)},
                             .at = Instant(seconds(100))});
  return cluster;
}

void start(Cluster& cluster, JobId job, std::uint32_t cpu = 0) {
  NodeShare share{.node = NodeId(1)};
  share.cpus.add(cpu);
  cluster.apply(JobPlaced{.job = job, .attempt = 1, .partition = "main", .placement = {.shares = {share}},
                          .at = Instant(seconds(103))});
  cluster.apply(JobStarted{.job = job, .attempt = 1});
}

TEST(Mail, BeginAndEndSpeakAsSlurmDoes) {
  Cluster cluster = with_job();
  const JobSpec spec{.mail_types = "BEGIN,END"};
  start(cluster, JobId(1));
  const auto began = mail_of(cluster, JobStarted{.job = JobId(1)}, spec);
  ASSERT_TRUE(began);
  EXPECT_EQ(began->to, "ann");
  EXPECT_EQ(began->subject, "Slurm Job_id=1 Name=train Began, Queued time 00:00:03");
  const JobEnded end{.job = JobId(1), .attempt = 1, .cause = Cause::failed, .exit = {.code = 3},
                     .at = Instant(seconds(110))};
  cluster.apply(end);
  const auto ended = mail_of(cluster, end, spec);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->subject, "Slurm Job_id=1 Name=train Failed, Run time 00:00:07, FAILED, ExitCode 3");
}

TEST(Mail, NobodyIsWrittenToUnasked) {
  Cluster cluster = with_job();
  start(cluster, JobId(1));
  EXPECT_FALSE(mail_of(cluster, JobStarted{.job = JobId(1)}, {}));
  EXPECT_FALSE(mail_of(cluster, JobStarted{.job = JobId(1)}, {.mail_types = "END"}));
  EXPECT_FALSE(mail_of(cluster, JobStarted{.job = JobId(1)}, {.mail_user = "-A/etc/x", .mail_types = "ALL"}));
}

TEST(Mail, AnArrayWritesOnceUnlessItsTasksAreAskedFor) {
  Cluster cluster = with_job(ArrayPending{.tasks = {{0, 1, 1}}});
  cluster.apply(ArrayTaskSplit{.array = JobId(1), .task = 0, .job = JobId(2)});
  cluster.apply(ArrayTaskSplit{.array = JobId(1), .task = 1, .job = JobId(1)});
  start(cluster, JobId(2), 0);
  EXPECT_TRUE(mail_of(cluster, JobStarted{.job = JobId(2)}, {.mail_types = "BEGIN"}));
  start(cluster, JobId(1), 1);
  EXPECT_FALSE(mail_of(cluster, JobStarted{.job = JobId(1)}, {.mail_types = "BEGIN"}));
  EXPECT_TRUE(mail_of(cluster, JobStarted{.job = JobId(1)}, {.mail_types = "BEGIN,ARRAY_TASKS"}));
  const JobEnded end{.job = JobId(2), .attempt = 1, .at = Instant(seconds(110))};
  cluster.apply(end);
  EXPECT_FALSE(mail_of(cluster, end, {.mail_types = "END"}));
}

}  // namespace
}  // namespace drover::slurm
