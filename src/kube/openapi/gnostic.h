// OpenAPI 2.0 in the protobuf form that kubectl before 1.29 asks for (package openapi.v2).
#pragma once

#include <string>
#include <string_view>

#include "kube/json/value.h"

namespace drover::kube {

inline constexpr std::string_view kOpenApiV2Protobuf =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

// `document` is one of ours: parts of OpenAPI that we don't use aren't written.
[[nodiscard]] std::string gnostic_document(const Value& document);

}  // namespace drover::kube
