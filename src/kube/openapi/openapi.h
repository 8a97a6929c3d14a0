// All OpenAPI documents of the door, ready to be sent. They are made once, from the schema and the
// table of resources, and differ only with the program's version.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::kube {

struct OpenApiText {
  std::string path;  // "api/v1", "apis/policy/v1"; for 3.0 only
  std::string body;
  std::string hash;  // hex digits: for an ETag in quotes, and for ?hash= in the index
};

struct OpenApi {
  OpenApiText v2_json;      // GET /openapi/v2, application/json
  OpenApiText v2_protobuf;  // the same for kOpenApiV2Asked (gnostic.h)
  OpenApiText v3_index;     // GET /openapi/v3: {"paths": {"api/v1": {"serverRelativeURL": ...}}}
  std::vector<OpenApiText> v3;  // GET /openapi/v3/PATH

  [[nodiscard]] const OpenApiText* find_v3(std::string_view path) const;
};

// `version` is the server's, as in /version: "v1.33.0".
[[nodiscard]] OpenApi make_open_api(std::string_view version);

}  // namespace drover::kube
