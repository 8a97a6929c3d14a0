#include "agent/shim/child.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <vector>

#include "agent/shim/box.h"
#include "os/file.h"

extern char** environ;  // NOLINT

namespace drover::agent {
namespace {

// Everything here runs in the child and ends in exec or _exit.
class Start {
 public:
  Start(const StartSpec& spec, const std::string& program, const Entry& entry, const Wiring& wiring, int outcome)
      : spec_(spec), program_(program), entry_(entry), wiring_(wiring), outcome_(outcome) {}

  [[noreturn]] void run(bool cloned_into_cgroup) {
    enter_cgroups(cloned_into_cgroup);
    ::setsid();
    if (wiring_.terminal) must(::ioctl(wiring_.in, TIOCSCTTY, 0), Failure::Step::input);
    reset_signals();
    set_limits();
    if (spec_.box) {
      run_in_box(*spec_.box, {.program = [this] { become_program(); },
                              .fail = [this](int error) { fail(Failure::Step::box, error); },
                              .let_go = [this] { ::close(outcome_); }});
    }
    become_program();
  }

 private:
  [[noreturn]] void become_program() {
    take_identity();
    const int cwd_error = ::chdir(spec_.cwd.c_str()) == 0 ? 0 : errno;
    ::umask(spec_.umask);
    if (cwd_error != 0 && ::chdir("/tmp") != 0) must(::chdir("/"), Failure::Step::identity);
    open_files();
    if (cwd_error != 0) complain("can't go to " + spec_.cwd, cwd_error, "; going to /tmp");
    execute();
  }

  [[noreturn]] void fail(Failure::Step step, int error) {
    const Failure failure{.step = step, .error = error};
    [[maybe_unused]] const ssize_t n = ::write(outcome_, &failure, sizeof(failure));
    ::_exit(exit_code_of(failure));
  }
  void must(int result, Failure::Step step) {
    if (result < 0) fail(step, errno);
  }

  // Into the job's own standard error, where the user looks first.
  static void complain(const std::string& what, int error, const char* then = "") {
    const std::string line = "drover: " + what + ": " + std::generic_category().message(error) + then + "\n";
    [[maybe_unused]] const ssize_t n = ::write(2, line.data(), line.size());
  }

  void enter_cgroups(bool cloned_into_cgroup) {
    if (entry_.clone_into >= 0 && !cloned_into_cgroup) {
      const int file = ::openat(entry_.clone_into, "cgroup.procs", O_WRONLY | O_CLOEXEC);
      must(file, Failure::Step::cgroup);
      must(static_cast<int>(::write(file, "0", 1)), Failure::Step::cgroup);
    }
    for (const int file : entry_.write_zero_to) {
      must(static_cast<int>(::write(file, "0", 1)), Failure::Step::cgroup);
    }
    if (entry_.affinity.empty()) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const std::int32_t cpu : entry_.affinity) CPU_SET(static_cast<std::size_t>(cpu), &set);
    must(::sched_setaffinity(0, sizeof(set), &set), Failure::Step::cgroup);
  }

  // Only the mask: what the keeper ignored it stopped ignoring at its start.
  static void reset_signals() {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
  }

  void set_limits() {
    for (const ResourceLimit& limit : spec_.rlimits) {
      const rlimit value{.rlim_cur = limit.soft, .rlim_max = limit.hard};
      must(::setrlimit(static_cast<__rlimit_resource_t>(limit.resource), &value), Failure::Step::limits);
    }
    // The shim is the last that the kernel should pick; its job is like everybody else's.
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) [[maybe_unused]] const ssize_t n = ::write(file, "0", 1);
  }

