#include "kube/rest/reviews.h"

#include "kube/rest/accounts.h"
#include "kube/rest/body.h"

namespace drover::kube {
namespace {

std::optional<Verb> verb_of(std::string_view text) {
  for (const Verb verb : {Verb::get, Verb::list, Verb::watch, Verb::create, Verb::update, Verb::patch, Verb::remove,
                          Verb::remove_all}) {
    if (word(verb) == text) return verb;
  }
  return std::nullopt;
}

Object access_review(const Context& context, const User& user, const Value& spec) {
  const Value* attributes = member(spec, "resourceAttributes");
  if (attributes == nullptr) {
    const std::string_view path = text_at(spec, "nonResourceAttributes.path");
    const bool open = path == "/version" || path == "/api" || path == "/apis" || path.starts_with("/openapi") ||
                      path == "/healthz" || path == "/readyz" || path == "/livez";
    return {{"allowed", user.admin || open}};
  }
  const std::string_view verb_text = text(member(*attributes, "verb"));
  const auto verb = verb_of(verb_text);
  const Access access{.verb = verb.value_or(Verb::get),
                      .group = text(member(*attributes, "group")),
                      .resource = text(member(*attributes, "resource")),
                      .subresource = text(member(*attributes, "subresource")),
                      .space = text(member(*attributes, "namespace")),
                      .name = text(member(*attributes, "name"))};
  const bool every = verb_text == "*" || access.resource == "*";
  const bool allowed = every ? user.admin : (verb && may(context.store, user, access));
  Object status{{"allowed", allowed}};
  if (!allowed) status["reason"] = denial(user, access);
  return status;
}

Object rule(std::initializer_list<std::string_view> verbs, std::initializer_list<std::string_view> resources) {
  Array verb_list;
  for (const std::string_view verb : verbs) verb_list.emplace_back(verb);
  Array resource_list;
  for (const std::string_view resource : resources) resource_list.emplace_back(resource);
  return {{"verbs", std::move(verb_list)}, {"apiGroups", Array{"*"}}, {"resources", std::move(resource_list)}};
}

Object rules_review(const Context& context, const User& user, const Value& spec) {
  const std::string_view space = text(member(spec, "namespace"));
  Array rules;
  const auto may_edit = [&](std::string_view verb) {
    return may(context.store, user,
               {.verb = verb_of(verb).value_or(Verb::get), .resource = "configmaps", .space = space});
  };
  if (user.admin || may_edit("create")) {
    rules.push_back(rule({"*"}, {"*"}));
  } else if (user.account) {
    if (may_edit("get"))
      rules.push_back(rule({"get", "list", "watch"}, {"pods", "pods/log", "configmaps", "events", "serviceaccounts",
                                                      "leases", "nodes", "namespaces", "priorityclasses"}));
    rules.push_back(rule({"create"}, {"selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"}));
  } else {
    rules.push_back(rule({"get", "list", "watch"}, {"nodes", "namespaces", "priorityclasses"}));
    rules.push_back(rule({"create"}, {"selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"}));
  }
  return {{"resourceRules", std::move(rules)}, {"nonResourceRules", Array{}}, {"incomplete", false}};
}

}  // namespace

Outcome<Value> review(const Context& context, const Ask& ask) {
  const Resource& resource = ask.resource();
  Body body = TRY(read_body(ask.request, ask.target, api_version_of(resource), resource.kind));
  Object& object = body.value.as_object();
  const Value spec = object.contains("spec") ? object["spec"] : Value(Object{});
  make_object(object, "metadata")["creationTimestamp"] = nullptr;
  if (resource.kind == "SelfSubjectAccessReview")
    object["status"] = access_review(context, ask.user, spec);
  else if (resource.kind == "TokenReview")
    object["status"] = token_status(context, spec);
  else if (resource.kind == "SelfSubjectRulesReview")
    object["status"] = rules_review(context, ask.user, spec);
  else
    object["status"] = Object{{"userInfo", user_info(ask.user)}};
  return std::move(body.value);
}

}  // namespace drover::kube
