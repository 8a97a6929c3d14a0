// The life of steps: how they begin and end, from whatever side the word comes. Every end of a node's
// part of a step goes through here.
#pragma once

#include <string>
#include <vector>

#include "domain/decide.h"
#include "domain/facts.h"
#include "domain/input.h"
#include "domain/step_fit.h"

namespace drover {

// ---- wishes ----
Answer decide_create_step(Facts& facts, const Asked& asked, const CreateStep& wish, Instant now);
Answer decide_end_step(Facts& facts, const Caller& caller, const EndStep& wish, Instant now);
Answer decide_signal_step(Facts& facts, const Caller& caller, const SignalStep& wish, std::vector<Signalled>& signals);
Answer decide_end_allocation(Facts& facts, const Caller& caller, const EndAllocation& wish, Instant now);

// A first step that could never run in such a job; checked before the job is taken.
[[nodiscard]] std::optional<Refusal> check_first_step(const Submit& submit);

// An allocation was placed: it runs from now on, and so does its first step. A first step that doesn't
// fit what was granted isn't there: its client hears why when it asks for it itself.
void begin_allocation(Facts& facts, JobId job, Instant now);

// ---- ends ----
// What is said of the end of one node's part.
struct StepPartEnd {
  NodeId node;
  Cause cause = Cause::completed;
  ExitStatus exit;
  Usage usage;
  std::string note;
  Instant at;
};
void end_step_part(Facts& facts, JobId job, std::uint32_t step, const StepPartEnd& end);
// The job's part on the node is over, so are those of its steps that nobody has reported.
void end_step_parts(Facts& facts, JobId job, NodeId node, Cause of_job, const std::string& note, Instant now);

void on_step_ended(Facts& facts, const ReportStepEnded& report, Instant now);

// The job's nodes as step_fit.h wants them; they refer to `cluster` and `job`.
[[nodiscard]] std::vector<StepNode> step_nodes(const Cluster& cluster, const Job& job);

}  // namespace drover
