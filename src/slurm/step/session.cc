#include "slurm/step/session.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/overload.h"
#include "base/text.h"
#include "os/clock.h"

namespace drover::slurm {
namespace {

constexpr Duration kGather{100};  // failures of a moment are said together
constexpr Duration kSecond{1000};
constexpr Duration kLasting = seconds(1);
constexpr Duration kSilence = seconds(5);  // a broken connection isn't worth a word before
constexpr Duration kAbortPatience = seconds(32);
constexpr Duration kKillGrace = seconds(1);  // of -K and --wait: SIGTERM, then SIGKILL
constexpr Duration kEndGrace = seconds(30);
constexpr std::size_t kInputPiece = std::size_t{64} << 10U;

std::uint32_t task_total(const std::vector<PartPlace>& parts) {
  std::uint32_t most = 0;
  for (const PartPlace& part : parts) {
    for (const std::uint32_t task : part.tasks) most = std::max(most, task + 1);
  }
  return most;
}

OutputRules rules_of(const SessionPlan& plan) {
  return {.label = plan.label,
          .unbuffered = plan.unbuffered || plan.pty,
          .tasks = task_total(plan.parts)};
}

std::string_view lost_words(Cause cause) {
  switch (cause) {
    case Cause::cancelled:
    case Cause::preempted:
    case Cause::requeued:
      return "Cancelled";
    case Cause::time_limit:
    case Cause::deadline:
      return "Cancelled by its time limit";
    case Cause::out_of_memory:
      return "Out Of Memory";
    case Cause::launch_failed:
      return "launch failed";
    case Cause::none:
    case Cause::completed:
    case Cause::failed:
    case Cause::node_failed:
    case Cause::unknown:
      return "Node failure";
  }
  return "";
}

}  // namespace

Session::Session(SessionPlan plan, SessionEnds ends)
    : plan_(std::move(plan)),
      ends_(std::move(ends)),
      board_("StepId=" + plan_.shown),
      out_lines_(rules_of(plan_)),
      err_lines_(rules_of(plan_)),
      now_(since_boot()),
      input_over_(ends_.in < 0) {
  for (const PartPlace& part : plan_.parts) {
    for (const std::uint32_t task : part.tasks) board_.add(task, part.node);
    links_.push_back(std::make_unique<Link>(StepAttach{.job = plan_.job,
                                                       .attempt = plan_.attempt,
                                                       .step = plan_.step,
                                                       .node = part.node,
                                                       .ticket = plan_.ticket,
                                                       .as = plan_.as,
                                                       .address = part.address},
                                            part.path, now_));
  }
}

Writer& Session::writer(int fd) { return writers_.try_emplace(fd, fd).first->second; }

void Session::say(std::string_view text) {
  if (plan_.quiet && !text.starts_with("error")) return;
  writer(ends_.say).put(plan_.program + ": " + std::string(text) + "\n");
}

int Session::run() {
  while (!finished() && !detached_) {
    now_ = since_boot();
    for (const auto& link : links_) link->advance(now_);
    keep_time();
    if (finished() || detached_) break;
    poll_once();
  }
  watch_links();  // the last one may have been refused just now
  say_failures();
  if (board_.forced() && plan_.as == AttachAs::owner) say("Force Terminated StepId=" + plan_.shown);
  drain();
  return board_.exit_status();
}

bool Session::finished() const {
  return std::ranges::all_of(links_, [](const auto& link) { return link->finished(); });
}

void Session::poll_once() {
  std::vector<pollfd> polled;
  std::vector<std::function<void(short)>> then;
  const auto add = [&](int fd, short events, std::function<void(short)> action) {
    if (fd < 0 || events == 0) return;
    polled.push_back({.fd = fd, .events = events, .revents = 0});
    then.push_back(std::move(action));
  };
  const bool choked = std::ranges::any_of(writers_, [](const auto& w) { return w.second.full(); });
  for (const auto& link : links_) {
    add(link->fd(), link->events(!choked), [this, l = link.get()](short seen) {
      l->ready(seen, now_, [this, l](StepDown& message) { on_message(*l, message); });
    });
  }
  for (auto& [fd, w] : writers_) {
    if (!w.empty()) {
      add(w.fd(), POLLOUT, [this, out = &w](short) {
        // Nobody reads any more: the tasks are told as the one end of a pipe tells the other.
        if (!out->turn()) send_all(StepSignal{.signal = SIGPIPE});
      });
    }
  }
  if (wants_input()) add(ends_.in, POLLIN, [this](short) { read_input(); });
  add(ends_.signals, POLLIN, [this](short) {
    for (const int number : ends_.take_signals()) on_signal(number);
  });
  const int ready = ::poll(polled.data(), polled.size(), poll_timeout());
  if (ready <= 0) return;
  now_ = since_boot();
  for (std::size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents != 0) then[i](polled[i].revents);
  }
}

