#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "bench/bench.h"

extern char** environ;

namespace drover::bench {
namespace {

double syncs_a_second(const std::string& folder) {
  const std::string path = folder + "/calibrate";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const std::string page(4096, 'x');
  const double begin = now_seconds();
  int count = 0;
  while (now_seconds() - begin < 0.3 && ::write(fd, page.data(), page.size()) > 0 && ::fdatasync(fd) == 0) ++count;
  const double rate = count / (now_seconds() - begin);
  ::close(fd);
  ::unlink(path.c_str());
  return rate;
}

double idle_sync_ms(const std::string& folder) {
  const std::string path = folder + "/calibrate";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const std::string page(4096, 'x');
  const double ms = median_of(21, [&] {
    ::usleep(kPauseUs);
    const double begin = now_seconds();
    if (::write(fd, page.data(), page.size()) < 0 || ::fdatasync(fd) != 0) return 0.0;
    return (now_seconds() - begin) * 1e3;
  });
  ::close(fd);
  ::unlink(path.c_str());
  return ms;
}

double spawns_a_second() {
  const double begin = now_seconds();
  int count = 0;
  std::string program = "/bin/true";
  char* argv[] = {program.data(), nullptr};
  while (now_seconds() - begin < 0.3) {
    pid_t pid = 0;
    if (::posix_spawn(&pid, program.c_str(), nullptr, nullptr, argv, environ) != 0) break;
    ::waitpid(pid, nullptr, 0);
    ++count;
  }
  return count / (now_seconds() - begin);
}

double round_trip_us() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  std::thread echo([end = ends[1]] {
    char byte = 0;
    while (::read(end, &byte, 1) == 1 && ::write(end, &byte, 1) == 1) {
    }
  });
  constexpr int kTrips = 2000;
  const double begin = now_seconds();
  for (int i = 0; i < kTrips; ++i) {
    char byte = 'x';
    if (::write(ends[0], &byte, 1) != 1 || ::read(ends[0], &byte, 1) != 1) break;
  }
  const double took = now_seconds() - begin;
  ::shutdown(ends[0], SHUT_RDWR);
  echo.join();
  ::close(ends[0]);
  ::close(ends[1]);
  return took / kTrips * 1e6;
}

}  // namespace

double now_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

std::int64_t resident_bytes() {
  long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * ::sysconf(_SC_PAGESIZE);
}

double median_of(int runs, const std::function<double()>& run) {
  std::vector<double> figures;
  for (int i = 0; i < runs; ++i) figures.push_back(run());
  std::ranges::sort(figures);
  return figures[figures.size() / 2];
}

Calibration calibrate(const std::string& folder) {
  return {.syncs = median_of(3, [&] { return syncs_a_second(folder); }),
          .idle_sync = idle_sync_ms(folder),
          .spawns = median_of(3, spawns_a_second),
          .round_trip = median_of(3, round_trip_us)};
}

}  // namespace drover::bench
