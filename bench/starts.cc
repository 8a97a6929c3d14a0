// B2 without srun: jobs that are real processes with cgroup and output file, beside a bare loop that
// only starts /bin/true, on the same machine in the same minute.
#include <string>

#include "bench/bench.h"
#include "bench/live.h"

namespace drover::bench {

void bench_starts(const Options& options, const Calibration& calibration, Rows& rows) {
  const Live live(options.programs, options.folder, 16);
  if (!live.up()) return;
  const int jobs = static_cast<int>(2'000 * options.scale) / 1000 * 1000 + (options.scale < 0.5 ? 200 : 0);
  const double begin = now_seconds();
  for (int left = jobs; left > 0; left -= 1000) {
    const int tasks = left < 1000 ? left : 1000;
    live.run({"sbatch", "-W", "-o", "/dev/null", "--array=0-" + std::to_string(tasks - 1), "--mem=16", "--wrap", "true"});
  }
  const double rate = jobs / (now_seconds() - begin);
  rows.push_back({.id = "starts.batch", .value = rate, .unit = "jobs/s", .calibration = "posix_spawn/s",
                  .ratio = rate / calibration.spawns, .goal = ">= 470 (5 x Slurm's 94)"});
  const double latency = median_of(11, [&] {
    double ms = 0;
    live.run({"sbatch", "-W", "-o", "/dev/null", "--wrap", "true"}, &ms);
    return ms;
  });
  rows.push_back({.id = "starts.submit_to_end", .value = latency, .unit = "ms", .goal = ""});
}

}  // namespace drover::bench
