#include "slurm/command/allocation.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "base/text.h"
#include "os/clock.h"
#include "slurm/exit.h"
#include "slurm/render/words.h"
#include "slurm/script/request.h"

namespace drover::slurm {
namespace {

constexpr Duration kKeepEvery = seconds(10);
// An idle cluster grants within this; only then is a word said about waiting.
constexpr std::array kFirstLooks{0, 10, 20, 40, 80, 120, 200};
// Of JobView: id, name, phase, cause, reason, nodes.
const std::vector<std::uint32_t> kLookFields{1, 9, 10, 11, 13, 14, 15, 17, 29, 37, 38};

bool ends_waiting(int number) {
  return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

}  // namespace

std::string submit_line(const Call& call) {
  std::string line = call.program;
  for (const std::string& word : call.words) line += " " + word;
  return line;
}

int error_status(const Call& call) {
  const auto status = parse_uint(call.variable("SLURM_EXIT_ERROR").value_or("1"));
  return status && *status <= 255 ? static_cast<int>(*status) : 1;
}

void flush(Call& call) {
  if (call.flush) call.flush(call);
}

std::string refusal_lines(const Call& call, std::string_view begins, const Refusal& refusal) {
  std::string text;
  const bool partition = refusal.code == RefusalCode::unknown_partition;
  if (partition)
    text = error_line(call.program, "invalid partition specified: " + printable(refusal.subject)) +
           "\n";
  text += error_line(call.program, std::string(begins) + std::string(refusal_words(refusal.code))) +
          "\n";
  const std::string hint = refusal_hint(refusal);
  if (!partition && refusal.code != RefusalCode::unknown_dependency && !hint.empty()) {
    text += error_line(call.program, hint) + "\n";
  }
  return text;
}

std::string unreachable_lines(const Call& call, std::string_view begins, const Error& error) {
  return error_line(call.program,
                    std::string(begins) + "Unable to contact slurm controller (connect failure)") +
         "\n" + error_line(call.program, printable(error.message, 500)) + "\n";
}

Result<api::Execute> allocation_wish(const Call& call, const StepOptions& options,
                                     const std::string& default_name) {
  const SubmitFacts facts{.program = call.program,
                          .default_name = default_name,
                          .submit_line = submit_line(call),
                          .work_dir = call.work_dir,
                          .host = call.host,
                          .session_id = call.session_id,
                          .umask = call.umask,
                          .rlimits = call.rlimits};
  api::Execute wish = TRY(make_submit(options.job, facts));
  std::get<Submit>(wish.command).allocation = true;
  std::get<Submit>(wish.command).requeue = false;
  return wish;
}

void Allocation::say(std::string_view text) {
  if (quiet_) return;
  call_.err += call_.program + ": " + std::string(text) + "\n";
  flush(call_);
}

bool Allocation::give_up(std::string_view text) {
  call_.err += text;
  flush(call_);
  return false;
}

void Allocation::keep_alive() {
  if (keeper_.fd() >= 0) return;
  auto helper = Helper::start([this](int) {
    call_.controller->forked();
    ::syscall(SYS_close_range, 3U, ~0U, 0U);  // streams of the step, say: whoever is at their ends waits for our death
    for (;;) {
      ::poll(nullptr, 0, static_cast<int>(kKeepEvery.count()));
      // Away for a moment: the next one counts as well.
      static_cast<void>(call_.controller->keep(job_).has_value());
    }
  });
  if (helper) keeper_ = std::move(helper).value();
}

bool Allocation::obtain(const api::Execute& wish, const StepOptions& options) {
  constexpr std::string_view kBegins = "Unable to allocate resources: ";
  quiet_ = options.job.quiet;
  const auto answer = call_.controller->execute(wish);
  if (!answer) return give_up(unreachable_lines(call_, kBegins, answer.error()));
  if (const auto* refusal = std::get_if<Refusal>(&answer.value())) {
    return give_up(refusal_lines(call_, kBegins, *refusal));
  }
  job_ = std::get<Reply>(answer.value()).job;
  return wait_until_running(options);
}

// What the controller holds of the job now; false when that has been said to be an error.
bool Allocation::look() {
  bool found = false;
  const auto listed = call_.controller->jobs(
      {.select = {.jobs = {{.job = job_}}}, .fields = kLookFields}, [&](api::JobView& job) {
        view_ = std::move(job);
        found = true;
      });
  return listed && found;
}

bool Allocation::wait_until_running(const StepOptions& options) {
  const std::string id = std::to_string(job_.value());
  for (const int pause : kFirstLooks) {
    ::poll(nullptr, 0, pause);
    if (look() && (running() || view_.phase == Phase::ended)) break;
  }
  if (running()) return true;
  const auto busy = [&] {
    end({});
    return give_up(
        error_line(call_.program, "Unable to allocate resources: Requested nodes are busy") + "\n");
  };
  if (view_.phase != Phase::ended) {
    if (options.immediate_s && *options.immediate_s == 0) return busy();
    if (call_.program == "salloc") say("Pending job allocation " + id);
    say("job " + id + " queued and waiting for resources");
    keep_alive();
    const Duration until = since_boot() + seconds(options.immediate_s.value_or(0));
    auto helper = Helper::start([&](int out) {
      call_.controller->forked();
      while (!call_.controller->wait_started(job_)) ::poll(nullptr, 0, 1000);
      static_cast<void>(::write(out, "1", 1));
    });
    if (!helper) return give_up(error_line(call_.program, helper.error().message) + "\n");
    for (;;) {
      std::array<pollfd, 2> polled{{{.fd = helper->fd(), .events = POLLIN, .revents = 0},
                                    {.fd = signals_.fd(), .events = POLLIN, .revents = 0}}};
      const Duration left = std::max(until - since_boot(), Duration(0));
      const int ready = ::poll(polled.data(), polled.size(),
                               options.immediate_s ? static_cast<int>(left.count()) : -1);
      if (ready == 0) return busy();
      if (polled[0].revents != 0) break;
      if (polled[1].revents == 0 || !std::ranges::any_of(signals_.take(), ends_waiting)) continue;
      end({});
      return give_up(call_.program + ": Job allocation " + id + " has been revoked.\n");
    }
  }
  if (!look() || !running())
    return give_up(call_.program + ": Job allocation " + id + " has been revoked.\n");
  say("job " + id + " has been allocated resources");
  return true;
}

void Allocation::leave() {
  keeper_.stop();
  flush(call_);
  if (::fork() != 0) return;
  ::setsid();
  signals_.restore();
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
  call_.controller->forked();
  for (;;) {
    ::poll(nullptr, 0, static_cast<int>(kKeepEvery.count()));
    const auto kept = call_.controller->keep(job_);
    if (!kept && kept.error().code == Errc::denied) ::_exit(0);  // it is over
  }
}

void Allocation::end(const ExitStatus& exit) {
  keeper_.stop();
  api::Execute wish;
  wish.command = EndAllocation{.job = job_, .exit = exit};
  const auto answer = call_.controller->execute(wish);
  // Out of reach: the controller ends it itself when it hears nothing of us.
  if (!answer) call_.err += unreachable_lines(call_, "Unable to complete job: ", answer.error());
}

}  // namespace drover::slurm
