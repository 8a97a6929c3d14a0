#include "slurm/script/time.h"

#include <gtest/gtest.h>

#include "slurm/render/time.h"

namespace drover::slurm {
namespace {

// Minutes of the limit; 0 for none, -1 for an error.
std::int64_t limit(std::string_view text) {
  const auto parsed = parse_time_limit(text);
  if (!parsed) return -1;
  return parsed.value() ? whole_minutes(*parsed.value()).count() : 0;
}

TEST(TimeLimit, TakesEveryShapeAndRoundsUpToMinutes) {  // C73
  const std::pair<const char*, std::int64_t> cases[] = {
      {"90", 90},       {"90:30", 91},       {"1:30:00", 90},     {"3-0", 4320},
      {"3-0:00", 4320}, {"3-0:00:00", 4320}, {"0:12345", 206},    {"0:240:0", 240},
      {"4320", 4320},   {"UNLIMITED", 0},    {"infinite", 0},     {"-1", 0},
      {"0", 0},         {"1:2:3:4", -1},     {"1.5h", -1},        {"", -1},
      {"-", -1},        {"1-", -1},          {"-5", -1},          {"1:", -1},
      {":1", -1},       {"1-2-3", -1},       {"1-2:3:4:5", -1},   {"0x10", -1},
      {" 5", -1},       {"9999999999", -1},  {"999999999-0", -1}, {"1:2:3", 63},
      {"1-2:3", 1563},  {"01:00:00", 60}};
  for (const auto& [text, minutes_expected] : cases) EXPECT_EQ(limit(text), minutes_expected) << text;
}

constexpr std::int64_t kNow = 1796063262;  // 2026-11-30T18:27:42 UTC, a Monday

std::string when(std::string_view text, Lean lean = Lean::ahead) {
  const auto at = parse_when(text, kNow, utc_zone(), lean);
  return at ? TimeFormat(utc_zone(), kNow).print(at.value()) : "error";
}

TEST(When, LooksAhead) {
  const std::pair<const char*, const char*> cases[] = {{"now", "2026-11-30T18:27:42"},
                                                       {"now+1hour", "2026-11-30T19:27:42"},
                                                       {"now+60", "2026-11-30T18:28:42"},
                                                       {"now+2days", "2026-12-02T18:27:42"},
                                                       {"now+1week", "2026-12-07T18:27:42"},
                                                       {"now-10minutes", "2026-11-30T18:17:42"},
                                                       {"midnight", "2026-12-01T00:00:00"},
                                                       {"noon", "2026-12-01T12:00:00"},
                                                       {"fika", "2026-12-01T15:00:00"},
                                                       {"teatime", "2026-12-01T16:00:00"},
                                                       {"today", "2026-11-30T00:00:00"},
                                                       {"tomorrow", "2026-12-01T00:00:00"},
                                                       {"tomorrow 16:30", "2026-12-01T16:30:00"},
                                                       {"19:00", "2026-11-30T19:00:00"},
                                                       {"18:00", "2026-12-01T18:00:00"},
                                                       {"7:05:09 PM", "2026-11-30T19:05:09"},
                                                       {"12:00AM", "2026-12-01T00:00:00"},
                                                       {"0115", "2027-01-15T00:00:00"},
                                                       {"011528", "2028-01-15T00:00:00"},
                                                       {"12/24", "2026-12-24T00:00:00"},
                                                       {"1/2/27", "2027-01-02T00:00:00"},
                                                       {"12.24.2026", "2026-12-24T00:00:00"},
                                                       {"2027-01-31T16:30:05", "2027-01-31T16:30:05"},
                                                       {"2027-01-31T16:30", "2027-01-31T16:30:00"},
                                                       {"2027-01-31", "2027-01-31T00:00:00"},
                                                       {"16:00 12/12", "2026-12-12T16:00:00"},
                                                       {"uts1796063262", "2026-11-30T18:27:42"},
                                                       {"2026-01-01", "2026-01-01T00:00:00"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(when(text), expected) << text;
}

TEST(When, LooksBackForAccounting) {
  EXPECT_EQ(when("1215", Lean::back), "2025-12-15T00:00:00");
  EXPECT_EQ(when("now-1hour", Lean::back), "2026-11-30T17:27:42");
  EXPECT_EQ(when("00:00", Lean::back), "2026-11-30T00:00:00");
  EXPECT_EQ(when("1970-01-01T00:00:01", Lean::back), "1970-01-01T00:00:01");
}

TEST(When, RefusesNonsense) {
  for (const char* bad :
       {"", "soon", "now+", "now+1parsec", "25:00", "12:60", "13:00 PM", "1332", "2027-13-01", "now 5:00",
        "5:00 6:00", "12/24 12/25", "uts", "utsx", "PM", "1/2/", "now+99999999999", "2027-01-31Tx"}) {
    EXPECT_EQ(when(bad), "error") << bad;
  }
}

TEST(Durations, HaveAShortAndALongStyle) {
  const std::tuple<std::int64_t, const char*, const char*> cases[] = {
      {9, "0:09", "00:00:09"},       {600, "10:00", "00:10:00"},
      {7200, "2:00:00", "02:00:00"}, {604800, "7-00:00:00", "7-00:00:00"},
      {0, "0:00", "00:00:00"},       {93784, "1-02:03:04", "1-02:03:04"}};
  for (const auto& [s, brief, full] : cases) {
    EXPECT_EQ(short_duration(s), brief);
    EXPECT_EQ(long_duration(s), full);
  }
  EXPECT_EQ(cpu_duration(1234), "00:01.234");
  EXPECT_EQ(cpu_duration(3723000), "01:02:03");
}

TEST(Timestamps, FollowTheTimeFormat) {
  EXPECT_EQ(TimeFormat(utc_zone(), kNow).print(std::nullopt), "N/A");
  EXPECT_EQ(TimeFormat(utc_zone(), kNow, "standard").print(kNow), "2026-11-30T18:27:42");
  EXPECT_EQ(TimeFormat(utc_zone(), kNow, "%s|%H").print(kNow).substr(10), "|18");
  EXPECT_EQ(TimeFormat(utc_zone(), kNow, "relative").print(kNow + 5), "18:27:47");
  EXPECT_EQ(TimeFormat(utc_zone(), kNow, "relative").print(kNow + 86400), "Tomorr 18:27");
  EXPECT_EQ(TimeFormat(utc_zone(), kNow, "relative").print(kNow - 86400 * 20), "10 Nov 18:27");
  EXPECT_EQ(TimeFormat(utc_zone(), kNow).heading(), "Mon Nov 30 18:27:42 2026");
}

}  // namespace
}  // namespace drover::slurm
