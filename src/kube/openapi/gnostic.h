// OpenAPI 2.0 in the protobuf form that kubectl before 1.29 asks for (package openapi.v2).
#pragma once

#include <string>
#include <string_view>

#include "kube/json/value.h"

namespace drover::kube {

// What Accept asks for, and the Content-Type to answer with: to clients "@" is an error there.
inline constexpr std::string_view kOpenApiV2Asked =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
inline constexpr std::string_view kOpenApiV2Answered =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

// `document` is one of ours: parts of OpenAPI that we don't use aren't written.
[[nodiscard]] std::string gnostic_document(const Value& document);

}  // namespace drover::kube
