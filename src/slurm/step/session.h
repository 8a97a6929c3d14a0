// A client at its step: output to where it belongs, input, signals and ends to the nodes, and what
// is said about it, until every node's part is over. One thread, one poll.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/views.h"
#include "base/result.h"
#include "slurm/step/board.h"
#include "slurm/step/link.h"
#include "slurm/step/output.h"
#include "slurm/step/writer.h"

namespace drover::slurm {

struct PartPlace {
  std::string node;
  std::vector<std::uint32_t> tasks;
  std::string path;     // of the agent's socket to ask
  std::string address;  // of the node's own, when the one at `path` has to pass the stream on
};

struct SessionPlan {
  std::string program = "srun";
  JobId job;
  std::uint32_t attempt = 0;
  std::uint32_t step = 0;
  std::string shown;  // "17.0"
  std::string ticket;
  std::vector<PartPlace> parts;
  AttachAs as = AttachAs::owner;
  bool label = false;
  bool unbuffered = false;
  std::optional<std::uint32_t> only_out;  // the one task whose output is wanted
  std::optional<std::uint32_t> only_err;
  std::optional<std::uint32_t> input_task;  // none: all
  bool pty = false;
  bool quit_on_interrupt = false;
  bool disable_status = false;
  bool quiet = false;
  bool kill_on_bad_exit = false;
  std::uint32_t wait_s = 0;                                 // 0: for ever
  std::function<std::string(const TaskStarted&)> on_start;  // something to say of it, "" nothing
};

// The descriptors and the world around. Nothing here is owned.
struct SessionEnds {
  int in = -1;   // -1: there is no input
  int out = -1;  // of the tasks' standard output
  int err = -1;
  int say = 2;  // for our own words
  int signals = -1;
  std::function<std::vector<int>()> take_signals;  // those that `signals` is readable for
  std::function<StepResize()> window;
  std::function<std::string()> clock;  // "2026-11-30T18:27:42"
  // What the controller holds of the step; nothing: it knows none.
  std::function<Result<std::optional<api::StepView>>()> ask;
  std::function<void()> end_step;  // by way of the controller
  std::function<void()> lasting;   // called once, when the session has lasted for a second; may be null
};

class Session {
 public:
  Session(SessionPlan plan, SessionEnds ends);
  // The exit status.
  int run();

 private:
  void say(std::string_view text);
  void error(std::string_view text) { say("error: " + std::string(text)); }
  void on_message(Link& link, StepDown& message);
  void on_output(const StepOutput& output);
  void on_part_ended(const Link& link, const PartEnded& ended);
  void on_signal(int number);
  void interrupt();
  void terminate(Duration grace);
  void send_all(const StepUp& message);
  void send_input(const StepInput& input);
  void read_input();
  [[nodiscard]] bool wants_input() const;
  void keep_time();
  void watch_links();
  void look_after(Link& link);
  void say_failures();
  [[nodiscard]] bool finished() const;
  [[nodiscard]] int poll_timeout() const;
  void poll_once();
  void drain();
  Writer& writer(int fd);

  SessionPlan plan_;
  SessionEnds ends_;
  TaskBoard board_;
  std::vector<std::unique_ptr<Link>> links_;
  std::map<int, Writer> writers_;
  OutputLines out_lines_;
  OutputLines err_lines_;
  Duration now_;
  const Duration began_ = now_;
  bool input_over_ = false;
  bool terminating_ = false;
  bool detached_ = false;  // leave without waiting for the step
  bool cancel_said_ = false;
  bool abort_said_ = false;
  Duration last_interrupt_{-10'000};
  Duration last_sent_{-10'000};
  Duration terminated_at_{0};
  Duration first_end_{-1};
  Duration failure_at_{-1};                   // since when a failure hasn't been said
  std::map<std::string, Duration> asked_at_;  // of broken links: when the controller was last asked
};

}  // namespace drover::slurm
