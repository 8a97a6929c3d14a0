// Durations and timestamps as the commands print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slurm/script/time.h"

namespace drover::slurm {

// squeue, sinfo: 0:09, 10:00, 2:00:00, 7-00:00:00.
[[nodiscard]] std::string short_duration(std::int64_t s);
// scontrol, sacct: 00:00:09, 02:00:00, 7-00:00:00.
[[nodiscard]] std::string long_duration(std::int64_t s);
// sacct's processor time: 00:01.234, 01:02:03, 2-03:04:05.
[[nodiscard]] std::string cpu_duration(std::int64_t ms);

// How timestamps are shown: ISO by default; SLURM_TIME_FORMAT may say "standard", "relative" or a
// strftime pattern.
class TimeFormat {
 public:
  TimeFormat(Zone zone, std::int64_t now, std::string_view format = {}) : zone_(zone), now_(now), format_(format) {}

  // 2026-11-30T18:27:42; `none` for no time at all.
  [[nodiscard]] std::string print(std::optional<std::int64_t> unix, std::string_view none = "N/A") const;
  // "Mon Nov 30 18:27:51 2026", the line above squeue -l.
  [[nodiscard]] std::string heading() const;

 private:
  [[nodiscard]] std::string relative(std::int64_t unix) const;
  [[nodiscard]] std::string pattern(std::int64_t unix, const char* format) const;

  Zone zone_;
  std::int64_t now_;
  std::string format_;
};

}  // namespace drover::slurm