int Session::poll_timeout() const {
  Duration wait = seconds(60);
  const auto until = [&](Duration at) { wait = std::min(wait, std::max(at - now_, Duration(0))); };
  for (const auto& link : links_) {
    if (link->due() >= Duration(0)) until(link->due());
    if (!link->finished() && link->broken_since() >= Duration(0)) until(now_ + kSecond);
  }
  if (ends_.lasting) until(began_ + kLasting);
  if (failure_at_ >= Duration(0)) until(failure_at_ + kGather);
  if (plan_.wait_s > 0 && first_end_ >= Duration(0) && !terminating_)
    until(first_end_ + seconds(plan_.wait_s));
  if (terminating_) until(terminated_at_ + kEndGrace + kAbortPatience);
  if (!input_over_ && !wants_input()) until(now_ + kSecond);  // until the terminal is ours again
  return static_cast<int>(wait.count());
}

void Session::keep_time() {
  if (ends_.lasting && now_ >= began_ + kLasting) std::exchange(ends_.lasting, nullptr)();
  if (failure_at_ >= Duration(0) && now_ >= failure_at_ + kGather) say_failures();
  if (plan_.wait_s > 0 && first_end_ >= Duration(0) && !terminating_ && !board_.all_ended() &&
      now_ >= first_end_ + seconds(plan_.wait_s)) {
    say_failures();
    say("First task exited " + std::to_string(plan_.wait_s) + "s ago");
    for (const std::string& line : board_.status()) say(line);
    say("Terminating StepId=" + plan_.shown);
    terminate(kKillGrace);
  }
  if (terminating_ && now_ >= terminated_at_ + kEndGrace + kAbortPatience) {
    error("Timed out waiting for job step to complete");
    detached_ = true;
  }
  watch_links();
}

void Session::watch_links() {
  for (const auto& link : links_) look_after(*link);
}

// A part that can't be reached: say so, and ask the controller whether there is still something to
// wait for.
void Session::look_after(Link& link) {
  if (!link.refused().empty()) {
    if (asked_at_.contains("refused " + link.node())) return;
    asked_at_["refused " + link.node()] = now_;
    error(link.node() + ": " + link.refused());
    board_.lost(link.node(), "lost");
    if (failure_at_ < Duration(0)) failure_at_ = now_;
    return;
  }
  const bool broken = !link.finished() && link.broken_since() >= Duration(0);
  const auto asked = asked_at_.find(link.node());
  if (!broken) {
    if (asked == asked_at_.end()) return;
    asked_at_.erase(asked);
    if (!link.finished()) say(link.node() + ": connected to StepId=" + plan_.shown + " again");
    return;
  }
  if (now_ < link.broken_since() + kSilence) return;
  if (asked != asked_at_.end() && now_ < asked->second + kSilence) return;
  if (asked == asked_at_.end()) {
    error(link.node() + ": no connection to StepId=" + plan_.shown + " (" + link.why_broken() +
          "), trying again");
  }
  asked_at_[link.node()] = now_;
  const auto seen = ends_.ask();
  if (!seen) return;  // the controller is away too: go on trying
  if (seen.value() && seen.value()->phase != StepPhase::ended) {
    for (const api::StepShareView& share : seen.value()->shares) {
      if (share.share.node == link.node()) link.moved(share.stream_address);
    }
    return;
  }
  const Cause cause = seen.value() ? seen.value()->cause : Cause::node_failed;
  error(link.node() + ": StepId=" + plan_.shown + " is over: the rest of its output is lost");
  board_.lost(link.node(), std::string(lost_words(cause)));
  say_failures();
  detached_ = true;
}

void Session::on_message(Link& link, StepDown& message) {
  std::visit(Overload{[&](const StepOutput& output) { on_output(output); },
                      [&](const TaskStarted& started) {
                        board_.started(started.task);
                        const std::string said =
                            plan_.on_start ? plan_.on_start(started) : std::string();
                        if (!said.empty()) writer(ends_.say).put(said + "\n");
                      },
                      [&](const TaskEnded& ended) {
                        board_.ended(ended);
                        if (first_end_ < Duration(0)) first_end_ = now_;
                        if (board_.has_failures() && failure_at_ < Duration(0)) failure_at_ = now_;
                        if (board_.any_failed() && plan_.kill_on_bad_exit && !terminating_ &&
                            !board_.all_ended()) {
                          say_failures();
                          say("Terminating StepId=" + plan_.shown);
                          terminate(kKillGrace);
                        }
                      },
                      [&](const PartEnded& ended) { on_part_ended(link, ended); }},
             message);
}

void Session::on_output(const StepOutput& output) {
  const bool to_out = output.channel == StepChannel::out;
  const auto& only = to_out ? plan_.only_out : plan_.only_err;
  if (only && *only != output.task) return;
  OutputLines& lines = to_out ? out_lines_ : err_lines_;
  Writer& to = writer(to_out ? ends_.out : ends_.err);
  if (output.bytes.empty()) to.put(lines.end(output.task));
  else if (lines.passes_through()) to.put(output.bytes);
  else to.put(lines.take(output.task, output.bytes));
}

