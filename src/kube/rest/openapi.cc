#include "kube/rest/openapi.h"

#include <map>

#include "kube/openapi/gnostic.h"
#include "kube/openapi/openapi.h"
#include "kube/rest/discovery.h"

namespace drover::kube {
namespace {

struct Shared {
  const OpenApi documents = make_open_api(kServedVersion);
  // The bodies as wire takes them, so that no request copies a megabyte.
  std::map<std::string, wire::Bytes, std::less<>> bodies;
  Shared() {
    bodies["v2 json"] = wire::bytes(documents.v2_json.body);
    bodies["v2 protobuf"] = wire::bytes(documents.v2_protobuf.body);
    bodies["v3"] = wire::bytes(documents.v3_index.body);
    for (const OpenApiText& text : documents.v3) bodies[text.path] = wire::bytes(text.body);
  }
};

void answer_document(const wire::Request& request, const wire::Responder& responder, const OpenApiText& document,
                     const wire::Bytes& body, std::string_view type) {
  const std::string tag = "\"" + document.hash + "\"";
  const wire::Headers headers{{"Etag", tag}, {"Vary", "Accept"}};
  if (request.header("If-None-Match") == tag) {
    responder.answer({.status = 304, .content_type = std::string(type), .body = nullptr, .headers = headers});
    return;
  }
  responder.answer({.status = 200, .content_type = std::string(type), .body = body, .headers = headers});
}

}  // namespace

void serve_openapi(const wire::Request& request, const std::vector<std::string>& path,
                   const wire::Responder& responder) {
  static const Shared shared;  // made when it is first asked for
  const OpenApi& all = shared.documents;
  if (path.size() == 2 && path[1] == "v2") {
    const bool protobuf = request.header("Accept").find(kOpenApiV2Asked) != std::string_view::npos;
    if (protobuf) {
      return answer_document(request, responder, all.v2_protobuf, shared.bodies.find("v2 protobuf")->second,
                             kOpenApiV2Answered);
    }
    return answer_document(request, responder, all.v2_json, shared.bodies.find("v2 json")->second,
                           "application/json");
  }
  if (path.size() == 2 && path[1] == "v3") {
    return answer_document(request, responder, all.v3_index, shared.bodies.find("v3")->second, "application/json");
  }
  std::string rest;
  for (std::size_t i = 2; i < path.size(); ++i) rest += (rest.empty() ? "" : "/") + path[i];
  if (const OpenApiText* document = path.size() > 2 && path[1] == "v3" ? all.find_v3(rest) : nullptr) {
    return answer_document(request, responder, *document, shared.bodies.find(rest)->second, "application/json");
  }
  responder.answer(wire::text_answer(404, "404 page not found\n"));
}

}  // namespace drover::kube
