#include "agent/step/part.h"

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
#include <utility>

#include "agent/shim/guard.h"
#include "agent/shim/key.h"
#include "agent/shim/outcome.h"
#include "agent/shim/teller.h"
#include "agent/step/tasks.h"
#include "base/overload.h"
#include "base/proto.h"
#include "os/clock.h"
#include "os/socket.h"

namespace drover::agent {
namespace {

class Part {
 public:
  Part(PartPlace place, const PartSpec& spec)
      : place_(std::move(place)),
        spec_(spec),
        limit_(spec.time_limit),
        claim_{.devices = spec.devices, .boot_id = place_.boot_id},
        teller_(place_.records.notify_path()),
        audience_(std::move(place_.stream), {.uid = spec.uid, .ticket = spec.ticket}),
        tasks_(spec_, place_.records, place_.key, audience_) {}

  void run() {
    prepare();
    if (const Status begun = begin(); !begun) refuse(begun.error().message);
    turn();
    while (!leaving_) {
      wait_once();
      turn();
    }
  }

 private:
  // ending: asked to end; killing: SIGKILL is out; over: no process is left.
  enum class Phase : std::uint8_t { running, ending, killing, over };

  void prepare() {
    become_guardian("drover-step");
    children_ = child_signals();
  }

  Status begin() {
    const auto part = part_of(place_.key);
    if (!part) return Error{Errc::invalid, "not the name of a step: " + place_.key};
    const CgroupTree::Around job = around(part->job);
    claim_.group = job.name + "/" + part->group;
    TRY(place_.records.put(place_.key, claim_));
    TRY(tasks_.prepare());
    cgroup_ = TRY(place_.cgroups.create_step(job, part->group, spec_.limits));
    entry_ = TRY(cgroup_->entry());
    tasks_.start_ready(entry_);
    return Done{};
  }

  // The group of the job's script where that runs here, else one that its steps share.
  [[nodiscard]] CgroupTree::Around around(const std::string& job) const {
    CgroupTree::Around around{.name = job, .limits = spec_.job_limits};
    const Attempt script = place_.records.attempt(job);
    if (script.ended || !script.claim || script.claim->group.empty()) return around;
    around.name = script.claim->group;
    around.has_owner = true;
    return around;
  }

  // Nothing could be started: the tasks end as they are, and whoever asks hears why.
  void refuse(const std::string& why) {
    note_ = why.substr(0, kMessageLimit);
    tasks_.give_up(why);
  }

  void wait_once() {
    set_alarm();
    std::array<pollfd, 7> waiting{pollfd{.fd = children_.get(), .events = POLLIN},
                                  pollfd{.fd = place_.control.get(), .events = POLLIN},
                                  pollfd{.fd = alarm_.fd(), .events = POLLIN},
                                  pollfd{.fd = audience_.fd(), .events = POLLIN},
                                  pollfd{.fd = tasks_.outcomes_fd(), .events = POLLIN},
                                  pollfd{.fd = tasks_.input().fd(), .events = POLLIN},
                                  // Held back: a program that writes more than its client takes waits.
                                  pollfd{.fd = audience_.full() ? -1 : tasks_.output().fd(), .events = POLLIN}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0) return;
    if (waiting[4].revents != 0) tasks_.read_outcomes();
    if (waiting[1].revents != 0) read_commands();
    if (waiting[0].revents != 0) reap();
    if (waiting[3].revents != 0) audience_.turn([this](const StepUp& order) { obey(order); });
    if (waiting[2].revents != 0) alarm_.rang();
  }

  // Whatever has happened, what follows from it.
  void turn() {
    act_on_time(since_boot());
    note_start();
    if (phase_ == Phase::running) tasks_.start_ready(entry_);
    tasks_.input().turn();
    if (tasks_.input().roomy()) audience_.hold_input(false);
    tasks_.output().turn();
    if (tasks_.all_over() && phase_ == Phase::running) start_killing();
    if (phase_ != Phase::over && gone()) end();
    tasks_.settle(since_boot());
    if (phase_ == Phase::over && !farewell_ && tasks_.all_told() && tasks_.output().at_end()) {
      farewell_ = true;
      audience_.send(frame(encode(StepDown{PartEnded{.cause = cause_of(*ended_)}})));
    }
    audience_.flush();
    if (farewell_ && audience_.all_confirmed()) leaving_ = true;
  }

