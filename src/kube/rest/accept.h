// In which form the answer is wanted.
#pragma once

#include <cstdint>
#include <string_view>

#include "kube/rest/failure.h"

namespace drover::kube {

enum class Form : std::uint8_t { object, table, metadata };
enum class Discovery : std::uint8_t { plain, v2, v2beta1 };

// The first form of an Accept header that we have. Protobuf is asked for by many and insisted on by none:
// JSON is what they get. 406 when nothing fits.
[[nodiscard]] Outcome<Form> form_of(std::string_view accept);
[[nodiscard]] Discovery discovery_of(std::string_view accept);

}  // namespace drover::kube
