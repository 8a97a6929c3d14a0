#include "slurm/script/logname.h"

#include <gtest/gtest.h>

namespace drover::slurm {
namespace {

TEST(LogName, ExpandsEveryLetter) {  // C118
  const LogNames names{.job = 77,
                       .array_job = 70,
                       .task = 12,
                       .job_name = "train",
                       .user = "alice",
                       .node = "n1",
                       .node_rank = 2,
                       .process = 3,
                       .restarts = 1};
  const std::pair<const char*, const char*> cases[] = {{"slurm-%j.out", "slurm-77.out"},
                                                       {"%x_%A_%a", "train_70_12"},
                                                       {"%u/%N/%n/%t", "alice/n1/2/3"},
                                                       {"%J", "77"},
                                                       {"%4j-%5a", "0077-00012"},
                                                       {"%%j", "%j"},
                                                       {"100%", "100%"},
                                                       {"%q", "%q"},
                                                       {"\\%j", "%j"},
                                                       {"%99j", "0000000077"},
                                                       {"%b", "2"},
                                                       {"%s", "batch"},
                                                       {"%4x", "train"},
                                                       {"", ""},
                                                       {"%", "%"},
                                                       {"%5", "%5"},
                                                       {"%r", "1"},
                                                       {"a\\b%j", "ab%j"}};
  for (const auto& [pattern, expected] : cases) EXPECT_EQ(expand_log_name(pattern, names), expected) << pattern;
}

TEST(LogName, AHostileJobNameStaysInItsFolder) {
  EXPECT_EQ(expand_log_name("logs/%x.out", {.job_name = "$(touch pwn);../../x"}), "logs/$(touch pwn);.._.._x.out");
}

TEST(LogName, OutsideAnArrayTheTaskIsSlurmsOddNumber) {
  EXPECT_EQ(expand_log_name("%a", {}), "4294967294");
  EXPECT_EQ(default_log_name(true), "slurm-%A_%a.out");
}

}  // namespace
}  // namespace drover::slurm
