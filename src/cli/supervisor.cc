#include "cli/supervisor.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"

namespace drover::cli {
namespace {

constexpr Duration kSteady = seconds(30);  // one that ran this long has started well
constexpr Duration kLongestPause = seconds(30);
constexpr int kHopeless = 3;
constexpr int kNotStarted = 127;
constexpr int kRefused = 2;  // a daemon's exit code for what won't be better at the next start
constexpr int kMany = 100;

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* argv, int input, int log, pid_t parent) {
  ::setsid();  // Ctrl-C on the terminal is for the supervisor alone
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kNotStarted);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(input, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execv(argv[0], argv);
  constexpr char kWord[] = "the program can't be started: it is missing beside drover, or not executable\n";
  if (::write(STDERR_FILENO, kWord, sizeof(kWord) - 1) < 0) ::_exit(kNotStarted);
  ::_exit(kNotStarted);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    const char* const name = ::sigabbrev_np(WTERMSIG(status));
    return "was killed by SIG" + std::string(name == nullptr ? "?" : name);
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

std::string seconds_text(Duration pause) {
  return pause < seconds(1) ? "at once" : "in " + std::to_string(pause.count() / 1000) + " s";
}

}  // namespace

Duration pause_before(int ends) {
  Duration pause(200);
  for (int i = 1; i < ends && pause < kLongestPause; ++i) pause *= 2;
  return std::min(pause, kLongestPause);
}

std::string tail_of(const std::string& file, std::size_t lines) {
  const auto text = read_file(file);
  if (!text) return {};
  std::string_view rest(*text);
  while (rest.ends_with('\n')) rest.remove_suffix(1);
  std::size_t begin = rest.size();
  for (std::size_t i = 0; i < lines && begin != std::string_view::npos && begin > 0; ++i) {
    begin = rest.rfind('\n', begin - 1);
  }
  return std::string(begin == std::string_view::npos ? rest : rest.substr(begin == 0 ? 0 : begin + 1));
}

Supervisor::Supervisor(std::vector<DaemonSpec> daemons, Say say) : say_(std::move(say)) {
  for (DaemonSpec& spec : daemons) daemons_.push_back({.spec = std::move(spec)});
}

void Supervisor::start(Daemon& daemon, Duration now) {
  const auto input = open_file("/dev/null", O_RDONLY);
  const auto log = open_file(daemon.spec.log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0640);
  daemon.started = now;
  if (!input || !log) {
    say_(daemon.spec.name + " can't be started: " + (log ? input : log).error().message);
    daemon.due = now + pause_before(++daemon.ends);
    return;
  }
  std::vector<char*> argv;
  for (std::string& arg : daemon.spec.argv) argv.push_back(arg.data());
  argv.push_back(nullptr);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(argv.data(), input->get(), log->get(), self);
  daemon.pid = std::max(child, 0);
  if (child < 0) daemon.due = now + pause_before(++daemon.ends);
}

void Supervisor::note_end(Daemon& daemon, int status, Duration now) {
  daemon.ends = now - daemon.started >= kSteady ? 1 : daemon.ends + 1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kRefused) daemon.ends = kMany;
  ++daemon.restarts;
  daemon.pid = 0;
  const Duration pause = pause_before(daemon.ends);
  daemon.due = now + pause;
  say_(daemon.spec.name + " " + how_it_ended(status) + "; starting it again " + seconds_text(pause));
}

void Supervisor::tend(Duration now) {
  for (Daemon& daemon : daemons_) {
    int status = 0;
    if (daemon.pid != 0 && ::waitpid(daemon.pid, &status, WNOHANG) == daemon.pid) note_end(daemon, status, now);
    if (daemon.pid == 0 && now >= daemon.due) start(daemon, now);
  }
}

bool Supervisor::any_running() {
  for (Daemon& daemon : daemons_) {
    int status = 0;
    if (daemon.pid != 0 && ::waitpid(daemon.pid, &status, WNOHANG) == daemon.pid) daemon.pid = 0;
  }
  return std::ranges::any_of(daemons_, [](const Daemon& daemon) { return daemon.pid != 0; });
}

void Supervisor::stop(Duration patience) {
  for (auto daemon = daemons_.rbegin(); daemon != daemons_.rend(); ++daemon) {
    if (daemon->pid != 0) ::kill(daemon->pid, SIGTERM);
  }
  const Duration end = since_boot() + patience;
  while (any_running() && since_boot() < end) std::this_thread::sleep_for(Duration(20));
  for (Daemon& daemon : daemons_) {
    if (daemon.pid == 0) continue;
    say_(daemon.spec.name + " doesn't end; killing it");
    ::kill(daemon.pid, SIGKILL);
    int status = 0;
    ::waitpid(std::exchange(daemon.pid, 0), &status, 0);
  }
}

const DaemonSpec* Supervisor::hopeless() const {
  for (const Daemon& daemon : daemons_) {
    if (daemon.ends >= kHopeless) return &daemon.spec;
  }
  return nullptr;
}

int Supervisor::restarts() const {
  int sum = 0;
  for (const Daemon& daemon : daemons_) sum += daemon.restarts;
  return sum;
}

}  // namespace drover::cli