  void take_identity() {
    constexpr auto kStep = Failure::Step::identity;
    if (::geteuid() == 0) {
      const std::vector<gid_t> groups(spec_.groups.begin(), spec_.groups.end());
      must(::setgroups(groups.size(), groups.data()), kStep);
      must(::setresgid(spec_.gid, spec_.gid, spec_.gid), kStep);
      drop_bounding_set();
      must(::setresuid(spec_.uid, spec_.uid, spec_.uid), kStep);
    } else if (::geteuid() != spec_.uid) {
      fail(kStep, EPERM);
    }
    drop_capabilities();
    if (spec_.no_new_privileges) must(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), kStep);
  }

  // The keeper has done so before it forked us, once for all; asking is cheap, dropping isn't.
  void drop_bounding_set() { must(empty_bounding_set() ? 0 : -1, Failure::Step::identity); }

  void drop_capabilities() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> nothing{};
    must(static_cast<int>(::syscall(SYS_capset, &header, nothing.data())), Failure::Step::identity);
  }

  void place(int wired, const std::string& path, int flags, int target, Failure::Step step) {
    const int file = wired >= 0 ? wired : ::open(path.c_str(), flags | O_NOCTTY | O_CLOEXEC, 0666);
    must(file, step);
    must(::dup2(file, target), step);
  }

  void open_files() {
    // The shim's own 0, 1 and 2 are /dev/null, so a new file never lands on one of them.
    place(wiring_.in, spec_.stdin_path, O_RDONLY, 0, Failure::Step::input);
    if (spec_.box) return;  // its outputs are the log's already
    const int flags = O_WRONLY | O_CREAT | (spec_.append ? O_APPEND : O_TRUNC) | (wiring_.shared_files ? O_APPEND : 0);
    place(wiring_.out, spec_.stdout_path, flags, 1, Failure::Step::output);
    const bool joined = spec_.stderr_path.empty() || spec_.stderr_path == spec_.stdout_path;
    if (wiring_.err < 0 && joined) {
      must(::dup2(1, 2), Failure::Step::errors);
    } else {
      place(wiring_.err, spec_.stderr_path, flags, 2, Failure::Step::errors);
    }
  }

  static std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> result;
    for (const std::string& one : words) result.push_back(const_cast<char*>(one.c_str()));
    result.push_back(nullptr);
    return result;
  }

  [[noreturn]] void execute() {
    ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
    std::vector<std::string> argv = spec_.argv;
    if (!spec_.script.empty() && !argv.empty()) argv.front() = program_;
    if (argv.empty()) argv.push_back(program_);
    std::vector<char*> args = pointers(argv);
    std::vector<char*> variables = pointers(spec_.environment);
    std::string own_id = wiring_.pid_variable + "=" + std::to_string(::getpid());
    if (!wiring_.pid_variable.empty()) variables.insert(variables.end() - 1, own_id.data());
    environ = variables.data();
    ::execvp(program_.c_str(), args.data());
    const int error = errno;
    complain("can't run " + program_, error);
    fail(Failure::Step::program, error);
  }

  const StartSpec& spec_;
  const std::string& program_;
  const Entry& entry_;
  const Wiring& wiring_;
  int outcome_;
};

// Like fork, straight into a v2 cgroup.
pid_t clone_into(int cgroup) {
  clone_args arguments{};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<__u64>(cgroup);
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof(arguments)));
}

}  // namespace

bool empty_bounding_set() {
  for (int capability = 0;; ++capability) {
    const int there = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (there < 0) return true;  // past the last one that this kernel knows
    if (there == 1 && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return false;
  }
}

std::string describe_failure(const Failure& failure, const StartSpec& spec) {
  const auto what = [&]() -> std::string {
    switch (failure.step) {
      case Failure::Step::cgroup: return "can't enter the job's cgroups";
      case Failure::Step::limits: return "can't set the job's resource limits";
      case Failure::Step::identity: return "can't become user id " + std::to_string(spec.uid);
      case Failure::Step::input: return "can't open the input file " + spec.stdin_path;
      case Failure::Step::output: return "can't open the output file " + spec.stdout_path;
      case Failure::Step::errors: return "can't open the error file " + spec.stderr_path;
      case Failure::Step::program: return "can't run the program";
      case Failure::Step::box: return "can't make the pod's namespaces and mounts";
    }
    return "can't start the job";
  };
  return what() + ": " + std::generic_category().message(failure.error);
}

bool is_own_fault(const Failure& failure) {
  switch (failure.step) {
    case Failure::Step::cgroup:
    case Failure::Step::limits:
    case Failure::Step::identity: return false;
    case Failure::Step::input:
    case Failure::Step::output:
    case Failure::Step::errors:
    case Failure::Step::program:
    case Failure::Step::box: return true;
  }
  return false;
}

int exit_code_of(const Failure& failure) {
  if (failure.step != Failure::Step::program) return 1;
  return failure.error == ENOENT ? 127 : 126;
}

// A plain fork, not vfork: the shim must stay awake to cancel a child that hangs in open() on a
// FIFO or a dead file server, and the shim is so small that the copy costs little.
Result<Child> start_child(const StartSpec& spec, const std::string& program, const Entry& entry,
                          const Wiring& wiring) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error(errno, "make a pipe");
  Fd reader(ends[0]);
  const Fd writer(ends[1]);
  Child child;
  bool inside = entry.clone_into >= 0;
  child.pid = inside ? clone_into(entry.clone_into) : ::fork();
  if (child.pid < 0 && inside) {  // a kernel or a filter that doesn't know the flag
    inside = false;
    child.pid = ::fork();
  }
  if (child.pid < 0) return system_error(errno, "fork");
  if (child.pid == 0) Start(spec, program, entry, wiring, writer.get()).run(inside);
  child.outcome = std::move(reader);
  return child;
}

}  // namespace drover::agent
