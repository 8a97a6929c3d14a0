// What every benchmark reports: a figure, the calibration of the same run beside it, their ratio, and
// the goal. Absolute times on a shared machine mean little; the ratio to what the machine can do at
// that moment does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace drover::bench {

struct Row {
  std::string id;           // "life.durable"
  double value = 0;
  std::string unit;         // "jobs/s", "us", "B", "ms"
  std::string calibration;  // what the ratio is to
  double ratio = 0;         // value / calibration, 0: none
  std::string goal;
};

// What this machine gives at this moment.
struct Calibration {
  double syncs = 0;      // appends of 4 KiB with fdatasync, a second
  double idle_sync = 0;  // milliseconds of one of them after a pause, as a command on an idle cluster meets it
  double spawns = 0;     // posix_spawn and wait of /bin/true, a second
  double round_trip = 0; // microseconds of one byte there and back over a socket pair
};
inline constexpr unsigned kPauseUs = 60'000;  // between commands, so that what one set in motion has come to rest
[[nodiscard]] Calibration calibrate(const std::string& folder);

// The median of `runs` figures.
[[nodiscard]] double median_of(int runs, const std::function<double()>& run);
[[nodiscard]] double now_seconds();
[[nodiscard]] std::int64_t resident_bytes();

struct Options {
  std::string folder;    // of its own, on a real disk
  std::string programs;  // where droverd, drover-agent and the commands are
  double scale = 1;      // 0.1: a quick look
};

using Rows = std::vector<Row>;
void bench_core(const Options& options, Rows& rows);
void bench_durable(const Options& options, const Calibration& calibration, Rows& rows);
void bench_commands(const Options& options, const Calibration& calibration, Rows& rows);
void bench_kube(const Options& options, const Calibration& calibration, Rows& rows);
void bench_reconnect(const Options& options, Rows& rows);
void bench_starts(const Options& options, const Calibration& calibration, Rows& rows);
void bench_steps(const Options& options, const Calibration& calibration, Rows& rows);

}  // namespace drover::bench