  void note_start() {
    if (started_ || tasks_.first_running() == 0) return;
    started_ = Started{.pid = tasks_.first_running(), .at = wall_now(), .since_boot = since_boot(),
                       .notes = cgroup_->notes()};
    [[maybe_unused]] const Status noted = place_.records.put(place_.key, *started_);
    set_limit(limit_);
    tell(AttemptState::running);
  }

  void set_limit(Duration limit) {
    limit_ = limit;  // what counts from the start on, when it hasn't started yet
    limit_at_.reset();
    if (limit > Duration{} && started_ && !cause_) limit_at_ = started_->since_boot + limit;
  }

  void read_commands() {
    for (;;) {
      const auto received = receive_message(place_.control.get());
      if (!received || received->kind != Received::Kind::message) return;
      const auto command = decode<Command>(received->bytes);
      if (!command) continue;
      std::visit(Overload{[&](const SendSignal& c) { send_signal(c.signal, c.scope); },
                          [&](const Terminate& c) { ask_to_end(Cause::terminated, c.reason, c.grace); },
                          [&](const SetTimeLimit& c) { set_limit(c.limit); }},
                 *command);
    }
  }

  void obey(const StepUp& order) {
    std::visit(Overload{[&](const StepInput& o) { take_input(o); },
                        [&](const StepSignal& o) { send_signal(static_cast<int>(o.signal), SignalScope::all); },
                        [&](const StepResize& o) { tasks_.resize(o.rows, o.columns); },
                        [&](const StepEnd& o) { ask_to_end(Cause::terminated, "cancelled", o.grace); }},
               order);
  }

  void take_input(const StepInput& typed) {
    if (typed.last) return tasks_.input().finish();
    tasks_.input().put(typed.bytes);
    if (tasks_.input().full()) audience_.hold_input(true);
  }

  void send_signal(int signal, SignalScope scope) {
    if (signal < 1 || signal >= NSIG || !cgroup_ || phase_ == Phase::over) return;
    const std::vector<pid_t> tasks = tasks_.running();
    if (scope == SignalScope::main_only) {
      for (const pid_t pid : tasks) ::kill(pid, signal);
      return;
    }
    for (const pid_t pid : cgroup_->processes()) {
      const bool main = std::find(tasks.begin(), tasks.end(), pid) != tasks.end();
      if (scope == SignalScope::all || !main) ::kill(pid, signal);
    }
  }

  void ask_to_end(Cause cause, const std::string& reason, Duration grace) {
    if (phase_ == Phase::over) return;
    if (!cause_) {
      cause_ = cause;
      reason_ = reason.substr(0, kMessageLimit);
    }
    limit_at_.reset();
    if (phase_ == Phase::killing) return;
    const Duration kill_at = since_boot() + std::max(grace, Duration{});
    if (phase_ == Phase::running && cgroup_) {
      tasks_.give_up("it was ended before it started");
      cgroup_->terminate_all();
    }
    phase_ = Phase::ending;
    kill_at_ = kill_at_ ? std::min(*kill_at_, kill_at) : kill_at;
    look_at_ = since_boot() + kLook;
    if (grace <= Duration{}) start_killing();
  }

  void start_killing() {
    phase_ = Phase::killing;
    give_up_at_ = since_boot() + kUnkillable;
    kill_at_.reset();
    limit_at_.reset();
    sweep();
  }

  void sweep() {
    if (gone()) return;
    cgroup_->kill_all();
    reap_all();
    if (!gone()) look_at_ = since_boot() + kSweep;
  }

  [[nodiscard]] bool gone() const {
    if (leftover_ || !cgroup_) return true;
    return (phase_ == Phase::ending || phase_ == Phase::killing) && tasks_.all_over() && cgroup_->empty();
  }

  void reap() {
    take_child_signals(children_);
    reap_all();
  }

