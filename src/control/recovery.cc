#include "control/recovery.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/proto.h"
#include "domain/event.h"

namespace drover::control {

Result<Recovered> recover(store::Log& log, const OnFact& on_fact) {
  Recovered recovered;
  if (const auto snapshot = TRY(log.latest_snapshot())) {
    recovered.cluster = TRY(Cluster::from_snapshot(snapshot->bytes));
    recovered.position = recovered.snapshot = snapshot->position;
    recovered.warning = snapshot->warning;
  }
  std::optional<Error> failed;
  const auto visit = [&](const store::Record& record) {
    for (const std::string& bytes : record.facts) {
      const auto event = decode<Event>(bytes);
      if (!event) {
        failed = Error{Errc::invalid, fmt::format("record {}: {}", record.position, event.error().message)};
        return false;
      }
      recovered.cluster.apply(*event);
      on_fact(recovered.cluster, *event, record.position);
    }
    recovered.position = record.position;
    return true;
  };
  TRY(log.read(recovered.position + 1, visit));
  if (failed) return *failed;
  const store::Head head = log.head();
  if (head.position != recovered.position) {
    return Error{Errc::invalid, fmt::format("the log ends at {}, but only {} could be read", head.position,
                                            recovered.position)};
  }
  recovered.epoch = head.epoch;
  recovered.at = head.at;
  return recovered;
}

}  // namespace drover::control
