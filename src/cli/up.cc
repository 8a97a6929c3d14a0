#include "cli/up.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "cli/ask.h"
#include "cli/cluster_file.h"
#include "cli/containerd.h"
#include "cli/runner.h"
#include "native/discovery.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"

namespace drover::cli {
namespace {

constexpr int kGood = 0;
constexpr int kRefused = 1;
constexpr int kUsage = 2;

void print(std::FILE* to, const std::string& text) {
  std::fputs(text.c_str(), to);
  std::fflush(to);
}

int fail(const Error& error, int code = kRefused) {
  print(stderr, "drover: " + error.message + "\n");
  return code;
}

struct Prepared {
  Place place;
  std::string cluster_path;
  ClusterFile cluster;
};

// Without --cluster the state folder's own file counts; the first time that is the default cluster.
Result<std::string> cluster_path(const UpOptions& options, const Place& place) {
  if (!options.cluster_file.empty()) {
    char* const real = ::realpath(options.cluster_file.c_str(), nullptr);
    if (real == nullptr) return system_error(errno, options.cluster_file);
    std::string path(real);
    std::free(real);  // NOLINT(cppcoreguidelines-no-malloc)
    return path;
  }
  if (!file_exists(place.cluster_file())) {
    TRY(write_file_durably(place.cluster_file(), default_cluster(), 0644));
  }
  return place.cluster_file();
}

Result<Prepared> prepare(const UpOptions& options) {
  const Place place = TRY(place_for_up(options.state));
  for (const char* program : {"/droverd", "/drover-agent", "/drover-shim"}) {
    if (::access((program_folder() + program).c_str(), X_OK) == 0) continue;
    return Error{Errc::not_found, program_folder() + program + ": missing; it belongs beside drover"};
  }
  TRY(place.create());
  std::string path = TRY(cluster_path(options, place));
  ClusterFile cluster = TRY(read_cluster_file(path));
  cluster.pods = cluster.pods || options.pods;
  return Prepared{place, std::move(path), std::move(cluster)};
}

// Another cluster of this user's that answers keeps its pointer.
bool leaves_pointer(const UpOptions& options, const Place& place) {
  if (options.hidden) return false;
  native::Surroundings at = native::Surroundings::here();
  at.chosen.clear();
  const auto other = native::find_state_dir(at);
  if (other && *other != place.state() && look(Place(*other))) return false;
  return native::write_pointer(at, place.state()).has_value();
}

int already_runs(const Place& place) {
  const auto view = look(place);
  print(stderr, "drover: a cluster runs here already (state in " + place.state() + ")\n");
  if (view) print(stderr, "\n" + status_text(*view, Ink(wants_colours(STDERR_FILENO))));
  return kRefused;
}

// Tells the waiting `drover up --detach` how it went; without one, the terminal.
class Teller {
 public:
  explicit Teller(std::optional<Fd> to) : to_(std::move(to)) {}
  int tell(int code, const std::string& text) {
    if (!to_) {
      print(code == kGood ? stdout : stderr, text);
      return code;
    }
    const std::string message = std::string(1, static_cast<char>('0' + code)) + text;
    if (::write(to_->get(), message.data(), message.size()) < 0) return kRefused;
    to_.reset();
    return code;
  }

