#include "agent/driver/process.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>

#include "agent/shim/key.h"
#include "base/proto.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"
#include "os/socket.h"

namespace drover::agent {
namespace {

constexpr int kConnectTries = 50;
constexpr int kSendPatienceMs = 5000;
constexpr int kKeeperLives = 3;  // drover-shim's exit code for it
constexpr int kSweeps = 200;

void pause_ms(long ms) {
  const timespec pause{.tv_sec = 0, .tv_nsec = ms * 1'000'000};
  ::nanosleep(&pause, nullptr);
}

bool is_over(const Attempt& attempt) { return attempt.state == AttemptState::ended; }

Attempt never_started(const std::string& key, const std::string& why) {
  return {.key = key, .state = AttemptState::ended,
          .ended = Ended{.cause = Cause::not_started, .exit_code = 1, .message = why, .at = wall_now(),
                         .since_boot = since_boot()}};
}

}  // namespace

ProcessDriver::ProcessDriver(const ProcessOptions& options)
    : options_(options),
      records_(options.folder),
      cgroups_(options.cgroup_root.empty() ? CgroupTree::without("Cgroups are switched off.")
                                           : CgroupTree::detect(options.cgroup_root)),
      waker_(::epoll_create1(EPOLL_CLOEXEC)) {}

Result<std::unique_ptr<ProcessDriver>> ProcessDriver::open(const ProcessOptions& options) {
  std::unique_ptr<ProcessDriver> driver(new ProcessDriver(options));
  TRY(driver->connect());
  driver->changed_.clear();
  return driver;
}

Status ProcessDriver::connect() {
  auto connected = connect_packets(options_.socket);
  if (!connected) {
    TRY(start_keeper());
    connected = connect_packets(options_.socket);
    for (int i = 0; !connected && i < kConnectTries; ++i) {
      pause_ms(10);
      connected = connect_packets(options_.socket);
    }
  }
  if (!connected) return std::move(connected).error();
  socket_ = std::move(*connected);
  epoll_event interest{.events = EPOLLIN, .data = {}};
  if (::epoll_ctl(waker_.get(), EPOLL_CTL_ADD, socket_.get(), &interest) != 0) return system_error(errno, "epoll");
  take_stock();
  // What the last keeper took with it. A start that it did pass on is only answered.
  for (const auto& [key, waiting] : unconfirmed_) {
    TRY(send_message(socket_.get(), waiting.order));
    for (const std::string& command : waiting.commands) {
      TRY(send_message(socket_.get(), encode(Order{TellOrder{.key = key, .command = command}})));
    }
  }
  return Done{};
}

Status ProcessDriver::start_keeper() const {
  TRY(records_.create());
  std::vector<std::string> argv{options_.shim_program, "keeper", "--socket", options_.socket, "--dir", options_.folder};
  if (!options_.cgroup_root.empty()) argv.insert(argv.end(), {"--cgroup-root", options_.cgroup_root});
  const std::string log = options_.folder + "/keeper.log";
  if (!options_.host_name.empty()) argv.insert(argv.end(), {"--host-name", options_.host_name});
  const pid_t starter = TRY(spawn(argv, log));
  const int code = TRY(wait_for(starter));
  if (code == 0 || code == kKeeperLives) return Done{};
  return Error{Errc::unavailable, "the keeper doesn't start (exit code " + std::to_string(code) + "), see " + log};
}

// Reads the world. Called at each connect, so that nothing depends on words that were lost.
void ProcessDriver::take_stock() {
  std::map<std::string, Attempt> found;
  for (const std::string& key : records_.keys()) found.emplace(key, records_.attempt(key));
  for (const auto& [key, attempt] : found) {
    // Without a claim it is on its way from the keeper to its shim.
    if (attempt.claim || is_over(attempt)) note(attempt);
  }
  for (auto it = known_.begin(); it != known_.end();) {
    const auto& [key, attempt] = *it;
    // An ended one without a folder was refused by the keeper.
    if (!found.contains(key) && !unconfirmed_.contains(key) && !is_over(attempt)) {
      changed_.insert_or_assign(key, never_started(key, "its records are gone"));
      it = known_.erase(it);
    } else {
      ++it;
    }
  }
}

void ProcessDriver::note(const Attempt& attempt) {
  unconfirmed_.erase(attempt.key);
  const auto [it, added] = known_.try_emplace(attempt.key, attempt);
  if (!added) {
    // Words may come late: records read meanwhile know more.
    if (it->second == attempt || is_over(it->second)) return;
    it->second = attempt;
  }
  changed_.insert_or_assign(attempt.key, attempt);
}

Status ProcessDriver::send(const std::string& bytes) {
  for (int i = 0; i < 2; ++i) {
    if (!socket_) TRY(connect());
    pollfd ready{.fd = socket_.get(), .events = POLLOUT};
    if (::poll(&ready, 1, kSendPatienceMs) == 0) return Error{Errc::unavailable, "the keeper doesn't listen"};
    const Status sent = send_message(socket_.get(), bytes);
    if (sent) return sent;
    socket_.reset();
  }
  return Error{Errc::unavailable, "the keeper dies when we speak to it"};
}

Status ProcessDriver::start(const std::string& key, const StartSpec& spec) {
  return order_start(key, StartOrder{.key = key, .spec = encode(spec)});
}

Status ProcessDriver::start_part(const std::string& key, const PartSpec& spec) {
  if (!part_of(key)) return Error{Errc::invalid, "not the name of a step: " + printable(key)};
  return order_start(key, PartOrder{.key = key, .spec = encode(spec)});
}

Status ProcessDriver::order_start(const std::string& key, const Order& order) {
  if (!is_safe_name(key)) return Error{Errc::invalid, "bad name of an attempt: " + printable(key)};
  if (known_.contains(key)) return Error{Errc::conflict, "there is an attempt " + key + " already"};
  const std::string bytes = encode(order);
  TRY(send(bytes));
  known_.emplace(key, Attempt{.key = key});
  unconfirmed_.emplace(key, Unconfirmed{.order = bytes});
  return Done{};
}

Status ProcessDriver::tell(const std::string& key, const Command& command) {
  const auto it = known_.find(key);
  if (it == known_.end()) return Error{Errc::not_found, "there is no attempt " + printable(key)};
  if (is_over(it->second)) return Done{};
  if (it->second.state == AttemptState::unknown) {
    if (!std::holds_alternative<Terminate>(command)) {
      return Error{Errc::unavailable, "the shim of " + key + " is gone"};
    }
    return end_lost(key);
  }
  const std::string bytes = encode(command);
  const auto waiting = unconfirmed_.find(key);
  if (waiting != unconfirmed_.end()) {  // behind its start, in the same queue
    waiting->second.commands.push_back(bytes);
    return send(encode(Order{TellOrder{.key = key, .command = bytes}}));
  }
  // To the shim itself: no keeper has to live for that.
  const Status told = send_datagram(TRY(datagram_socket()).get(), records_.control_path(key), bytes);
  if (told) return told;
  note(records_.attempt(key));
  return is_over(it->second) ? Status(Done{}) : told;
}

Status ProcessDriver::end_lost(const std::string& key) {
  const Attempt& lost = known_.at(key);
  const auto group = open_group(cgroups_, key, lost.claim ? lost.claim->group : "");
  const bool findable = cgroups_.backend() != Backend::none;
  for (int i = 0; findable && i < kSweeps && !group->empty(); ++i) {
    group->kill_all();
    pause_ms(5);
  }
  Ended ended{.cause = Cause::lost, .message = "its shim was killed", .at = wall_now(), .since_boot = since_boot()};
  const Usage usage = group->usage();
  ended.cpu_us = usage.cpu_us;
  ended.peak_memory = usage.peak_memory;
  ended.leftover = !findable || !group->empty();
  for (const TaskEnd& task : records_.task_ends(key)) {
    if (ended.exit_code == 0 && ended.signal == 0) {
      ended.exit_code = task.exit_code;
      ended.signal = task.signal;
    }
  }
  if (!ended.leftover) TRY(group->remove());
  TRY(records_.put(key, ended));
  note(records_.attempt(key));
  return Done{};
}

Status ProcessDriver::forget(const std::string& key) {
  const auto it = known_.find(key);
  if (it == known_.end()) return Done{};
  if (!is_over(it->second)) return Error{Errc::conflict, "attempt " + key + " hasn't ended"};
  if (part_of(key) && records_.shim_lives(key)) return Error{Errc::unavailable, "its client hasn't heard all"};
  TRY(records_.forget(key));
  known_.erase(it);
  changed_.erase(key);
  return Done{};
}

std::vector<Attempt> ProcessDriver::list() {
  take_stock();
  std::vector<Attempt> all;
  for (const auto& [key, attempt] : known_) all.push_back(attempt);
  return all;
}

std::vector<Attempt> ProcessDriver::changes() {
  if (!socket_) [[maybe_unused]] const Status connected = connect();
  while (socket_) {
    auto received = receive_message(socket_.get());
    if (!received || received->kind == Received::Kind::closed) {
      socket_.reset();
      [[maybe_unused]] const Status connected = connect();
      break;
    }
    if (received->kind == Received::Kind::nothing_yet) break;
    const auto attempt = decode<Attempt>(received->bytes);
    // A late word about a forgotten attempt is dropped.
    if (attempt && is_safe_name(attempt->key) && (known_.contains(attempt->key) || records_.has(attempt->key))) {
      note(*attempt);
    }
  }
  std::vector<Attempt> result;
  for (auto& [key, attempt] : changed_) result.push_back(std::move(attempt));
  changed_.clear();
  return result;
}

// By what the keeper has become, whoever started it.
std::string ProcessDriver::hosts_path() const {
  const auto name_space = [](const std::string& process) {
    std::array<char, 64> text{};
    const ssize_t n = ::readlink(("/proc/" + process + "/ns/uts").c_str(), text.data(), text.size());
    return std::string(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  };
  const pid_t pid = keeper();
  if (options_.host_name.empty() || pid <= 0) return {};
  return name_space(std::to_string(pid)) == name_space("self") ? std::string{} : records_.hosts_path();
}

pid_t ProcessDriver::keeper() const {
  const auto peer = socket_ ? peer_of(socket_.get()) : Result<Peer>(Error{});
  return peer ? peer->pid : 0;
}

}  // namespace drover::agent
