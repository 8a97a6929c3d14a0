// One row of each kind, and what they share.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/json/value.h"

namespace drover::kube {

[[nodiscard]] Array pod_row(const Value& pod, Instant now);
[[nodiscard]] Array node_row(const Value& node, Instant now);
[[nodiscard]] Array event_row(const Value& event, Instant now);

[[nodiscard]] std::string name_of(const Value& object);
[[nodiscard]] std::string age_of(const Value& object, Instant now);
[[nodiscard]] std::string or_none(std::string_view text);  // "<none>"

}  // namespace drover::kube
