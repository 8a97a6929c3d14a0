// The order of a merged list.
#pragma once

#include <string_view>

#include "kube/json/value.h"

namespace drover::kube {

// Puts those items of `list` that `wanted` names into its order. The others keep their order and
// come in before the first wanted item that stood behind them in `before`; the rest at the end.
// Items are known by the member `key`, or by themselves when it is "".
void order_elements(Array& list, const Array& wanted, const Array& before, std::string_view key);

}  // namespace drover::kube