void Session::on_part_ended(const Link& link, const PartEnded& ended) {
  const bool cancelled = ended.cause == Cause::cancelled || ended.cause == Cause::preempted;
  const bool late = ended.cause == Cause::time_limit || ended.cause == Cause::deadline;
  if ((cancelled || late) && !std::exchange(cancel_said_, true)) {
    writer(ends_.say).put("slurmstepd: error: *** STEP " + plan_.shown + " ON " + link.node() +
                          " CANCELLED AT " + ends_.clock() +
                          (late ? " DUE TO TIME LIMIT ***\n" : " ***\n"));
  }
  board_.lost(link.node(), std::string(lost_words(ended.cause)));
  if (board_.has_failures() && failure_at_ < Duration(0)) failure_at_ = now_;
}

void Session::say_failures() {
  failure_at_ = Duration(-1);
  for (const std::string& line : board_.take_failures()) error(line);
}

void Session::send_all(const StepUp& message) {
  for (const auto& link : links_) link->send(message);
}

void Session::terminate(Duration grace) {
  if (std::exchange(terminating_, true)) return;
  terminated_at_ = now_;
  board_.ending();
  send_all(StepEnd{.grace = grace});
  const bool cut_off = std::ranges::any_of(links_, [](const auto& link) {
    return !link->finished() && link->broken_since() >= Duration(0);
  });
  if (cut_off && ends_.end_step) ends_.end_step();
}

void Session::on_signal(int number) {
  if (plan_.as == AttachAs::watcher) {
    detached_ |= number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    return;
  }
  const auto forward = [&] { send_all(StepSignal{.signal = static_cast<std::uint32_t>(number)}); };
  switch (number) {
    case SIGINT:
      return interrupt();
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
      if (!terminating_) say("forcing job termination");
      forward();
      return terminate(kEndGrace);
    case SIGWINCH:
      if (plan_.pty && ends_.window) send_all(ends_.window());
      return;
    default:
      return forward();
  }
}

// Once: how it stands. Twice within a second: SIGINT and the end. Once more: leave.
void Session::interrupt() {
  const bool again = now_ - last_interrupt_ <= kSecond;
  last_interrupt_ = now_;
  if (!plan_.quit_on_interrupt && !again) {
    if (plan_.disable_status) {
      say("sending Ctrl-C to StepId=" + plan_.shown);
      return send_all(StepSignal{.signal = SIGINT});
    }
    say(terminating_ ? "interrupt (abort already in progress)"
                     : "interrupt (one more within 1 sec to abort)");
    for (const std::string& line : board_.status()) say(line);
    return;
  }
  if (terminating_ && now_ - last_sent_ <= kSecond) {
    say("forcing job termination");
    if (ends_.end_step) ends_.end_step();
    detached_ = true;
    return;
  }
  last_sent_ = now_;
  say("sending Ctrl-C to StepId=" + plan_.shown);
  send_all(StepSignal{.signal = SIGINT});
  if (!std::exchange(abort_said_, true)) {
    say("Job step aborted: Waiting up to " + std::to_string(kAbortPatience.count() / 1000) +
        " seconds for job step to finish.");
  }
  terminate(seconds(2));
}

bool Session::wants_input() const {
  if (input_over_ || board_.all_ended()) return false;
  // A background job doesn't read the terminal: it would be stopped.
  const pid_t group = ::tcgetpgrp(ends_.in);
  if (group >= 0 && group != ::getpgrp()) return false;
  return std::ranges::none_of(links_,
                              [](const auto& link) { return !link->finished() && link->full(); });
}

void Session::read_input() {
  std::array<char, kInputPiece>
      buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by the read
  const ssize_t size = ::read(ends_.in, buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  input_over_ = size <= 0;
  if (input_over_) return send_input({.last = true});
  send_input({.bytes = std::string(buffer.data(), static_cast<std::size_t>(size))});
}

void Session::send_input(const StepInput& input) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const std::vector<std::uint32_t>& tasks = plan_.parts[i].tasks;
    if (!plan_.input_task || std::ranges::find(tasks, *plan_.input_task) != tasks.end())
      links_[i]->send(input);
  }
}

void Session::drain() {
  for (auto& [fd, w] : writers_) {
    while (!w.empty() && w.fd() >= 0) {
      std::array<pollfd, 2> polled{{{.fd = w.fd(), .events = POLLOUT, .revents = 0},
                                    {.fd = ends_.signals, .events = POLLIN, .revents = 0}}};
      if (::poll(polled.data(), polled.size(), -1) <= 0) continue;
      if (polled[0].revents != 0) w.turn();
      if (polled[1].revents == 0) continue;
      for (const int number : ends_.take_signals()) {
        if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT) return;
      }
    }
  }
}

}  // namespace drover::slurm
