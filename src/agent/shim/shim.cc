#include "agent/shim/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "agent/shim/child.h"
#include "agent/shim/guard.h"
#include "agent/shim/teller.h"
#include "base/overload.h"
#include "base/proto.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/socket.h"

namespace drover::agent {
namespace {

// One attempt of those that a shim guards.
class Shim {
 public:
  Shim(ShimPlace& place, std::unique_ptr<Cgroup>& kept, std::string key, Fd control, StartSpec spec)
      : place_(place), key_(std::move(key)), control_(std::move(control)), spec_(std::move(spec)), cgroup_(kept),
        teller_(place.records.notify_path()) {}

  void run() {
    prepare();
    if (const Status begun = begin(); !begun) return refuse(begun.error().message, 1);
    while (!over_) wait_once();
    finish();
  }

 private:
  // starting: until exec; ending: asked to end; killing: SIGKILL is out.
  enum class Phase : std::uint8_t { starting, running, ending, killing };

  void prepare() {
    children_ = child_signals();
    claim_ = Claim{.devices = spec_.devices, .boot_id = place_.boot_id, .group = place_.group};
    if (spec_.box) claim_.group = spec_.box->pod + "/" + spec_.box->group;
  }

  Status begin() {
    if (spec_.argv.empty() && spec_.script.empty()) return Error{Errc::invalid, "there is nothing to run"};
    TRY(place_.records.put(key_, claim_));
    std::string program = spec_.argv.empty() ? std::string{} : spec_.argv.front();
    if (!spec_.script.empty()) {
      TRY(place_.records.put_script(key_, spec_.script, spec_.uid, spec_.gid));
      program = place_.records.script_path(key_);
    }
    TRY(take_cgroup());
    const Entry entry = TRY(cgroup_->entry());
    Child child = TRY(start_child(spec_, program, entry));
    main_ = child.pid;
    outcome_ = std::move(child.outcome);
    return Done{};
  }

  // That of the job before, or a new one.
  Status take_cgroup() {
    if (spec_.box) {
      cgroup_ = TRY(place_.cgroups.create_step({.name = spec_.box->pod, .limits = spec_.box->pod_limits},
                                               spec_.box->group, spec_.limits));
      return Done{};
    }
    if (cgroup_ && cgroup_->renew(spec_.limits)) return Done{};
    if (cgroup_) TRY(cgroup_->remove());
    cgroup_ = TRY(place_.cgroups.create(place_.group, spec_.limits));
    return Done{};
  }

  void leave_cgroup() {
    if (leftover_ || !cgroup_) return;
    if (cgroup_->reusable() && place_.line) return;
    if (!cgroup_->remove()) place_.line.reset();
    cgroup_.reset();
  }

