#include "agent/shim/keeper.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <vector>

#include "agent/shim/child.h"
#include "agent/shim/names.h"
#include "agent/shim/records.h"
#include "agent/shim/shim.h"
#include "agent/step/part.h"
#include "base/overload.h"
#include "base/proto.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"
#include "os/socket.h"

namespace drover::agent {
namespace {

constexpr std::size_t kUnsentLimit = 10'000;  // an agent that far behind lists everything anew

constexpr Duration kIdle = seconds(10);  // after that a shim without a job is let go
constexpr int kLeaveTries = 100;

// A shim and the attempt that it has, if any. Its line closes with this.
struct Guardian {
  Fd line;
  std::string key;
  Duration idle_since{};
};

struct Connection {
  Fd socket;
  std::deque<std::string> unsent;
  bool broken = false;
};

class Keeper {
 public:
  static Result<Keeper> open(const KeeperOptions& options) {
    Keeper keeper(options);
    TRY(keeper.records_.create());
    keeper.lock_ = TRY(lock_file(keeper.records_.lock_path()));
    keeper.drop_what_never_started();
    keeper.notify_ = TRY(bind_datagrams(keeper.records_.notify_path()));
    keeper.listening_ = TRY(listen_packets(options.socket));
    keeper.teller_ = TRY(datagram_socket());
    return keeper;
  }

  void run() {
    sigset_t mask;
    ::sigfillset(&mask);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::sigemptyset(&mask);
    ::sigaddset(&mask, SIGCHLD);
    ::sigaddset(&mask, SIGTERM);
    signals_ = Fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
    while (!leaving_) serve_once();
    let_idle_go(since_boot());
    for (int i = 0; i < kLeaveTries && !departing_.empty(); ++i) {
      ::poll(nullptr, 0, 10);
      bury_shims();
    }
    if (shims_.empty()) cgroups_.remove_root();  // stays while a group of somebody's job is in it
  }

 private:
  explicit Keeper(const KeeperOptions& options)
      : records_(options.folder),
        cgroups_(options.cgroup_root.empty() ? CgroupTree::without("Cgroups are switched off.")
                                             : CgroupTree::detect(options.cgroup_root)) {}

  // A shim writes its claim before it starts anything. Nobody else makes attempts: we hold the lock.
  void drop_what_never_started() const {
    for (const std::string& key : records_.keys()) {
      const Attempt attempt = records_.attempt(key);
      if (attempt.state != AttemptState::unknown || attempt.claim) continue;
      [[maybe_unused]] const Status dropped = records_.forget(key);
    }
  }

  void serve_once() {
    std::vector<pollfd> waiting{{.fd = listening_.get(), .events = POLLIN},
                                {.fd = notify_.get(), .events = POLLIN},
                                {.fd = signals_.get(), .events = POLLIN}};
    for (const Connection& one : connections_) {
      const int events = one.unsent.empty() ? POLLIN : POLLIN | POLLOUT;
      waiting.push_back({.fd = one.socket.get(), .events = static_cast<short>(events)});
    }
    if (::poll(waiting.data(), waiting.size(), idle_.empty() ? -1 : static_cast<int>(kIdle.count())) < 0) return;
    // Words of shims before their deaths, so that a death without a word is told apart.
    if (waiting[1].revents != 0) pass_words_on();
    if (waiting[2].revents != 0) bury_shims();
    std::size_t at = 3;
    for (Connection& one : connections_) {
      const int happened = waiting[at++].revents;
      if ((happened & POLLOUT) != 0) flush(one);
      if ((happened & ~POLLOUT) != 0) read_orders(one);
    }
    connections_.remove_if([](const Connection& one) { return one.broken; });
    if (waiting[0].revents != 0) admit();
    let_idle_go(since_boot() - kIdle);
  }

  void admit() {
    auto accepted = accept_connection(listening_.get());
    if (!accepted) return;
    const auto peer = peer_of(accepted->get());
    if (!peer || peer->uid != ::geteuid()) return;
    connections_.push_back({.socket = std::move(*accepted)});
  }

  void read_orders(Connection& from) {
    for (;;) {
      auto received = receive_message(from.socket.get());
      if (!received || received->kind == Received::Kind::closed) {
        from.broken = true;
        return;
      }
      if (received->kind == Received::Kind::nothing_yet) return;
      const auto order = decode<Order>(received->bytes);
      if (!order) continue;
      std::visit(Overload{[&](const StartOrder& o) { start(o); }, [&](const TellOrder& o) { tell(o); },
                          [&](const PartOrder& o) { start(o); }},
                 *order);
    }
  }

