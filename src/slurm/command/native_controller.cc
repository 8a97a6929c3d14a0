#include "slurm/command/native_controller.h"

#include <utility>

namespace drover::slurm {
namespace {

native::Wish wish_of(const api::Execute& wish) {
  return {.key = wish.key,
          .command = wish.command,
          .spec = wish.spec,
          .script = wish.script,
          .environment = wish.environment,
          .step_spec = wish.step_spec};
}

}  // namespace

Result<native::Client*> NativeController::client() {
  if (!client_) {
    auto connected = native::Client::connect();
    // Whatever is amiss, for the user the controller can't be reached.
    if (!connected) return Error{Errc::unavailable, connected.error().message};
    client_.emplace(std::move(connected).value());
  }
  return &*client_;
}

Result<api::Answer> NativeController::execute(const api::Execute& wish) {
  return TRY(client())->execute(wish_of(wish));
}

Result<std::variant<api::WouldStart, Refusal>> NativeController::would_start(const api::Execute& wish) {
  return TRY(client())->would_start(wish_of(wish));
}

Result<api::ListHeader> NativeController::jobs(const api::JobQuery& query,
                                               const std::function<void(api::JobView&)>& visit) {
  return TRY(client())->jobs(query, visit);
}

Result<api::ListHeader> NativeController::nodes(const std::function<void(api::NodeView&)>& visit) {
  return TRY(client())->nodes(visit);
}

Result<api::ListHeader> NativeController::partitions(const std::function<void(api::PartitionView&)>& visit) {
  return TRY(client())->partitions(visit);
}

Result<std::vector<HistoryRow>> NativeController::history(const HistoryQuery& query) {
  return TRY(client())->history(query);
}

Result<api::Overview> NativeController::overview() { return TRY(client())->overview(); }

Result<std::string> NativeController::script(JobId job) { return TRY(client())->script(job); }

Result<std::vector<api::JobView>> NativeController::wait_ended(JobId job) { return TRY(client())->wait_ended(job); }

Result<api::ListHeader> NativeController::steps(const api::StepQuery& query,
                                                const std::function<void(api::StepView&)>& visit) {
  return TRY(client())->steps(query, visit);
}

Result<std::vector<api::JobView>> NativeController::wait_started(JobId job) {
  return TRY(client())->wait_started(job);
}

Status NativeController::keep(JobId job) {
  native::Client* const reached = TRY(client());
  const api::Answer answer = TRY(reached->keep(job));
  const auto* refusal = std::get_if<Refusal>(&answer);
  return refusal == nullptr ? Status(Done{}) : Status(Error{Errc::denied, native::refusal_text(*refusal)});
}

void NativeController::forked() { client_.reset(); }

}  // namespace drover::slurm