  void wait_once() {
    alarm_.set({limit_at_, warn_at_, kill_at_, look_at_, give_up_at_});
    std::array<pollfd, 4> waiting{pollfd{.fd = outcome_.get(), .events = POLLIN},
                                  pollfd{.fd = children_.get(), .events = POLLIN},
                                  pollfd{.fd = control_.get(), .events = POLLIN},
                                  pollfd{.fd = alarm_.fd(), .events = POLLIN}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return end_by_force();
    if (waiting[0].revents != 0) read_outcome();
    if (waiting[2].revents != 0) read_commands();
    if (waiting[1].revents != 0) reap();
    if (waiting[3].revents != 0) act_on_time();
  }

  // The pipe's end without a word means that the program runs.
  void read_outcome() {
    Failure failure;
    const ssize_t n = ::read(outcome_.get(), &failure, sizeof(failure));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    outcome_.reset();
    if (n == static_cast<ssize_t>(sizeof(failure))) {
      failure_ = failure;
      return;
    }
    started_ = Started{.pid = main_, .at = wall_now(), .since_boot = since_boot(), .notes = cgroup_->notes()};
    [[maybe_unused]] const Status noted = place_.records.put(key_, *started_);
    if (phase_ == Phase::starting) phase_ = Phase::running;
    set_limit(spec_.time_limit);
    tell(AttemptState::running);
  }

  void set_limit(Duration limit) {
    spec_.time_limit = limit;  // what counts from the start on, when it hasn't started yet
    limit_at_.reset();
    warn_at_.reset();
    if (limit <= Duration{} || !started_ || cause_) return;
    limit_at_ = started_->since_boot + limit;
    if (spec_.warn_signal > 0 && !warned_) warn_at_ = *limit_at_ - spec_.warn_before;
  }

  void read_commands() {
    for (;;) {
      const auto received = receive_message(control_.get());
      if (!received || received->kind != Received::Kind::message) return;
      const auto command = decode<Command>(received->bytes);
      if (!command) continue;
      std::visit(Overload{[&](const SendSignal& c) { send_signal(c.signal, c.scope); },
                          [&](const Terminate& c) { ask_to_end(Cause::terminated, c.reason, c.grace); },
                          [&](const SetTimeLimit& c) { set_limit(c.limit); }},
                 *command);
    }
  }

  void send_signal(int signal, SignalScope scope) {
    if (signal < 1 || signal >= NSIG || !started_) return;
    if (scope == SignalScope::main_only) {
      if (!main_status_) ::kill(main_, signal);
      return;
    }
    for (const pid_t pid : cgroup_->processes()) {
      if (scope == SignalScope::all || pid != main_) ::kill(pid, signal);
    }
  }

  void ask_to_end(Cause cause, const std::string& reason, Duration grace) {
    const Duration kill_at = since_boot() + std::max(grace, Duration{});
    if (!cause_) {
      cause_ = cause;
      reason_ = reason.substr(0, kMessageLimit);
    }
    limit_at_.reset();
    warn_at_.reset();
    if (phase_ == Phase::killing) return;
    tell_steps({.grace = grace, .reason = cause == Cause::time_limit ? "time_limit" : reason});
    if (phase_ != Phase::ending) {
      phase_ = Phase::ending;
      cgroup_->terminate_all();
    }
    kill_at_ = kill_at_ ? std::min(*kill_at_, kill_at) : kill_at;
    look_at_ = since_boot() + kLook;
    if (grace <= Duration{}) start_killing();
  }

  void start_killing() {
    phase_ = Phase::killing;
    give_up_at_ = since_boot() + kUnkillable;
    kill_at_.reset();
    limit_at_.reset();
    warn_at_.reset();
    sweep();
  }

  void sweep() {
    if (gone()) return;
    cgroup_->kill_all();
    reap_all();
    if (gone()) return;
    look_at_ = since_boot() + kSweep;
  }

  // All of the job has ended, and been waited for as far as it was ours.
  bool gone() {
    if (main_status_ && cgroup_->empty()) over_ = true;
    return over_;
  }

  void reap() {
    take_child_signals(children_);
    reap_all();
    if (main_status_ && (phase_ == Phase::starting || phase_ == Phase::running)) return end_after_main();
    if (phase_ == Phase::ending || phase_ == Phase::killing) gone();
  }

  // A job's steps end with it, in order; what else is left of it ends at once after them.
  void end_after_main() {
    tell_steps({.grace = spec_.grace, .reason = "cancelled"});
    if (running_steps().empty()) return start_killing();
    after_main_ = true;
    phase_ = Phase::ending;
    limit_at_.reset();
    warn_at_.reset();
    kill_at_ = since_boot() + spec_.grace;
    look_at_ = since_boot() + kSweep;
  }

  [[nodiscard]] std::vector<std::string> running_steps() const {
    std::vector<std::string> steps;
    if (!cgroup_ || !cgroup_->may_have_steps()) return steps;
    for (const std::string& key : place_.records.keys()) {
      if (key.starts_with(key_ + ".") && !place_.records.has_ended(key)) steps.push_back(key);
    }
    return steps;
  }

  void tell_steps(const Terminate& order) const {
    for (const std::string& key : running_steps()) {
      const auto socket = datagram_socket();
      if (!socket) return;
      [[maybe_unused]] const Status told =
          send_datagram(socket->get(), place_.records.control_path(key), encode(Command{order}));
    }
  }

  void reap_all() {
    for (;;) {
      int status = 0;
      rusage used{};
      const pid_t pid = ::wait4(-1, &status, WNOHANG, &used);
      if (pid <= 0) return;
      user_us_ += microseconds_of(used.ru_utime);
      system_us_ += microseconds_of(used.ru_stime);
      largest_ = std::max<std::int64_t>(largest_, used.ru_maxrss * 1024);
      if (pid != main_ || main_status_) continue;
      // The word about exec was written before the exit, but poll may show it later.
      if (outcome_) read_outcome();
      main_status_ = status;
      ended_at_ = wall_now();
      ended_since_boot_ = since_boot();
    }
  }

  void act_on_time() {
    alarm_.rang();
    const Duration now = since_boot();
    if (due(warn_at_, now)) {
      warned_ = true;
      send_signal(spec_.warn_signal, spec_.warn_scope);
    }
    if (due(limit_at_, now)) ask_to_end(Cause::time_limit, "", spec_.grace);
    if (due(kill_at_, now)) start_killing();
    if (due(look_at_, now)) look();
    if (!over_ && due(give_up_at_, now)) end_by_force();
  }

  void look() {
    if (phase_ == Phase::killing) return sweep();
    if (after_main_ && running_steps().empty()) return start_killing();
    if (!gone()) look_at_ = since_boot() + kLook;
  }

  // Not even SIGKILL helps (a process stuck in the kernel).
  void end_by_force() {
    leftover_ = true;
    over_ = true;
  }

  void finish() {
    reap_all();  // the last orphans, for their share of the usage
    const int status = main_status_.value_or(0);
    Ended ended{.reason = reason_, .at = main_status_ ? ended_at_ : wall_now(),
                .since_boot = main_status_ ? ended_since_boot_ : since_boot(), .leftover = leftover_};
    if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) {
      ended.signal = WTERMSIG(status);
      ended.core_dumped = WCOREDUMP(status);
    }
    count_usage(ended);
    if (failure_) {
      ended.message = describe_failure(*failure_, spec_).substr(0, kMessageLimit);
      ended.exit_code = exit_code_of(*failure_);
      ended.own_fault = is_own_fault(*failure_);
    }
    ended.cause = cause_           ? *cause_
                  : failure_       ? Cause::not_started
                  : ended.oom_kills > 0 ? Cause::out_of_memory
                                   : Cause::exited;
    if (leftover_) place_.line.reset();
    leave_cgroup();
    write_down(ended);
  }

