// One request on a resource, taken apart; and what a part of the server needs to serve it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/service.h"
#include "kube/rest/accept.h"
#include "kube/rest/route.h"
#include "kube/rest/user.h"
#include "kube/store/store.h"
#include "kube/stream/serve.h"
#include "kube/token/token.h"
#include "wire/http_server.h"

namespace drover::kube {

struct Ask {
  wire::Request request;
  wire::Target target;
  Route route;
  User user;
  Form form = Form::object;
  [[nodiscard]] const Resource& resource() const { return *route.resource; }
  [[nodiscard]] ObjectName object() const { return {.space = route.space.value_or(""), .name = route.name}; }
};

[[nodiscard]] inline bool is_dry_run(const Ask& ask) { return query(ask.target, "dryRun") == "All"; }

struct Context {
  api::Service& service;
  Store& store;
  Caller self;  // the controller's own identity, in whose name documents are kept
  std::function<Instant()> now;
  StreamSite streams;  // how nodes are reached
  TokenKeys keys;
};

// Answers with an object, in the form that was asked for.
void answer_object(const Context& context, const Ask& ask, const wire::Responder& responder, const Entry& entry,
                   int status, const std::vector<std::string>& warnings);
void answer_value(const wire::Responder& responder, const Value& value, int status,
                  const std::vector<std::string>& warnings = {});
void answer_failure(const wire::Responder& responder, const Failure& failure);
// {"status":"Success"} of a deletion.
[[nodiscard]] Value deleted_status(const Resource& resource, const Entry& entry);

}  // namespace drover::kube
