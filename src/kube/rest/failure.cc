#include "kube/rest/failure.h"

#include "kube/json/print.h"
#include "kube/object/problems.h"

namespace drover::kube {
namespace {

Failure about(int code, const char* reason, std::string message, std::string_view name, std::string_view group,
              std::string_view kind) {
  Failure failure{.code = code, .reason = reason, .message = std::move(message)};
  if (!name.empty()) failure.details["name"] = name;
  if (!group.empty()) failure.details["group"] = group;
  if (!kind.empty()) failure.details["kind"] = kind;
  return failure;
}

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

// "pods", "jobs.batch".
std::string full_name(const Resource& resource) {
  return std::string(resource.name) + (resource.group.empty() ? "" : "." + std::string(resource.group));
}

Failure plain(int code, const char* reason, std::string message) {
  return {.code = code, .reason = reason, .message = std::move(message), .details = {}, .no_details = true};
}

}  // namespace

Value Failure::status() const {
  Object status{
      {"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Object{}}, {"status", "Failure"}, {"message", message}};
  if (!reason.empty()) status["reason"] = reason;
  if (!no_details) status["details"] = details;
  status["code"] = code;
  return status;
}

wire::Answer Failure::answer() const {
  wire::Answer answer{
      .status = code, .content_type = "application/json", .body = wire::bytes(print(status()) + "\n")};
  if (retry_after > 0) answer.headers.push_back({"Retry-After", std::to_string(retry_after)});
  return answer;
}

Failure bad_request(std::string message) { return plain(400, "BadRequest", std::move(message)); }
Failure unauthorized() { return plain(401, "Unauthorized", "Unauthorized"); }
Failure no_such_path() {
  return {.code = 404, .reason = "NotFound", .message = "the server could not find the requested resource"};
}

Failure not_found(const Resource& resource, std::string_view name) {
  return about(404, "NotFound", full_name(resource) + " " + quoted(name) + " not found", name, resource.group,
               resource.name);
}

Failure already_exists(const Resource& resource, std::string_view name) {
  return about(409, "AlreadyExists", full_name(resource) + " " + quoted(name) + " already exists", name,
               resource.group, resource.name);
}

Failure conflict(const Resource& resource, std::string_view name, std::string_view why) {
  return about(
      409, "Conflict",
      "Operation cannot be fulfilled on " + full_name(resource) + " " + quoted(name) + ": " + std::string(why), name,
      resource.group, resource.name);
}

Failure modified_meanwhile(const Resource& resource, std::string_view name) {
  return conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

Failure invalid(const Resource& resource, std::string_view name, const Problems& problems) {
  const std::string kind =
      std::string(resource.kind) + (resource.group.empty() ? "" : "." + std::string(resource.group));
  Failure failure = about(422, "Invalid", kind + " " + quoted(name) + " is invalid: " + problems.text(), name,
                          resource.group, resource.kind);
  failure.details["causes"] = problems.causes();
  return failure;
}

Failure forbidden(const Resource& resource, std::string_view name, std::string_view why) {
  const std::string subject = full_name(resource) + (name.empty() ? "" : " " + quoted(name));
  return about(403, "Forbidden", subject + " is forbidden: " + std::string(why), name, resource.group, resource.name);
}

Failure method_not_allowed() {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource"};
}
Failure not_acceptable() {
  return {.code = 406,
          .reason = "NotAcceptable",
          .message =
              "only the following media types are accepted: application/json, application/json;as=Table, "
              "application/json;as=PartialObjectMetadata"};
}
Failure unknown_media_type(std::string_view accepted) {
  return plain(
      415, "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: " + std::string(accepted));
}
Failure too_large(std::string message) { return plain(413, "RequestEntityTooLarge", std::move(message)); }
Failure unprocessable(std::string message) { return plain(422, "Invalid", std::move(message)); }
Failure expired(std::string message) { return plain(410, "Expired", std::move(message)); }

Failure version_too_large(std::uint64_t asked, std::uint64_t current) {
  Failure failure{.code = 504,
                  .reason = "Timeout",
                  .message = "Timeout: Too large resource version: " + std::to_string(asked) +
                             ", current: " + std::to_string(current),
                  .retry_after = 1};
  failure.details["causes"] =
      Array{Object{{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}}};
  failure.details["retryAfterSeconds"] = 1;
  return failure;
}

Failure internal(std::string message) { return plain(500, "InternalError", std::move(message)); }
Failure unavailable(std::string message) {
  Failure failure = plain(503, "ServiceUnavailable", std::move(message));
  failure.retry_after = 1;
  return failure;
}

Failure refused(const Resource& resource, std::string_view name, const Refusal& refusal) {
  const std::string why = std::string(word(refusal.code)) + (refusal.subject.empty() ? "" : ": " + refusal.subject);
  switch (refusal.code) {
    case RefusalCode::document_exists:
      return already_exists(resource, name);
    case RefusalCode::unknown_document:
    case RefusalCode::unknown_node:
    case RefusalCode::unknown_job:
      return not_found(resource, name);
    case RefusalCode::document_changed:
      return modified_meanwhile(resource, name);
    case RefusalCode::document_in_use:
      return conflict(resource, name, "it still runs; it goes when it has ended");
    case RefusalCode::not_permitted:
      return forbidden(resource, name, why);
    case RefusalCode::overloaded: {
      Failure failure = plain(429, "TooManyRequests", "the controller is busy, please try again later");
      failure.retry_after = 1;
      return failure;
    }
    case RefusalCode::no_space:
      return unavailable("no space: the controller's disk is at its reserve");
    case RefusalCode::unavailable:
      return unavailable("the controller takes no wishes at the moment");
    case RefusalCode::too_many_jobs:
      return forbidden(resource, name, "exceeded quota: the cluster holds as many jobs as it may");
    case RefusalCode::invalid_request:
    case RefusalCode::already_ended:
    case RefusalCode::not_waiting:
    case RefusalCode::not_running:
    case RefusalCode::unknown_partition:
    case RefusalCode::no_default_partition:
    case RefusalCode::unknown_dependency:
    case RefusalCode::dependency_on_itself:
    case RefusalCode::invalid_array:
    case RefusalCode::invalid_condition:
    case RefusalCode::no_such_gpu:
    case RefusalCode::too_many_gpus:
    case RefusalCode::too_many_nodes:
    case RefusalCode::no_node_fits:
    case RefusalCode::not_requeueable:
    case RefusalCode::invalid_limit:
    case RefusalCode::too_many_cpus:
    case RefusalCode::too_much_memory:
    case RefusalCode::too_little_disk:
    case RefusalCode::no_such_feature:
    case RefusalCode::node_closed:
    case RefusalCode::node_excluded:
    case RefusalCode::node_taken:
    case RefusalCode::gpus_busy:
    case RefusalCode::cpus_busy:
    case RefusalCode::memory_busy:
    case RefusalCode::step_busy:
    case RefusalCode::step_too_large:
    case RefusalCode::no_such_label:
    case RefusalCode::node_tainted:
    case RefusalCode::not_near:
    case RefusalCode::not_apart:
    case RefusalCode::kept_apart:
    case RefusalCode::not_spread:
      return about(422, "Invalid", full_name(resource) + " " + quoted(name) + " is refused: " + why, name,
                   resource.group, resource.kind);
  }
  return internal(why);
}

}  // namespace drover::kube
