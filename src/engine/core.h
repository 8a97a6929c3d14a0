// The core: inputs in, facts and orders out. It has no threads, no files, no sockets and no clock, and
// its decisions are a function of the cluster and the inputs alone.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "domain/cluster.h"
#include "domain/command.h"
#include "domain/decide.h"
#include "domain/event.h"
#include "domain/facts.h"
#include "domain/input.h"
#include "engine/feasible.h"
#include "engine/index.h"

namespace drover::engine {

// To an agent, at most once: as kill(2) is.
struct SendSignalOrder {
  NodeId node;
  JobId job;
  std::uint32_t attempt = 0;
  std::uint32_t signal = 0;
  SignalTarget target = SignalTarget::steps;
  std::uint32_t step = kBatchStep;  // another: that step alone
};

struct Outcome {
  std::vector<Event> facts;  // already applied to the core's own cluster; stored before anybody is answered
  std::variant<std::monostate, Reply, Refusal> answer;  // monostate for inputs that nobody waits for
  std::vector<NodeId> dirty;  // nodes whose wanted set changed (placed, ending, ended), in rising order
  std::vector<SendSignalOrder> signals;
  Instant wake_at{};      // when a Timer input is due next; Instant{}: none
  bool pass_due = false;  // a Pass should follow soon, once what is queued has been folded; stays true until then
};

class Core {
 public:
  explicit Core(Cluster cluster = {});  // indexes are rebuilt from the cluster
  Outcome step(const Input& input, Instant now);
  [[nodiscard]] const Cluster& view() const { return cluster_; }

 private:
  void on(const Asked& input, Facts& facts, Outcome& out, Instant now);
  void on(const Configure& input, Facts& facts, Outcome& out, Instant now);
  void on(const NodeRegister& input, Facts& facts, Outcome& out, Instant now);
  void on(const NodeSilent& input, Facts& facts, Outcome& out, Instant now);
  void on(const ReportStarted& input, Facts& facts, Outcome& out, Instant now);
  void on(const ReportEnded& input, Facts& facts, Outcome& out, Instant now);
  void on(const ReportStepEnded& input, Facts& facts, Outcome& out, Instant now);
  void on(const ReportPod& input, Facts& facts, Outcome& out, Instant now);
  void on(const Timer& input, Facts& facts, Outcome& out, Instant now);
  void on(const Pass& input, Facts& facts, Outcome& out, Instant now);
  void on(const ClockJump& input, Facts& facts, Outcome& out, Instant now);

  [[nodiscard]] Answer decide(const Asked& input, Facts& facts, Outcome& out, Instant now);
  void order_signal(const Signalled& signal, Outcome& out) const;
  void follow(Facts& facts);  // brings the indexes up to the facts
  void draw_conclusions(Facts& facts, Instant now);
  void note_all_waiting(Facts& facts);
  void conclude(Facts& facts, std::size_t at, Instant now);
  void settle_dependents(Facts& facts, JobId job, Instant now);
  void settle_all(Facts& facts, std::set<JobId> waiting, Instant now);
  void keep_delays(Facts& facts, const JobsForgotten& forgotten);
  void settle_namesakes(Facts& facts, const Job& ended, Instant now);
  void make_eligible(Facts& facts, JobId job, Instant now);
  void note_reasons(Facts& facts, const std::set<JobId>& jobs);
  bool note_queued_reasons(Facts& facts, std::uint32_t most);
  void on_alarm(Facts& facts, JobId job, Instant now, JobsForgotten& forgotten);

  Cluster cluster_;
  Index index_;
  Feasibility feasibility_;
  bool pass_due_;  // since some earlier step, perhaps: an input that changes nothing must not cover up one that did
};

}  // namespace drover::engine