  template <class AnyOrder>
  void start(const AnyOrder& order) {
    if (!is_safe_name(order.key)) return refuse(order.key, "bad name of an attempt");
    const Status added = records_.add(order.key);
    if (!added && added.error().code == Errc::conflict) return tell_all(records_.attempt(order.key));
    if (!added) return refuse(order.key, added.error().message);
    const Status started = begin(order);
    if (started) return;
    [[maybe_unused]] const Status undone = records_.forget(order.key);
    refuse(order.key, started.error().message);
  }

  Status begin(const StartOrder& order) {
    // Bound before the fork, so that a command sent right after the start waits here.
    Handover handover{.order = encode(order), .control = TRY(bind_datagrams(records_.control_path(order.key)))};
    if (idle_.empty()) pass_words_on();  // in a burst of short jobs somebody is done meanwhile: cheaper than a new one
    return give_to_idle(order.key, handover) ? Status(Done{}) : give_to_new(order.key, std::move(handover));
  }

  // A part of a step has a shim for itself, which stays as long as a client listens.
  Status begin(const PartOrder& order) {
    Fd control = TRY(bind_datagrams(records_.control_path(order.key)));
    Fd stream = TRY(listen_stream(records_.stream_path(order.key), 0600));
    const pid_t pid = ::fork();
    if (pid < 0) return system_error(errno, "fork");
    if (pid == 0) {
      leave_everything();
      const auto spec = decode<PartSpec>(order.spec);
      run_part({.records = records_, .cgroups = cgroups_, .key = order.key, .control = std::move(control),
                .stream = std::move(stream), .boot_id = boot_id_},
               spec ? *spec : PartSpec{});
      ::_exit(0);
    }
    shims_.emplace(pid, Guardian{.line = {}, .key = order.key});
    holders_[order.key] = pid;
    return Done{};
  }

  // The one that became idle last: what it needs is still in the caches.
  bool give_to_idle(const std::string& key, const Handover& handover) {
    while (!idle_.empty()) {
      const pid_t pid = idle_.back();
      idle_.pop_back();
      Guardian& guardian = shims_.at(pid);
      if (hand_over(guardian.line.get(), handover)) {
        guardian.key = key;
        holders_[key] = pid;
        return true;
      }
      let_go(pid);
    }
    return false;
  }

  Status give_to_new(const std::string& key, Handover handover) {
    auto [ours, its] = TRY(make_line());
    const std::string group = group_prefix_ + std::to_string(++groups_);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ours.reset();  // or the shim would never see it closed
      become_shim(group, std::move(its), std::move(handover));
    }
    if (pid < 0) return system_error(errno, "fork");
    shims_.emplace(pid, Guardian{.line = std::move(ours), .key = key});
    holders_[key] = pid;
    return Done{};
  }

  void let_go(pid_t pid) {
    shims_.at(pid).line.reset();
    departing_.insert(pid);
  }

  void let_idle_go(Duration idle_before) {
    std::erase_if(idle_, [&](pid_t pid) {
      const bool enough = shims_.at(pid).idle_since <= idle_before;
      if (enough) let_go(pid);
      return enough;
    });
  }

  [[noreturn]] void become_shim(const std::string& group, Fd line, Handover handover) {
    leave_everything();
    run_shim({.records = records_, .cgroups = cgroups_, .group = group, .boot_id = boot_id_, .line = std::move(line)},
             std::move(handover));
    ::_exit(0);
  }

  void leave_everything() {
    lock_.reset();
    notify_.reset();
    signals_.reset();
    listening_.reset();
    teller_.reset();
    connections_.clear();
    shims_.clear();
  }

  void tell(const TellOrder& order) {
    if (!is_safe_name(order.key)) return;
    const std::string path = records_.control_path(order.key);
    // Nobody there: the attempt has ended, or is unknown, and the agent hears of that anyway.
    [[maybe_unused]] const Status told = send_datagram(teller_.get(), path, order.command);
  }

  void refuse(const std::string& key, const std::string& why) {
    tell_all(Attempt{.key = key, .state = AttemptState::ended,
                     .ended = Ended{.cause = Cause::not_started, .exit_code = 1, .message = why, .at = wall_now(),
                                    .since_boot = since_boot()}});
  }

  void pass_words_on() {
    for (;;) {
      const auto received = receive_message(notify_.get());
      if (!received || received->kind == Received::Kind::nothing_yet) return;
      const auto attempt = decode<Attempt>(received->bytes);
      if (!attempt) continue;
      if (attempt->state == AttemptState::ended) note_end(attempt->key);
      send_all(received->bytes);
    }
  }

