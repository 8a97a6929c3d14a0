// The row of an event of the core group.
#include "base/text.h"
#include "kube/object/columns/rows.h"
#include "kube/object/times.h"

namespace drover::kube {
namespace {

std::string_view first_of(const Value& event, std::initializer_list<std::string_view> paths) {
  for (const std::string_view path : paths) {
    const std::string_view text = text_at(event, path);
    if (!text.empty()) return text;
  }
  return {};
}

std::string object_of(const Value& event) {
  const std::string kind = lower(text_at(event, "involvedObject.kind"));
  const std::string_view name = text_at(event, "involvedObject.name");
  return name.empty() ? kind : kind + "/" + std::string(name);
}

std::string source_of(const Value& event) {
  std::string source(first_of(event, {"source.component", "reportingComponent"}));
  const std::string_view host = first_of(event, {"source.host", "reportingInstance"});
  return host.empty() ? source : source + ", " + std::string(host);
}

std::int64_t count_of(const Value& event) {
  if (const auto series = integer_at(event, "series.count")) return *series;
  const auto count = integer_at(event, "count").value_or(0);
  return count == 0 ? 1 : count;
}

}  // namespace

Array event_row(const Value& event, Instant now) {
  const std::string_view first = first_of(event, {"firstTimestamp", "eventTime"});
  std::string_view last = first_of(event, {"series.lastObservedTime", "lastTimestamp"});
  if (last.empty()) last = first;
  return {age_text(last, now),
          std::string(text_at(event, "type")),
          std::string(text_at(event, "reason")),
          object_of(event),
          std::string(text_at(event, "involvedObject.fieldPath")),
          source_of(event),
          std::string(trim(text_at(event, "message"))),
          age_text(first, now),
          count_of(event),
          name_of(event)};
}

}  // namespace drover::kube
