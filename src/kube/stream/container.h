// Which container of a pod a stream is for, and whether there is one, in the API server's words.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/json/value.h"

namespace drover::kube {

// `asked`: by the client, "" for the only one, or the one that the pod's annotation names.
[[nodiscard]] Result<std::string> chosen_container(const Value& pod, std::string_view asked);
// One through which the pod's ports are reached: they share the network, so any that runs will do.
[[nodiscard]] std::string running_container(const Value& pod);
// Whether there can be a log of it by now.
[[nodiscard]] Status has_log(const Value& pod, std::string_view container, bool previous);

}  // namespace drover::kube
