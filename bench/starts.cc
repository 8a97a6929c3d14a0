// B2 without srun: jobs that are real processes with cgroup and output file, beside a bare loop that
// starts /bin/true in the same cgroup directories, on the same machine in the same minute.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/bare.h"
#include "bench/bench.h"
#include "bench/live.h"
#include "os/fd.h"

namespace drover::bench {
namespace {

constexpr int kArray = 1000;
constexpr int kPatienceMs = 10'000;

double batch_jobs_a_second(const Live& live, int jobs) {
  const double begin = now_seconds();
  for (int left = jobs; left > 0; left -= kArray) {
    const int tasks = std::min(left, kArray);
    live.run({"sbatch", "-W", "-o", "/dev/null", "--array=0-" + std::to_string(tasks - 1), "--mem=16", "--wrap", "true"});
  }
  return jobs / (now_seconds() - begin);
}

// From the start of sbatch, which has to start itself, to the first line of the script.
double submit_to_exec_ms(const Live& live, const std::string& folder) {
  const std::string path = folder + "/mark";
  if (::mkfifo(path.c_str(), 0600) != 0) return 0;
  const Fd mark(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  const double ms = median_of(21, [&] {
    ::usleep(kPauseUs);
    const double begin = now_seconds();
    live.run({"sbatch", "-o", "/dev/null", "--wrap", "echo >" + path});
    pollfd written{.fd = mark.get(), .events = POLLIN, .revents = 0};
    ::poll(&written, 1, kPatienceMs);
    const double end = now_seconds();
    char byte = 0;
    [[maybe_unused]] const ssize_t n = ::read(mark.get(), &byte, 1);
    return (end - begin) * 1e3;
  });
  ::unlink(path.c_str());
  return ms;
}

}  // namespace

void bench_starts(const Options& options, const Calibration& calibration, Rows& rows) {
  const Live live(options.programs, options.folder, 16);
  if (!live.up()) return;
  const int jobs = std::max(200, static_cast<int>(4'000 * options.scale));
  // The bare loop between the runs: a shared machine changes from minute to minute.
  std::vector<double> bare;
  const double rate = median_of(3, [&] {
    bare.push_back(bare_starts_a_second());
    return batch_jobs_a_second(live, jobs);
  });
  std::ranges::sort(bare);
  const double limit = bare[bare.size() / 2];
  rows.push_back({.id = "B2.bare", .value = limit, .unit = "1/s", .calibration = "posix_spawn/s",
                  .ratio = limit / calibration.spawns});
  rows.push_back({.id = "B2.batch", .value = rate, .unit = "jobs/s", .calibration = "B2.bare",
                  .ratio = limit > 0 ? rate / limit : 0, .goal = ">= 0.8 x bare; >= 470 (5 x Slurm's 94)"});
  rows.push_back({.id = "B2.submit_to_exec", .value = submit_to_exec_ms(live, options.folder) - calibration.idle_sync,
                  .unit = "ms", .calibration = "less one idle fdatasync", .goal = "<= 3"});
  const double latency = median_of(11, [&] {
    ::usleep(kPauseUs);
    double ms = 0;
    live.run({"sbatch", "-W", "-o", "/dev/null", "--wrap", "true"}, &ms);
    return ms;
  });
  rows.push_back({.id = "B2.submit_to_end", .value = latency, .unit = "ms", .goal = ""});
}

}  // namespace drover::bench
