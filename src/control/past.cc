#include "control/past.h"

#include <optional>
#include <utility>

#include "base/proto.h"

namespace drover::control {
namespace {

// The oldest state from which the log goes on.
Result<std::uint64_t> begin_of(store::Log& log, Cluster& cluster) {
  if (log.first() == 1) return 0;
  auto snapshot = TRY(log.older_snapshot());
  if (!snapshot) snapshot = TRY(log.latest_snapshot());
  if (!snapshot) return Error{Errc::not_found, "the log has no beginning"};
  cluster = TRY(Cluster::from_snapshot(snapshot->bytes));
  return snapshot->position;
}

void forget_first(Past& past) {
  for (const Event& fact : past.groups.front().facts) past.cluster.apply(fact);
  past.at = past.groups.front().at;
  past.groups.pop_front();
}

}  // namespace

Result<Past> past_of(store::Log& log, std::uint64_t position, std::size_t most) {
  Past past;
  const std::uint64_t begin = TRY(begin_of(log, past.cluster));
  std::size_t facts = 0;
  std::optional<Error> failed;
  TRY(log.read(begin + 1, [&](const store::Record& record) {
    if (record.position > position) return false;
    Past::Group group{.at = record.at};
    for (const std::string& bytes : record.facts) {
      auto fact = decode<Event>(bytes);
      if (!fact) {
        failed = fact.error();
        return false;
      }
      group.facts.push_back(*std::move(fact));
    }
    facts += group.facts.size();
    past.groups.push_back(std::move(group));
    while (facts > most) {
      facts -= past.groups.front().facts.size();
      forget_first(past);
    }
    return true;
  }));
  if (failed) return *failed;
  return past;
}

}  // namespace drover::control
