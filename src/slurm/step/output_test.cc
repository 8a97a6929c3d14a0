#include "slurm/step/output.h"

#include <gtest/gtest.h>

namespace drover::slurm {
namespace {

TEST(OutputLines, LabelWholeLinesAsWideAsTheLargestTask) {
  OutputLines lines({.label = true, .tasks = 11});
  EXPECT_EQ(lines.take(3, "a\nb"), " 3: a\n");
  EXPECT_EQ(lines.take(10, "x\ny\n"), "10: x\n10: y\n");
  EXPECT_EQ(lines.take(3, "c\n"), " 3: bc\n");
  EXPECT_EQ(lines.take(3, "no end"), "");
  EXPECT_EQ(lines.end(3), " 3: no end\n");
  EXPECT_EQ(lines.end(3), "");
}

TEST(OutputLines, OneTaskIsSeenAtOnce) {
  OutputLines lines({.tasks = 1});
  EXPECT_EQ(lines.take(0, "name? "), "name? ");
  EXPECT_EQ(lines.end(0), "");
}

TEST(OutputLines, OfSeveralTasksStayWhole) {
  OutputLines lines({.tasks = 2});
  EXPECT_EQ(lines.take(0, "one "), "");
  EXPECT_EQ(lines.take(1, "other\n"), "other\n");
  EXPECT_EQ(lines.take(0, "line\nnext"), "one line\n");
  EXPECT_EQ(lines.take(1, "50%\r60"), "50%\r");
  EXPECT_EQ(lines.end(0), "next");
  EXPECT_EQ(lines.take(0, std::string(70'000, 'x')).size(), 70'000U);
}

TEST(OutputLines, UnbufferedPiecesOfTwoTasksNeverShareALine) {
  OutputLines lines({.label = true, .unbuffered = true, .tasks = 2});
  EXPECT_EQ(lines.take(0, "a"), "0: a");
  EXPECT_EQ(lines.take(0, "b"), "b");
  EXPECT_EQ(lines.take(1, "c\n"), "\n1: c\n");
  EXPECT_EQ(lines.take(0, "d"), "0: d");
  EXPECT_EQ(lines.end(0), "\n");
}

}  // namespace
}  // namespace drover::slurm
