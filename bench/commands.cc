// Commands as whole processes against a real controller, idle and with a long queue.
#include <unistd.h>

#include <string>

#include "bench/bench.h"
#include "bench/live.h"

namespace drover::bench {
namespace {

double command_ms(const Live& live, const std::vector<std::string>& words, int runs) {
  return median_of(runs, [&] {
    ::usleep(kPauseUs);
    double ms = 0;
    live.run(words, &ms);
    return ms;
  });
}

}  // namespace

void bench_commands(const Options& options, const Calibration& calibration, Rows& rows) {
  const Live live(options.programs, options.folder, 2);
  if (!live.up()) return;
  rows.push_back({.id = "squeue.process", .value = command_ms(live, {"squeue"}, 21), .unit = "ms", .goal = "<= 5"});
  const double submit = command_ms(live, {"sbatch", "-o", "/dev/null", "--wrap", "true"}, 21);
  rows.push_back({.id = "sbatch.process", .value = submit - calibration.idle_sync, .unit = "ms",
                  .calibration = "less one idle fdatasync", .goal = "<= 3"});
  // 100 arrays of 1,000 held tasks: a hundred thousand rows with -r.
  const auto arrays = static_cast<int>(100 * options.scale);
  for (int i = 0; i < arrays; ++i) live.run({"sbatch", "-H", "--array=0-999", "-o", "/dev/null", "--wrap", "true"});
  rows.push_back({.id = "squeue.100k_tasks", .value = command_ms(live, {"squeue", "-r"}, 5), .unit = "ms",
                  .goal = "<= 100"});
  rows.push_back({.id = "squeue.100k_tasks_folded", .value = command_ms(live, {"squeue"}, 5), .unit = "ms",
                  .goal = "<= 5"});
}

}  // namespace drover::bench
