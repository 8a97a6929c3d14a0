// Unique ids of objects that no client made: the same thing has the same one for ever.
#pragma once

#include <string>
#include <string_view>

namespace drover::kube {

// A UUID (version 8: made of whatever its maker likes) from `cluster`, which tells clusters apart,
// and what the thing is called within it, such as "node/n1".
[[nodiscard]] std::string stable_uid(std::string_view cluster, std::string_view thing);

}  // namespace drover::kube