  void reap_all() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid <= 0) return;
      tasks_.over(pid, status, [this] {
        const std::int64_t kills = cgroup_->usage().oom_kills;
        return std::exchange(oom_kills_, kills) < kills;
      });
    }
  }

  [[nodiscard]] Deadline owner_due() const {
    if (audience_.has_owner()) return std::nullopt;
    if (phase_ == Phase::ending || phase_ == Phase::killing) return std::nullopt;
    return std::max(audience_.alone_since(), over_at_) + spec_.owner_patience;
  }

  void set_alarm() {
    Deadline drain;
    if (tasks_.some_untold()) drain = since_boot() + Output::kTerminalDrain;
    alarm_.set({limit_at_, kill_at_, look_at_, give_up_at_, owner_due(), drain});
  }

  void act_on_time(Duration now) {
    if (due(limit_at_, now)) ask_to_end(Cause::time_limit, "", spec_.grace);
    Deadline owner = owner_due();
    if (due(owner, now)) abandoned();
    if (due(kill_at_, now)) start_killing();
    if (due(look_at_, now)) look();
    if (phase_ != Phase::over && due(give_up_at_, now)) leftover_ = true;
  }

  void abandoned() {
    if (phase_ == Phase::over) {
      leaving_ = true;
      return;
    }
    note_ = "its client is gone";
    ask_to_end(Cause::terminated, "cancelled", spec_.grace);
  }

  void look() {
    if (phase_ == Phase::killing) return sweep();
    if (phase_ == Phase::ending && !gone()) look_at_ = since_boot() + kLook;
  }

  // No process is left (or none that can be ended): written down first, then told.
  void end() {
    phase_ = Phase::over;
    over_at_ = since_boot();
    limit_at_ = kill_at_ = look_at_ = give_up_at_ = std::nullopt;
    reap_all();  // the last orphans, for their share of the usage
    const TaskEnd& worst = tasks_.worst();
    Ended ended{.exit_code = worst.signal > 0 ? 0 : worst.exit_code, .signal = worst.signal,
                .core_dumped = tasks_.core_dumped(), .reason = reason_, .at = wall_now(), .since_boot = over_at_,
                .leftover = leftover_};
    count_usage(ended);
    ended.message = tasks_.failure().empty() ? note_ : tasks_.failure();
    ended.own_fault = tasks_.own_fault();
    ended.cause = cause_               ? *cause_
                  : !started_          ? Cause::not_started
                  : ended.oom_kills > 0 ? Cause::out_of_memory
                                       : Cause::exited;
    entry_ = {};
    if (cgroup_ && !leftover_) [[maybe_unused]] const Status removed = cgroup_->remove();
    tasks_.output().all_over();
    ended_ = ended;
    // Somebody may still tell from our death that the end is unknown; better than a wrong word.
    if (place_.records.put(place_.key, ended)) tell(AttemptState::ended);
  }

  void count_usage(Ended& ended) const {
    rusage children{};
    ::getrusage(RUSAGE_CHILDREN, &children);
    ended.user_us = microseconds_of(children.ru_utime);
    ended.system_us = microseconds_of(children.ru_stime);
    const Usage usage = cgroup_ ? cgroup_->usage() : Usage{};
    ended.cpu_us = usage.cpu_us;
    ended.peak_memory = usage.peak_memory > 0 ? usage.peak_memory : children.ru_maxrss * 1024;
    ended.oom_kills = usage.oom_kills;
  }

  void tell(AttemptState state) {
    teller_.tell({.key = place_.key, .state = state, .claim = claim_, .started = started_, .ended = ended_});
  }

  PartPlace place_;
  PartSpec spec_;
  Duration limit_;
  Claim claim_;
  Teller teller_;
  Audience audience_;
  std::unique_ptr<Cgroup> cgroup_;
  Entry entry_;
  Tasks tasks_;
  Fd children_;
  Alarm alarm_;
  Phase phase_ = Phase::running;
  bool leftover_ = false, farewell_ = false, leaving_ = false;
  std::optional<Started> started_;
  std::optional<Ended> ended_;
  std::optional<Cause> cause_;
  std::string reason_, note_;
  std::int64_t oom_kills_ = 0;
  Duration over_at_{};
  Deadline limit_at_, kill_at_, look_at_, give_up_at_;
};

}  // namespace

void run_part(PartPlace place, const PartSpec& spec) { Part(std::move(place), spec).run(); }

}  // namespace drover::agent