  void count_usage(Ended& ended) const {
    ended.user_us = user_us_;
    ended.system_us = system_us_;
    const Usage usage = cgroup_->usage();
    ended.cpu_us = usage.cpu_us;
    ended.peak_memory = usage.peak_memory > 0 ? usage.peak_memory : largest_;
    ended.oom_kills = usage.oom_kills;
  }

  void refuse(const std::string& why, int exit_code) {
    leave_cgroup();
    write_down(Ended{.cause = Cause::not_started, .exit_code = exit_code, .message = why.substr(0, kMessageLimit),
                     .at = wall_now(), .since_boot = since_boot()});
  }

  void write_down(const Ended& ended) {
    ended_ = ended;
    const Status noted = place_.records.put(key_, ended);
    // Somebody may still tell from our death that the end is unknown; better than a wrong word.
    if (noted) tell(AttemptState::ended);
  }

  void tell(AttemptState state) {
    teller_.tell({.key = key_, .state = state, .claim = claim_, .started = started_, .ended = ended_});
  }

  ShimPlace& place_;
  std::string key_;
  Fd control_;
  StartSpec spec_;
  Claim claim_;
  std::unique_ptr<Cgroup>& cgroup_;  // stays for the next attempt, when it may
  Teller teller_;
  Fd children_, outcome_;
  Alarm alarm_;
  pid_t main_ = -1;
  Phase phase_ = Phase::starting;
  bool over_ = false, warned_ = false, leftover_ = false, after_main_ = false;
  std::optional<int> main_status_;
  std::int64_t user_us_ = 0, system_us_ = 0, largest_ = 0;  // of the processes that were waited for
  Instant ended_at_;
  Duration ended_since_boot_{};
  std::optional<Failure> failure_;
  std::optional<Started> started_;
  std::optional<Ended> ended_;
  std::optional<Cause> cause_;
  std::string reason_;
  Deadline limit_at_, warn_at_, kill_at_, look_at_, give_up_at_;
};

void guard(ShimPlace& place, std::unique_ptr<Cgroup>& kept, Handover handover) {
  const auto order = decode<StartOrder>(handover.order);
  if (!order) return;
  auto spec = decode<StartSpec>(order->spec);
  std::unique_ptr<Cgroup> apart;  // a pod's container is in its pod's
  std::unique_ptr<Cgroup>& group = spec && spec->box ? apart : kept;
  Shim(place, group, order->key, std::move(handover.control), spec ? std::move(*spec) : StartSpec{}).run();
}

}  // namespace

void run_shim(ShimPlace place, Handover first) {
  become_guardian("drover-shim");
  std::unique_ptr<Cgroup> kept;
  guard(place, kept, std::move(first));
  while (place.line) {
    auto next = take_over(place.line.get());
    if (!next) break;
    guard(place, kept, std::move(*next));
  }
  if (kept) [[maybe_unused]] const Status removed = kept->remove();
}

}  // namespace drover::agent
