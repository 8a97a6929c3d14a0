// Steps with real processes: srun as a whole, a wide step, and a gigabyte of output.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "bench/bench.h"
#include "bench/live.h"
#include "os/fd.h"
#include "os/file.h"

namespace drover::bench {
namespace {

constexpr int kAgents = 16;
constexpr std::size_t kPiece = 64U << 10U;

double srun_ms(const Live& live) {
  return median_of(21, [&] {
    ::usleep(kPauseUs);
    double ms = 0;
    live.run({"srun", "-n1", "true"}, &ms);
    return ms;
  });
}

// From the start of srun until the last task runs: each task says when, by the clock since boot.
double wide_start_s(const Live& live, int tasks) {
  return median_of(5, [&] {
    ::usleep(500'000);
    timespec begin{};
    ::clock_gettime(CLOCK_BOOTTIME, &begin);
    const std::string said = live.run({"srun", "-N" + std::to_string(kAgents), "-n" + std::to_string(tasks), "--mem=1024",
                                       "cut", "-d ", "-f1", "/proc/uptime"});
    double last = 0;
    int seen = 0;
    for (const std::string_view line : split(said, '\n')) {
      if (line.empty()) continue;
      last = std::max(last, std::strtod(std::string(line).c_str(), nullptr));
      ++seen;
    }
    if (seen != tasks) std::fprintf(stderr, "%d of %d tasks have spoken\n", seen, tasks);
    return last - (static_cast<double>(begin.tv_sec) + static_cast<double>(begin.tv_nsec) / 1e9);
  });
}

// What two processes get through a pipe, 64 KiB at a time, in GB a second.
double pipe_rate(std::size_t total) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return 0;
  Fd reader(ends[0]);
  Fd writer(ends[1]);
  std::vector<char> piece(kPiece, 'x');
  const double begin = now_seconds();
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (std::size_t sent = 0; sent < total;) {
      const ssize_t n = ::write(writer.get(), piece.data(), piece.size());
      if (n <= 0) break;
      sent += static_cast<std::size_t>(n);
    }
    ::_exit(0);
  }
  writer.reset();
  while (::read(reader.get(), piece.data(), piece.size()) > 0) {
  }
  ::waitpid(pid, nullptr, 0);
  return static_cast<double>(total) / (now_seconds() - begin) / 1e9;
}

double copy_rate(std::size_t total) {
  std::vector<char> from(kPiece, 'x');
  std::vector<char> to(kPiece);
  const double begin = now_seconds();
  for (std::size_t done = 0; done < total; done += kPiece) {
    std::memcpy(to.data(), from.data(), kPiece);
    from[done / kPiece % kPiece] = to[kPiece / 2];
  }
  return static_cast<double>(total) / (now_seconds() - begin) / 1e9;
}

// The most that any of our processes with these words in its command line ever had in memory, in MiB.
double peak_of(const std::string& word, const std::string& state) {
  double peak = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto words = read_file(entry.path().string() + "/cmdline");
    if (!words || words->find(word) == std::string::npos || words->find(state) == std::string::npos) continue;
    const auto status = read_file(entry.path().string() + "/status");
    const std::size_t at = status ? status->find("VmHWM:") : std::string::npos;
    if (at != std::string::npos) peak = std::max(peak, std::strtod(status->c_str() + at + 6, nullptr) / 1024);
  }
  return peak;
}

void output(const Live& live, const std::string& folder, double scale, Rows& rows) {
  const auto bytes = static_cast<std::size_t>(1e9 * scale);
  const std::string shim_said = folder + "/shim-peak";
  const std::string script = "head -c " + std::to_string(bytes) + " /dev/zero; grep VmHWM /proc/$PPID/status >" + shim_said;
  const double limit = pipe_rate(bytes);
  const double copy = copy_rate(bytes);
  std::int64_t srun_peak = 0;
  double agent_growth = 0;
  const double rate = median_of(3, [&] {
    const double before = peak_of("drover-agent", live.state());
    double ms = 0;
    srun_peak = std::max(srun_peak, live.run_to_nowhere({"srun", "-n1", "sh", "-c", script}, &ms));
    agent_growth = std::max(agent_growth, peak_of("drover-agent", live.state()) - before);
    return static_cast<double>(bytes) / ms / 1e6;
  });
  const auto shim = read_file(shim_said);
  const double shim_peak = shim && shim->starts_with("VmHWM:") ? std::strtod(shim->c_str() + 6, nullptr) / 1024 : 0;
  rows.push_back({.id = "output.copy", .value = copy, .unit = "GB/s"});
  rows.push_back({.id = "output.pipe", .value = limit, .unit = "GB/s", .calibration = "memcpy of 64 KiB", .ratio = limit / copy});
  rows.push_back({.id = "output.1gb", .value = rate, .unit = "GB/s", .calibration = "memcpy of 64 KiB", .ratio = rate / copy,
                  .goal = "memory-copy speed"});
  rows.push_back({.id = "output.1gb_per_pipe", .value = rate, .unit = "GB/s", .calibration = "one pipe", .ratio = rate / limit});
  rows.push_back({.id = "output.srun_peak", .value = static_cast<double>(srun_peak) / 1024, .unit = "MiB", .goal = "does not grow"});
  rows.push_back({.id = "output.shim_peak", .value = shim_peak, .unit = "MiB", .goal = "does not grow"});
  rows.push_back({.id = "output.agent_growth", .value = agent_growth, .unit = "MiB", .goal = "0"});
}

}  // namespace

void bench_steps(const Options& options, const Calibration& calibration, Rows& rows) {
  const Live live(options.programs, options.folder, kAgents);
  if (!live.up()) return;
  rows.push_back({.id = "B2.srun", .value = srun_ms(live) - calibration.idle_sync, .unit = "ms",
                  .calibration = "less one idle fdatasync", .goal = "<= 6"});
  const int tasks = std::max(kAgents, static_cast<int>(1000 * options.scale));
  const double start = wide_start_s(live, tasks);
  rows.push_back({.id = "steps.1000_tasks", .value = start, .unit = "s", .calibration = "as many bare spawns",
                  .ratio = start * calibration.spawns / tasks, .goal = "<= 1"});
  output(live, options.folder, options.scale, rows);
}

}  // namespace drover::bench
