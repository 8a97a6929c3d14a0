#include "bench/live.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "bench/bench.h"

extern char** environ;

namespace drover::bench {

Live::Live(const std::string& programs, const std::string& folder, int agents)
    : programs_(programs), state_(folder + "/live-" + std::to_string(agents)) {
  const std::string file = folder + "/cluster.yaml";
  std::ofstream out(file);
  out << "cluster: bench\nnodes:\n";
  for (int i = 1; i <= agents; ++i) out << "  - {name: b" << i << ", cpus: 64, memory: 64GB, gpus: []}\n";
  out << "partitions:\n  - {name: main, default: true, nodes: all}\n";
  out.close();
  ::setenv("DROVER_STATE", state_.c_str(), 1);
  const std::string answer = run({"drover", "up", "--detach", "--cluster", file, "--state", state_});
  up_ = run({"squeue", "-h"}).empty() && !run({"sinfo", "-h"}).empty();
  if (!up_) std::fprintf(stderr, "the live cluster did not come up: %s\n", answer.c_str());
}

Live::~Live() { run({"drover", "down", "--state", state_}); }

namespace {

// Starts `words`, with its output in `out`. 0: it couldn't be started.
pid_t start(const std::string& programs, std::vector<std::string> words, int out) {
  words[0] = programs + "/" + words[0];
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  pid_t pid = 0;
  if (::posix_spawn(&pid, words[0].c_str(), &actions, nullptr, argv.data(), environ) != 0) pid = 0;
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

}  // namespace

std::string Live::run(const std::vector<std::string>& words, double* took_ms) const {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const double begin = now_seconds();
  const pid_t pid = start(programs_, words, ends[1]);
  ::close(ends[1]);
  std::string text;
  char buffer[65536];
  for (ssize_t n = 0; pid > 0 && (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  if (took_ms != nullptr) *took_ms = (now_seconds() - begin) * 1e3;
  return text;
}

std::int64_t Live::run_to_nowhere(const std::vector<std::string>& words, double* took_ms) const {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const double begin = now_seconds();
  const pid_t pid = start(programs_, words, nowhere);
  ::close(nowhere);
  rusage used{};
  if (pid > 0) ::wait4(pid, nullptr, 0, &used);
  *took_ms = (now_seconds() - begin) * 1e3;
  return used.ru_maxrss;
}

}  // namespace drover::bench