 private:
  std::optional<Fd> to_;
};

int live(const UpOptions& options, Prepared prepared, Teller teller) {
  const auto lock = lock_file(prepared.place.lock());
  if (!lock && lock.error().code == Errc::conflict) {
    if (!options.detach) return already_runs(prepared.place);
    return teller.tell(kRefused, "drover: a cluster runs here already (state in " + prepared.place.state() + ")\n");
  }
  if (!lock) return teller.tell(kRefused, "drover: " + lock.error().message + "\n");
  Runner::block_signals();
  std::optional<DaemonSpec> containerd;
  if (prepared.cluster.pods && !file_exists(kMachinesContainerd)) {
    auto prepared_daemon = prepare_containerd(prepared.place);
    if (!prepared_daemon) return teller.tell(kRefused, "drover: " + prepared_daemon.error().message + "\n");
    containerd = *std::move(prepared_daemon);
  }
  Runner runner(prepared.place, prepared.cluster_path, prepared.cluster, std::move(containerd), options.detach,
                options.hidden);
  const auto here = std::ranges::count(prepared.cluster.nodes, false, &NodeDeclaration::joins);
  if (!options.detach) print(stdout, "starting " + std::to_string(here) + " nodes ...\n");
  if (const Status started = runner.start(); !started) {
    return teller.tell(kRefused, "drover: " + started.error().message + "\n");
  }
  const bool pointer = leaves_pointer(options, prepared.place);
  teller.tell(kGood, runner.welcome(!pointer));
  runner.run();
  if (pointer) native::remove_pointer(native::Surroundings::here(), prepared.place.state());
  return kGood;
}

// In the background, in a session of its own; what it says goes to up.log.
[[noreturn]] void live_detached(const UpOptions& options, Prepared prepared, Fd to) {
  ::setsid();
  const auto log = open_file(prepared.place.log_of("up"), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0640);
  const auto input = open_file("/dev/null", O_RDONLY);
  if (log && input) {
    ::dup2(input->get(), STDIN_FILENO);
    ::dup2(log->get(), STDOUT_FILENO);
    ::dup2(log->get(), STDERR_FILENO);
  }
  if (::chdir("/") != 0) std::_Exit(kRefused);
  std::_Exit(live(options, std::move(prepared), Teller(std::move(to))));
}

int detach(const UpOptions& options, Prepared prepared) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error(errno, "pipe"));
  Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(system_error(errno, "fork"));
  if (child == 0) {
    from.reset();
    live_detached(options, std::move(prepared), std::move(to));
  }
  to.reset();
  std::string message;
  char piece[4096];
  for (ssize_t n = 0; (n = ::read(from.get(), piece, sizeof piece)) > 0;) {
    message.append(piece, static_cast<std::size_t>(n));
  }
  if (message.empty()) {
    return fail({Errc::unavailable, "the cluster ended while it started; see " + prepared.place.log_of("up")});
  }
  print(message[0] == '0' ? stdout : stderr, message.substr(1));
  return message[0] - '0';
}

}  // namespace

int up(const UpOptions& options) {
  auto prepared = prepare(options);
  if (!prepared) return fail(prepared.error(), prepared.error().code == Errc::invalid ? kUsage : kRefused);
  if (options.detach) return detach(options, *std::move(prepared));
  return live(options, *std::move(prepared), Teller(std::nullopt));
}

int status(const StatusOptions& options) {
  const auto place = place_of_running(options.state);
  if (!place) return fail(place.error());
  const auto view = look(*place);
  if (!view) return fail(view.error());
  print(stdout, options.json ? view_json(*view) : status_text(*view, Ink(wants_colours(STDOUT_FILENO))));
  return kGood;
}

int down(const DownOptions& options) {
  const auto place = place_of_running(options.state);
  if (!place) return fail(place.error());
  const auto holder = holder_of(*place);
  if (!holder) return fail(holder.error());
  if (*holder == 0) {
    print(stdout, "no `drover up` runs in " + place->state() + "\n");
    return kGood;
  }
  if (::kill(*holder, options.keep_jobs ? kKeepJobs : SIGTERM) != 0) {
    return fail(system_error(errno, "stop process " + std::to_string(*holder)));
  }
  const auto view = look(*place);
  const Duration patience = (view ? view->overview.config.settings.kill_grace : Duration{0}) + minutes(1);
  const Duration end = since_boot() + patience;
  while (since_boot() < end) {
    const auto now = holder_of(*place);
    if (!now || *now != *holder) {
      print(stdout, options.keep_jobs ? "the cluster is down; its running jobs go on\n" : "the cluster is down\n");
      return kGood;
    }
    std::this_thread::sleep_for(Duration(50));
  }
  return fail({Errc::unavailable, "process " + std::to_string(*holder) + " hasn't ended; see " + place->log_of("up")});
}

}  // namespace drover::cli
