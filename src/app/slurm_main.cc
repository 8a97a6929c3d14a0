// drover-slurm: the Slurm commands, by the name that it is called by.
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>

#include "base/text.h"
#include "native/discovery.h"
#include "native/login.h"
#include "os/clock.h"
#include "os/fd.h"
#include "slurm/command/native_controller.h"
#include "slurm/launch/environment.h"

extern char** environ;

namespace {

using namespace drover;

constexpr std::size_t kLargestScript = 64U << 20U;

Result<std::string> read_all(int fd, std::string_view name, int patience_ms = -1) {
  std::string text;
  char buffer[65536];
  for (;;) {
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    if (patience_ms >= 0 && ::poll(&waiting, 1, patience_ms) <= 0)
      return Error{Errc::unavailable, "no answer in time"};
    const ssize_t size = ::read(fd, buffer, sizeof buffer);
    if (size == 0) return text;
    if (size < 0) return Error{Errc::not_found, "can't read " + std::string(name)};
    text.append(buffer, static_cast<std::size_t>(size));
    if (text.size() > kLargestScript) return Error{Errc::exhausted, std::string(name) + " is larger than 64 MiB"};
  }
}

Result<std::string> read_path(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Error{Errc::not_found, "can't open " + path};
  return read_all(fd.get(), path);
}

Status write_path(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return Error{Errc::denied, "can't write " + path};
  const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !whole) return Error{Errc::exhausted, "can't write all of " + path};
  return Done{};
}

// What a login of this user sets: his shell says it, in a clean environment.
slurm::Environment login_environment() {
  const passwd* entry = ::getpwuid(::getuid());
  if (entry == nullptr) return {};
  const std::string shell = *entry->pw_shell != '\0' ? entry->pw_shell : "/bin/sh";
  std::vector<std::string> clean{"HOME=" + std::string(entry->pw_dir), "USER=" + std::string(entry->pw_name),
                                 "LOGNAME=" + std::string(entry->pw_name), "SHELL=" + shell,
                                 "PATH=/usr/local/bin:/usr/bin:/bin"};
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const Fd reader(ends[0]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    const int nothing = ::open("/dev/null", O_RDWR);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    std::vector<char*> env;
    for (std::string& item : clean) env.push_back(item.data());
    env.push_back(nullptr);
    ::execle(shell.c_str(), shell.c_str(), "-l", "-c", "env -0", static_cast<char*>(nullptr), env.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  if (child < 0) return {};
  constexpr int kPatienceMs = 10'000;
  const auto text = read_all(reader.get(), "the login environment", kPatienceMs);
  if (!text) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return text ? slurm::decode_environment(text.value()) : slurm::Environment{};
}

std::optional<std::string> user_name(const std::string& word) {
  const auto number = parse_uint(word);
  const passwd* entry = number ? ::getpwuid(static_cast<uid_t>(*number)) : ::getpwnam(word.c_str());
  return entry == nullptr ? std::nullopt : std::optional<std::string>(entry->pw_name);
}

std::map<std::string, std::int64_t> soft_limits() {
  constexpr std::array<std::pair<const char*, __rlimit_resource>, 9> kLimits{{{"core", RLIMIT_CORE},
                                                                              {"cpu", RLIMIT_CPU},
                                                                              {"data", RLIMIT_DATA},
                                                                              {"fsize", RLIMIT_FSIZE},
                                                                              {"memlock", RLIMIT_MEMLOCK},
                                                                              {"nofile", RLIMIT_NOFILE},
                                                                              {"nproc", RLIMIT_NPROC},
                                                                              {"rss", RLIMIT_RSS},
                                                                              {"stack", RLIMIT_STACK}}};
  std::map<std::string, std::int64_t> limits;
  for (const auto& [name, resource] : kLimits) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0) continue;
    limits[name] = limit.rlim_cur == RLIM_INFINITY ? -1 : static_cast<std::int64_t>(limit.rlim_cur);
  }
  return limits;
}

std::string host_name() {
  char name[256] = "localhost";
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  const std::string_view full = name;
  return std::string(full.substr(0, full.find('.')));
}

slurm::Environment environment() {
  slurm::Environment variables;
  for (char** item = environ; *item != nullptr; ++item) {
    const std::string_view text = *item;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && equals > 0) {
      variables.insert_or_assign(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
    }
  }
  return variables;
}

void print(slurm::Call& call) {
  std::fwrite(call.err.data(), 1, call.err.size(), stderr);
  std::fwrite(call.out.data(), 1, call.out.size(), stdout);
  std::fflush(stdout);
  call.err.clear();
  call.out.clear();
}

void surround(slurm::Call& call) {
  call.environment = environment();
  call.now = unix_seconds(wall_now());
  call.clock = [] { return unix_seconds(wall_now()); };
  call.zone = slurm::system_zone();
  call.uid = ::getuid();
  call.user = user_name(std::to_string(call.uid)).value_or(std::to_string(call.uid));
  // From another machine he is whom his login names, whatever this machine calls him.
  if (const auto folder = native::find_state_folder(); folder && native::is_login(*folder)) {
    if (const auto who = native::logged_in(*folder)) {
      call.uid = who->uid;
      call.user = who->user;
    }
  }
  call.host = host_name();
  char folder[4096] = "";
  if (::getcwd(folder, sizeof folder) != nullptr) call.work_dir = folder;
  call.session_id = static_cast<std::uint32_t>(::getsid(0));
  call.umask = ::umask(022);
  ::umask(call.umask);
  call.rlimits = soft_limits();
  call.read_input = [] { return read_all(STDIN_FILENO, "standard input"); };
  call.read_file = read_path;
  call.write_file = write_path;
  call.user_name = user_name;
  call.login_environment = login_environment;
  call.flush = print;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);
  slurm::Call call;
  std::vector<std::string> words(argv, argv + argc);
  if (words.empty()) words.emplace_back("drover-slurm");
  call.program = words.front().substr(words.front().rfind('/') + 1);
  words.erase(words.begin());
  if (call.program == "drover-slurm" && !words.empty()) {
    call.program = words.front();
    words.erase(words.begin());
  }
  call.words = std::move(words);
  surround(call);
  slurm::NativeController controller;
  call.controller = &controller;
  const auto status = slurm::run_command(call);
  if (!status) {
    call.err += "drover-slurm: '" + printable(call.program) +
                "' is no command of it: sbatch squeue scancel sinfo sacct scontrol srun salloc sattach sstat\n";
  }
  print(call);
  return status.value_or(1);
}