  void note_end(const std::string& key) {
    const auto holder = holders_.find(key);
    if (holder == holders_.end()) return;  // a shim of the keeper before us
    Guardian& guardian = shims_.at(holder->second);
    guardian.key.clear();
    guardian.idle_since = since_boot();
    if (guardian.line) idle_.push_back(holder->second);
    holders_.erase(holder);
  }

  void bury_shims() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof(info)) > 0) leaving_ = leaving_ || info.ssi_signo == SIGTERM;
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid <= 0) break;
      const auto it = shims_.find(pid);
      if (it == shims_.end()) continue;
      pass_words_on();
      const std::string key = it->second.key;
      holders_.erase(key);
      std::erase(idle_, pid);
      departing_.erase(pid);
      shims_.erase(it);
      // The last word was lost, or there was none.
      if (!key.empty() && records_.has(key)) report_silent(key);
    }
  }

  void report_silent(const std::string& key) {
    const Attempt attempt = records_.attempt(key);
    if (attempt.state != AttemptState::unknown || attempt.claim) return tell_all(attempt);
    [[maybe_unused]] const Status dropped = records_.forget(key);
    refuse(key, "its shim was killed before the job started");
  }

  void tell_all(const Attempt& attempt) { send_all(encode(attempt)); }
  void send_all(const std::string& bytes) {
    for (Connection& one : connections_) {
      one.unsent.push_back(bytes);
      flush(one);
    }
  }

  static void flush(Connection& to) {
    while (!to.unsent.empty() && send_message(to.socket.get(), to.unsent.front())) to.unsent.pop_front();
    if (to.unsent.size() > kUnsentLimit) to.broken = true;
  }

  Records records_;
  CgroupTree cgroups_;
  std::string boot_id_ = boot_id();
  Fd lock_, notify_, listening_, signals_, teller_;
  bool leaving_ = false;
  std::list<Connection> connections_;
  std::map<pid_t, Guardian> shims_;
  std::map<std::string, pid_t> holders_;  // who has which attempt
  std::vector<pid_t> idle_;               // that may have another job, those idle for longest first
  std::set<pid_t> departing_;             // let go, and not dead yet
  // No other keeper of this boot has given such names, and cgroups don't outlive a boot.
  std::string group_prefix_ = std::to_string(since_boot().count()) + "-";
  std::uint64_t groups_ = 0;
};

void settle_in_background() {
  ::setsid();
  ::prctl(PR_SET_NAME, "drover-keeper", 0, 0, 0);
  [[maybe_unused]] const int moved = ::chdir("/");
  // Once, for all jobs to come: ignored signals and the capabilities that exec could bring back.
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  if (::geteuid() == 0) [[maybe_unused]] const bool emptied = empty_bounding_set();
  ::umask(022);
  // Shims inherit this, their jobs don't.
  const auto file = open_file("/proc/self/oom_score_adj", O_WRONLY);
  if (file) [[maybe_unused]] const ssize_t n = ::write(file->get(), "-1000", 5);
}

// How the background tells how it went: "+", or a digit for the code and the message.
std::string word_of(const Error& error) { return std::to_string(static_cast<int>(error.code)) + error.message; }
Status heard_from_background(const Fd& reader) {
  std::array<char, 2048> word{};
  const ssize_t n = ::read(reader.get(), word.data(), word.size());
  if (n > 0 && word[0] == '+') return Done{};
  if (n < 2) return Error{Errc::unavailable, "the keeper died at its start"};
  return Error{static_cast<Errc>(word[0] - '0'), std::string(&word[1], static_cast<std::size_t>(n - 1))};
}

}  // namespace

Status start_keeper(const KeeperOptions& options) {
  for (int fd = ::open("/dev/null", O_RDWR); fd >= 0 && fd <= 2;) fd = ::dup(fd);
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error(errno, "make a pipe");
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return system_error(errno, "fork");
  if (pid > 0) {
    writer.reset();
    return heard_from_background(reader);
  }
  settle_in_background();
  // Where it isn't allowed jobs see the machine's names; the agent looks, and says so.
  if (!options.host_name.empty()) {
    const Records records(options.folder);
    if (records.create()) [[maybe_unused]] const Status taken = take_names(options.host_name, records.hosts_path());
  }
  auto keeper = Keeper::open(options);
  const std::string word = keeper ? "+" : word_of(keeper.error());
  [[maybe_unused]] const ssize_t n = ::write(writer.get(), word.data(), word.size());
  writer.reset();
  if (keeper) keeper->run();
  ::_exit(keeper ? 0 : 1);
}

}  // namespace drover::agent
