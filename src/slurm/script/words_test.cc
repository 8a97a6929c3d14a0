#include "slurm/script/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover::slurm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> words(const std::string& script) {
  std::vector<std::string> all;
  const auto directives = read_directives("#!/bin/sh\n" + script, "job.sh");
  EXPECT_TRUE(directives.has_value()) << (directives ? "" : directives.error().message);
  if (!directives) return all;
  for (const Directive& directive : directives.value())
    all.insert(all.end(), directive.words.begin(), directive.words.end());
  return all;
}

TEST(Words, SeveralOptionsStandOnOneLine) {
  EXPECT_THAT(words("#SBATCH -N2 --time 10 -J x\n#SBATCH\t--mem=4G\n"),
              ElementsAre("-N2", "--time", "10", "-J", "x", "--mem=4G"));
}

TEST(Words, QuotesGroupAndBackslashesEscape) {
  EXPECT_THAT(words(R"(#SBATCH --comment="a b" -J 'c "d' --wckey=e\ f\#g "h\"i")"),
              ElementsAre("--comment=a b", "-J", "c \"d", "--wckey=e f#g", "h\"i"));
}

TEST(Words, AHashStartsACommentEvenInsideAWord) {
  EXPECT_THAT(words("#SBATCH -J name#comment -t 5\n#SBATCH -N 1 # two\n"), ElementsAre("-J", "name", "-N", "1"));
  EXPECT_THAT(words(R"(#SBATCH --container-image=docker://a\#b)"), ElementsAre("--container-image=docker://a#b"));
}

TEST(Words, DisabledAndMisspeltLinesAreComments) {  // C113
  EXPECT_THAT(words("##SBATCH -N1\n# SBATCH -N2\n #SBATCH -N3\n#SBACTH -N4\n#SBATCH-N5\n#sbatch -N6\n"), IsEmpty());
}

TEST(Words, ReadingStopsAtTheFirstCommand) {  // C115
  EXPECT_THAT(words("\n   \n  # note\n#SBATCH -N1\nsbatch <<END\n#SBATCH -N2\nEND\n"), ElementsAre("-N1"));
}

TEST(Words, AnUnmatchedQuoteIsFatal) {
  const auto directives = read_directives("#!/bin/sh\n#SBATCH -J \"abc\necho\n", "job.sh");
  ASSERT_FALSE(directives);
  EXPECT_EQ(directives.error().message, "sbatch: fatal: job.sh: line 2: Unmatched `\"` in [#SBATCH -J \"abc]");
}

TEST(Words, OnlyUnixTextWithAnInterpreterIsABatchScript) {
  EXPECT_TRUE(check_batch_script("#!/usr/bin/env python3\nprint(1)"));
  for (const std::string bad : {"", " \n", "echo hi\n", "#!/bin/sh\r\necho\r\n", "\n#!/bin/sh\n"}) {
    EXPECT_FALSE(check_batch_script(bad)) << bad;
  }
  EXPECT_FALSE(check_batch_script(std::string_view("#!/bin/sh\n\0", 11)));
}

}  // namespace
}  // namespace drover::slurm
