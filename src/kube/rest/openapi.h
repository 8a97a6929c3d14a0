// /openapi/v2 and /openapi/v3.
#pragma once

#include <string>
#include <vector>

#include "wire/http_server.h"

namespace drover::kube {

void serve_openapi(const wire::Request& request, const std::vector<std::string>& path,
                   const wire::Responder& responder);

}  // namespace drover::kube
