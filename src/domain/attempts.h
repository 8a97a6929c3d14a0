// How attempts end, from whatever side the word comes: a report, a new boot, a fence. Every end of an
// attempt goes through here.
#pragma once

#include <string>
#include <vector>

#include "domain/facts.h"
#include "domain/input.h"

namespace drover {

// What is said of the end of one node's part.
struct ShareEnd {
  NodeId node;
  Cause cause = Cause::completed;
  ExitStatus exit;
  Usage usage;
  std::string note;
  bool leftover = false;
  Instant at;  // by the node's own count of how long it ran; Instant{}: only known to be over by now
};
// The node's part is over. The last part ends the attempt; before that the other nodes are told to
// end theirs. What was ordered before (cancel, requeue) is how it is shown.
void end_share(Facts& facts, JobId job, const ShareEnd& end, Instant now);

void on_started(Facts& facts, const ReportStarted& report, Instant now);
void on_ended(Facts& facts, const ReportEnded& report, Instant now);

// Something on the node could not be killed: nothing more goes there.
void drain_for_leftover(Facts& facts, NodeId node, Instant now);

// The node came back in the same boot: a script that had started and isn't held by its agent any more
// is gone. What hasn't started, a share without a script (its agent knows that one by our word alone)
// and steps are simply sent again.
void judge_attempts(Facts& facts, NodeId node, const std::vector<HeldAttempt>& held, Instant now);
// Nothing of before runs on the node: it was restarted, or is known to be dead.
void fail_attempts(Facts& facts, NodeId node, const std::string& why, Instant now);

}  // namespace drover
