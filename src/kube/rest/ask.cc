#include "kube/rest/ask.h"

#include "kube/json/print.h"
#include "kube/rest/render.h"

namespace drover::kube {
namespace {

wire::Answer json(int status, std::string body, const std::vector<std::string>& warnings) {
  wire::Answer answer{
      .status = status, .content_type = "application/json", .body = wire::bytes(std::move(body) + "\n")};
  for (const std::string& warning : warnings) answer.headers.push_back({"Warning", warning});
  return answer;
}

}  // namespace

void answer_object(const Context& context, const Ask& ask, const wire::Responder& responder, const Entry& entry,
                   int status, const std::vector<std::string>& warnings) {
  const Include include = include_of(query(ask.target, "includeObject"));
  responder.answer(json(status, render(ask.resource(), entry, ask.form, include, context.now()), warnings));
}

void answer_value(const wire::Responder& responder, const Value& value, int status,
                  const std::vector<std::string>& warnings) {
  responder.answer(json(status, print(value), warnings));
}

void answer_failure(const wire::Responder& responder, const Failure& failure) { responder.answer(failure.answer()); }

Value deleted_status(const Resource& resource, const Entry& entry) {
  Object details{{"name", entry.name.name}};
  if (!resource.group.empty()) details["group"] = resource.group;
  details["kind"] = resource.name;
  details["uid"] = entry.look().at("metadata.uid").text();
  return Object{
      {"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Object{}}, {"status", "Success"}, {"details", details}};
}

}  // namespace drover::kube
