#include "api/views.h"

#include <gtest/gtest.h>

#include "api/service.h"

namespace drover::api {
namespace {

TEST(Views, AWaitingJobSaysWhatItsRequestComesTo) {
  Cluster cluster;
  JobSubmitted e{.job = JobId(1), .owner = {.user = "ann"}, .submit = {.name = "j", .partitions = "main"}};
  e.submit.request.tasks = 3;
  e.submit.request.cpus_per_task = 2;
  cluster.apply(e);
  const JobView view = job_view(cluster, *cluster.job(JobId(1)), Fields{});
  EXPECT_EQ(view.cpu_count, 6U);
  EXPECT_EQ(view.user, "ann");
  EXPECT_TRUE(job_view(cluster, *cluster.job(JobId(1)), Fields({1, 14})).user.empty());
}

}  // namespace
}  // namespace drover::api
