// Why there is no stream, and how a stream ended, as Kubernetes says it: Status objects.
#pragma once

#include <string>

#include "domain/exit_status.h"
#include "domain/pod_stream.h"
#include "kube/json/value.h"
#include "wire/http.h"

namespace drover::kube {

struct StreamRefusal {
  int code = 400;
  std::string reason = "BadRequest";
  std::string message;
};
[[nodiscard]] wire::Answer answer_of(const StreamRefusal& refusal);
// Of a node that has none of what was asked for, or can't give it.
[[nodiscard]] StreamRefusal refusal_of(const PodAttached& attached);

// What the last message of a command says: "Success", or the exit code among the causes.
[[nodiscard]] Value end_of_command(const PodStreamEnded& ended);
// Of an attached container: how it exits is told by the pod.
[[nodiscard]] Value end_of_attach(const PodStreamEnded& ended);

}  // namespace drover::kube
