// squeue against the bytes of the reference system.
#include <gtest/gtest.h>

#include "doors/fixture.h"
#include "doors/golden.h"
#include "native/rows.h"
#include "slurm/render/queue.h"

namespace drover::slurm {
namespace {

const Instant kNow(seconds(fixture::kNow));

Look look() { return {.times = TimeFormat(utc_zone(), fixture::kNow), .now = kNow}; }

const std::map<std::string, Golden>& golden() {
  static const auto entries = read_golden("commands.txt");
  return entries;
}

std::vector<api::JobView> jobs(bool all = false) {
  std::vector<api::JobView> chosen;
  for (api::JobView& job : fixture::queue_jobs()) {
    if (all || job.phase != Phase::ended) chosen.push_back(job);
  }
  return chosen;
}

std::string table(const Layout& layout, std::vector<api::JobView> rows, std::string_view sort = "P,t,-p",
                  bool header = true) {
  EXPECT_TRUE(sort_jobs(rows, sort, kNow));
  std::string text = header ? job_header(layout) : "";
  for (const api::JobView& job : rows) add_job_line(text, layout, job, look());
  return text;
}

std::string line(const Layout& layout, const api::JobView& job) {
  std::string text;
  add_job_line(text, layout, job, look());
  return text;
}

TEST(SqueueGolden, DefaultAndLong) {
  EXPECT_EQ(table(job_layout(kQueueFormat), jobs()), golden().at("squeue").output);
  EXPECT_EQ(look().times.heading() + "\n" + table(job_layout(kQueueLong), jobs()), golden().at("squeue -l").output);
}

TEST(SqueueGolden, ArraysExpanded) {
  std::vector<api::JobView> tasks;
  each_task(jobs(), [&](const api::JobView& job) { tasks.push_back(job); });
  EXPECT_EQ(table(job_layout(kQueueFormat), tasks), golden().at("squeue -r").output);
}

TEST(SqueueGolden, AllStates) {
  EXPECT_EQ(table(job_layout(kQueueFormat), jobs(true)), golden().at("squeue -t all").output);
}

TEST(SqueueGolden, ExpectedStarts) {
  auto rows = jobs();
  ASSERT_TRUE(sort_jobs(rows, "S", kNow));
  const Layout layout = job_layout(kQueueStart);
  std::string text = job_header(layout);
  for (const api::JobView& job : rows) {
    if (job.phase == Phase::waiting) add_job_line(text, layout, job, look());
  }
  EXPECT_EQ(text, golden().at("squeue --start").output);
}

TEST(SqueueGolden, Steps) {
  auto rows = jobs();
  std::erase_if(rows, [](const api::JobView& job) { return job.phase != Phase::running; });
  ASSERT_TRUE(sort_jobs(rows, "P,i", kNow));
  const Layout layout = step_layout(kStepFormat);
  std::string text = step_header(layout);
  for (const api::JobView& job : rows) text += step_line(layout, {.job = job}, look());
  EXPECT_EQ(text, golden().at("squeue -s").output);
}

TEST(SqueueGolden, EveryLetter) {
  const std::string first = "%i|%P|%j|%u|%T|%M|%l|%D|%C|%m|%R|%r|%Q|%b|%N|%f|%k|%A|%K|%F";
  EXPECT_EQ(table(job_layout(first), jobs(), "P,t,-p", false), golden().at("squeue -h -o \"" + first + "\"").output);
  const std::string second = "%.10i %.12j %.3t %.20S %.20e %.20V %.8q %a %Z";
  EXPECT_EQ(table(job_layout(second), jobs(true), "P,t,-p", false),
            golden().at("squeue -h -t all -o \"" + second + "\"").output);
}

TEST(SqueueGolden, NamedFields) {
  const auto layout =
      parse_names("JobID,Name:20,StateCompact,tres-alloc:60,NodeList,ReasonList", job_field_by_name, "squeue");
  ASSERT_TRUE(layout);
  std::string text = table(layout.value(), jobs());
  const std::string expected =
      golden().at("squeue -O JobID,Name:20,StateCompact,tres-alloc:60,NodeList,ReasonList").output;
  // The reference counted no GPUs.
  for (std::size_t at = text.find(",gres/gpu="); at != std::string::npos; at = text.find(",gres/gpu=", at)) {
    const std::size_t end = text.find(' ', at);
    text.replace(at, end - at, end - at, ' ');
  }
  EXPECT_EQ(text, expected);
}

TEST(SqueueGolden, PercentSignsCollapse) {
  auto rows = jobs();
  std::erase_if(rows, [](const api::JobView& job) { return job.phase != Phase::waiting; });
  EXPECT_EQ(table(job_layout("%y%%"), rows), golden().at("squeue -o %y%% -t PD").output);
}

TEST(Squeue, ControlCharactersAndUnknownLettersComeThrough) {  // C88
  const Layout layout = job_layout("%i\x1e%b\x1f%k\x1e%?");
  EXPECT_EQ(layout.complaints.size(), 1U);
  EXPECT_EQ(line(layout, jobs().at(4)), "5\x1eN/A\x1f(null)\x1e%?\n");
}

TEST(Squeue, AllIsEveryLetter) {
  const Layout layout = job_layout("%all");
  EXPECT_TRUE(layout.complaints.empty());
  EXPECT_GT(layout.columns.size(), 45U);
  EXPECT_FALSE(line(layout, jobs().front()).empty());
}

TEST(Squeue, AColumnReadsNoMoreThanItAsksFor) {
  for (const JobField& field : job_fields()) {
    const api::Fields asked(view_fields(field.reads));
    for (const api::JobView& job : jobs(true)) {
      std::string rows;
      native::append_row(rows, job, asked);
      api::JobView carried;
      native::RowCutter cutter;
      ASSERT_TRUE(cutter.feed(rows, [&](std::string_view row) -> Status {
        carried = TRY(decode<api::JobView>(row));
        return Done{};
      }));
      EXPECT_EQ(field.text(carried, look()), field.text(job, look())) << field.letter << field.name;
    }
  }
}

TEST(Squeue, AWrongSortKeyIsRefused) {
  auto rows = jobs();
  EXPECT_FALSE(sort_jobs(rows, "P,?", kNow));
}

}  // namespace
}  // namespace drover::slurm
