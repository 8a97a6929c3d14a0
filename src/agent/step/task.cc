#include "agent/step/task.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "agent/cgroup/directory.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr int kPipeRoom = 256 << 10;  // fewer, larger reads; a user may have no more than his share of it
constexpr std::size_t kFewTasks = 32;

struct Pipe {
  Fd reader;
  Fd writer;
};
Result<Pipe> make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error(errno, "make a pipe");
  return Pipe{.reader = Fd(ends[0]), .writer = Fd(ends[1])};
}

void never_wait(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

struct Terminal {
  Fd near;
  Fd far;
};
Result<Terminal> make_terminal(const PartSpec& part) {
  Terminal terminal{.near = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)), .far = {}};
  int unlocked = 0;
  if (!terminal.near || ::ioctl(terminal.near.get(), TIOCSPTLCK, &unlocked) != 0) {
    return system_error(errno, "make a terminal");
  }
  // By descriptor, whatever is mounted where.
  terminal.far = Fd(::ioctl(terminal.near.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.far) return system_error(errno, "open the terminal");
  struct stat now{};
  ::fstat(terminal.far.get(), &now);  // the group is the system's for terminals
  if (::geteuid() == 0 && ::fchown(terminal.far.get(), part.uid, now.st_gid) != 0) {
    return system_error(errno, "give the terminal to its user");
  }
  if (part.rows > 0) set_window(terminal.near, part.rows, part.columns);
  return terminal;
}

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

// Far ends live until the child has been forked.
struct FarEnds {
  Fd in, out, err;
};

Status wire_pipes(const PartSpec& part, const TaskSpec& task, StartedTask& started, FarEnds& far) {
  const bool gets_input = part.input_task == kInputToAll || part.input_task == task.id;
  if (task.stdin_path.empty() && gets_input) {
    Pipe pipe = TRY(make_pipe());
    started.in = std::move(pipe.writer);
    far.in = std::move(pipe.reader);
    never_wait(started.in);
  }
  const auto outward = [&](const std::string& path, Fd& near, Fd& far_end) -> Status {
    if (!path.empty()) return Done{};
    Pipe pipe = TRY(make_pipe());
    if (part.tasks.size() <= kFewTasks) ::fcntl(pipe.reader.get(), F_SETPIPE_SZ, kPipeRoom);
    near = std::move(pipe.reader);
    far_end = std::move(pipe.writer);
    never_wait(near);
    return Done{};
  };
  TRY(outward(task.stdout_path, started.out, far.out));
  return outward(task.stderr_path, started.err, far.err);
}

}  // namespace

void set_window(const Fd& terminal, std::uint32_t rows, std::uint32_t columns) {
  const winsize size{.ws_row = static_cast<unsigned short>(rows), .ws_col = static_cast<unsigned short>(columns),
                     .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(terminal.get(), TIOCSWINSZ, &size);
}

std::vector<std::string> merged(std::vector<std::string> base, const std::vector<std::string>& over) {
  for (const std::string& variable : over) {
    const auto same = std::find_if(base.begin(), base.end(), [&](const std::string& one) {
      return name_of(one) == name_of(variable);
    });
    if (same == base.end()) base.push_back(variable);
    else *same = variable;
  }
  return base;
}

bool has_terminal(const PartSpec& part, const TaskSpec& task) { return part.pty && task.id == 0; }

bool shares_output(const TaskSpec& a, const TaskSpec& b) {
  const auto uses = [&](const std::string& path) {
    return !path.empty() && path != "/dev/null" && (path == b.stdout_path || path == b.stderr_path);
  };
  return uses(a.stdout_path) || uses(a.stderr_path);
}

StartSpec start_of(const PartSpec& part, const TaskSpec& task, bool append) {
  return {.argv = task.argv,
          .environment = merged(part.environment, task.environment),
          .uid = part.uid,
          .gid = part.gid,
          .groups = part.groups,
          .cwd = part.cwd,
          .umask = part.umask,
          .rlimits = part.rlimits,
          .stdin_path = task.stdin_path.empty() ? "/dev/null" : task.stdin_path,
          .stdout_path = task.stdout_path,
          .stderr_path = task.stderr_path,
          .append = append,
          .no_new_privileges = part.no_new_privileges};
}

Result<StartedTask> start_task(const PartSpec& part, const TaskSpec& task, bool append, Entry entry) {
  StartedTask started;
  FarEnds far;
  Wiring wiring{.shared_files = true, .pid_variable = part.pid_variable};
  if (has_terminal(part, task)) {
    Terminal terminal = TRY(make_terminal(part));
    started.terminal = true;
    started.out = std::move(terminal.near);
    started.in = Fd(::fcntl(started.out.get(), F_DUPFD_CLOEXEC, 3));
    never_wait(started.out);
    far.in = std::move(terminal.far);
    wiring.in = wiring.out = wiring.err = far.in.get();
    wiring.terminal = true;
  } else {
    TRY(wire_pipes(part, task, started, far));
    wiring.in = far.in.get();
    wiring.out = far.out.get();
    wiring.err = far.err.get();
  }
  if (!task.cpus.empty() && why_not_confined(task.cpus).empty()) entry.affinity = task.cpus;
  started.child = TRY(start_child(start_of(part, task, append), task.argv.front(), entry, wiring));
  return started;
}

}  // namespace drover::agent
