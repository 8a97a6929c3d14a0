// /openapi/v2 and /openapi/v3.
#pragma once

#include <string>
#include <vector>

#include "kube/json/value.h"
#include "kube/rest/accept.h"
#include "wire/http_server.h"

namespace drover::kube {

void serve_openapi(const wire::Request& request, const std::vector<std::string>& path,
                   const wire::Responder& responder);
// Discovery carries its own content type.
void answer_discovery(const wire::Responder& responder, const Value& value, Discovery version);

}  // namespace drover::kube
