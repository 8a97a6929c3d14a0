// Arrays, job ids and dependencies: one line per case.
#include <gtest/gtest.h>

#include "slurm/script/array.h"
#include "slurm/script/dependency.h"
#include "slurm/script/jobid.h"

namespace drover::slurm {
namespace {

using Tasks = std::vector<std::uint32_t>;

TEST(Array, IsASetOfIndicesWithAThrottle) {
  EXPECT_EQ(parse_array("0-3").value(), (ArraySpec{{0, 1, 2, 3}, 0}));
  EXPECT_EQ(parse_array("0-31,40:2%4").value().tasks.size(), 33U);
  EXPECT_EQ(parse_array("1,3,3,2").value().tasks, (Tasks{1, 2, 3}));
  EXPECT_EQ(parse_array("0-10:5%1").value(), (ArraySpec{{0, 5, 10}, 1}));
  EXPECT_EQ(parse_array("5").value().tasks, Tasks{5});
  for (const char* bad :
       {"", "-1", "3-1", "1-", "a", "1,,2", "1-5:0", "1%0", "1%", "%4", "0-4000001", "1-2-3", "1:", " 1"}) {
    EXPECT_FALSE(parse_array(bad)) << bad;
  }
  EXPECT_FALSE(parse_array("0-1000", {.above_last_index = 1001, .most_tasks = 1000}));
  EXPECT_TRUE(parse_array("0-999", {.above_last_index = 1001, .most_tasks = 1000}));
  EXPECT_FALSE(parse_array("0-18446744073709551615"));
}

TEST(Array, IsPrintedAsRangesOrSteps) {
  EXPECT_EQ(print_tasks(Tasks{2, 3, 4, 5, 6, 7, 8, 9}), "2-9");
  EXPECT_EQ(print_tasks(Tasks{0, 1, 2, 7}), "0-2,7");
  EXPECT_EQ(print_tasks(Tasks{0, 2, 4, 6, 8, 10, 12}), "0-12:2");
  EXPECT_EQ(print_tasks(Tasks{0, 2, 4}), "0,2,4");
  EXPECT_EQ(print_tasks(Tasks{}), "");
  Tasks odd;
  for (std::uint32_t i = 0; i < 100; ++i) odd.push_back(3 * i + (i % 2));
  EXPECT_EQ(print_tasks(odd).size(), 64U);
  EXPECT_TRUE(print_tasks(odd).ends_with("..."));
  EXPECT_GT(print_tasks(odd, 0).size(), 200U);
}

TEST(JobIds, NameJobsTasksComponentsAndSteps) {
  EXPECT_EQ(parse_job_ref("123").value(), (JobRef{.job = 123}));
  EXPECT_EQ(parse_job_ref("123_4").value(), (JobRef{.job = 123, .tasks = {4}}));
  EXPECT_EQ(parse_job_ref("123_[0-2,7]").value(), (JobRef{.job = 123, .tasks = {0, 1, 2, 7}}));
  EXPECT_EQ(parse_job_ref("123.batch").value(), (JobRef{.job = 123, .step = "batch"}));
  EXPECT_EQ(parse_job_ref("123_4.0").value(), (JobRef{.job = 123, .tasks = {4}, .step = "0"}));
  EXPECT_EQ(parse_job_ref("123+1").value(), (JobRef{.job = 123, .component = 1}));
  EXPECT_EQ(parse_job_refs("1,2_[0-1,5],7.batch").value().size(), 3U);
  for (const char* bad :
       {"", "x", "0", "-1", "1_", "1_x", "1.", "1.x", "1+", "1_[", "1_[1", "12a", "99999999999999999999"}) {
    EXPECT_FALSE(parse_job_ref(bad)) << bad;
    EXPECT_FALSE(parse_job_refs(bad)) << bad;
  }
}

TEST(Dependencies, AreAllOrAny) {
  using enum DependencyKind;
  const auto list = [](std::string_view text) { return parse_dependencies(text).value().list; };
  EXPECT_EQ(list("afterok:1:2"), (std::vector<DependencySpec>{{after_ok, 1}, {after_ok, 2}}));
  EXPECT_EQ(list("after:5+10"), (std::vector<DependencySpec>{{after, 5, {}, 10}}));
  EXPECT_EQ(list("afterany:5_7,singleton"), (std::vector<DependencySpec>{{after_any, 5, 7}, {singleton}}));
  EXPECT_EQ(list("12:13"), (std::vector<DependencySpec>{{after_any, 12}, {after_any, 13}}));
  EXPECT_EQ(list("aftercorr:4,afternotok:3"), (std::vector<DependencySpec>{{after_corr, 4}, {after_not_ok, 3}}));
  EXPECT_FALSE(parse_dependencies("afterok:1,afterok:2").value().any);
  EXPECT_TRUE(parse_dependencies("afterok:1?afterany:2").value().any);
  for (const char* bad :
       {"", "afterok", "afterok:", "afterok:x", "aftermath:1", "afterok:1,afterok:2?afterok:3", "singleton:1",
        "afterok:1+5", "after:1+", ",", "afterok:1,", "afterok:1_[1-2]", "afterok:1.batch", "afterok:-1"}) {
    EXPECT_FALSE(parse_dependencies(bad)) << bad;
  }
}

}  // namespace
}  // namespace drover::slurm
