#include "kube/stream/refusal.h"

#include "kube/json/print.h"

namespace drover::kube {
namespace {

Value success() { return Object{{"metadata", Object{}}, {"status", "Success"}}; }

Value broken(const std::string& why) {
  return Object{{"metadata", Object{}},
                {"status", "Failure"},
                {"message", "Internal error occurred: " + why},
                {"reason", "InternalError"},
                {"details", Object{{"causes", Array{Object{{"message", why}}}}}},
                {"code", 500}};
}

}  // namespace

wire::Answer answer_of(const StreamRefusal& refusal) {
  const Object status{{"kind", "Status"},           {"apiVersion", "v1"},
                      {"metadata", Object{}},       {"status", "Failure"},
                      {"message", refusal.message}, {"reason", refusal.reason},
                      {"code", refusal.code}};
  wire::Answer answer{.status = refusal.code,
                      .content_type = "application/json",
                      .body = wire::bytes(print(status) + "\n")};
  if (refusal.code == 429 || refusal.code == 503) answer.headers.push_back({"Retry-After", "1"});
  return answer;
}

StreamRefusal refusal_of(const PodAttached& attached) {
  if (attached.missing) return {.code = 404, .reason = "NotFound", .message = attached.error};
  if (attached.away)
    return {.code = 503,
            .reason = "ServiceUnavailable",
            .message = "the pod's node can't be reached: " + attached.error};
  return {.code = 500,
          .reason = "InternalError",
          .message = "Internal error occurred: " + attached.error};
}

Value end_of_command(const PodStreamEnded& ended) {
  if (!ended.failure.empty()) return broken(ended.failure);
  const int code =
      ended.exit.signal != 0 ? 128 + ended.exit.signal : ended.exit.code;  // as a shell has it
  if (code == 0) return success();
  const std::string text = std::to_string(code);
  return Object{
      {"metadata", Object{}},
      {"status", "Failure"},
      {"message", "command terminated with non-zero exit code: exit status " + text},
      {"reason", "NonZeroExitCode"},
      {"details", Object{{"causes", Array{Object{{"reason", "ExitCode"}, {"message", text}}}}}}};
}

Value end_of_attach(const PodStreamEnded& ended) {
  return ended.failure.empty() ? success() : broken(ended.failure);
}

}  // namespace drover::kube
