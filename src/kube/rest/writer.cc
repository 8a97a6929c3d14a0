#include "kube/rest/writer.h"

#include "base/text.h"
#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/patch/json_patch.h"
#include "kube/patch/merge_patch.h"
#include "kube/patch/strategic_patch.h"
#include "kube/rest/body.h"
#include "kube/rest/kept.h"
#include "kube/rest/kinds.h"
#include "kube/rest/metadata_fill.h"
#include "kube/rest/node_write.h"

namespace drover::kube {
namespace {

constexpr std::string_view kPatches =
    "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json";

std::string_view media_type(const Ask& ask) {
  const std::string_view header = ask.request.header("Content-Type");
  return trim(header.substr(0, header.find(';')));
}

Failure patch_failure(const Error& error) {
  switch (error.code) {
    case Errc::invalid:
      return bad_request(error.message);
    case Errc::exhausted:
      return too_large(error.message);
    case Errc::conflict:
    case Errc::not_found:
    case Errc::denied:
    case Errc::unavailable:
      break;
  }
  return unprocessable("the server rejected our request due to an error in our request: " + error.message);
}

// The version that the sender has seen must still be the newest.
bool is_stale(const Value& object, const Entry& current) {
  const std::string_view version = text_at(object, "metadata.resourceVersion");
  return !version.empty() && version != "0" && version != std::to_string(current.version);
}

std::optional<Failure> check_preconditions(const Resource& resource, const Value& options, const Entry& current) {
  const std::string_view uid = text_at(options, "preconditions.uid");
  const std::string have = current.look().at("metadata.uid").text();
  if (!uid.empty() && uid != have) {
    return conflict(resource, current.name.name,
                    "Precondition failed: UID in precondition: " + std::string(uid) +
                        ", UID in object meta: " + have);
  }
  const std::string_view version = text_at(options, "preconditions.resourceVersion");
  if (!version.empty() && version != std::to_string(current.version)) {
    return conflict(resource, current.name.name,
                    "Precondition failed: ResourceVersion in precondition: " + std::string(version) +
                        ", ResourceVersion in object meta: " + std::to_string(current.version));
  }
  return std::nullopt;
}

}  // namespace

void Writer::run() {
  ++tries_;
  auto planned = plan();
  if (!planned) return answer_failure(responder_, planned.error());
  plan_ = std::move(*planned);
  if (is_dry_run(ask_)) plan_.wishes.clear();
  execute(0);
}

void Writer::execute(std::size_t next) {
  if (next == plan_.wishes.size()) return finish();
  context_.service.execute(plan_.wishes[next], [self = shared_from_this(), next](const api::Answer& answer) {
    const auto* refusal = std::get_if<Refusal>(&answer);
    if (refusal == nullptr) return self->execute(next + 1);
    const bool may_retry = text_at(self->plan_.object, "metadata.resourceVersion").empty();
    if (refusal->code == RefusalCode::document_changed && next == 0 && may_retry && self->tries_ < kTries) {
      return self->run();
    }
    answer_failure(self->responder_, refused(self->ask_.resource(), self->ask_.route.name, *refusal));
  });
}

// What was written is in the read model before its writer is answered.
void Writer::finish() {
  if (plan_.answer) return answer_value(responder_, *plan_.answer, plan_.status, plan_.warnings);
  const ObjectName name{.space = ask_.route.space.value_or(""),
                        .name = std::string(text_at(plan_.object, "metadata.name"))};
  EntryPtr entry = plan_.wishes.empty() ? nullptr : context_.store.get(store_table(ask_.resource()), name);
  if (!entry) {
    const EntryPtr current = context_.store.get(store_table(ask_.resource()), name);
    entry = make_entry(name, current ? current->version : 0, current ? current->made : 0, plan_.object);
  }
  answer_object(context_, ask_, responder_, *entry, plan_.status, plan_.warnings);
}

Outcome<Plan> Writer::plan() {
  const std::string_view method = ask_.request.method;
  if (method == "POST") return plan_create();
  const EntryPtr current = context_.store.get(store_table(ask_.resource()), ask_.object());
  if (!current) return not_found(ask_.resource(), ask_.route.name);
  if (method == "PUT") return plan_update(current);
  if (method == "PATCH") return plan_patch(current);
  return plan_delete(current);
}

Outcome<Plan> Writer::plan_create() {
  const Resource& resource = ask_.resource();
  Body body = TRY(read_body(ask_.request, ask_.target, api_version_of(resource), resource.kind));
  const std::string_view space = text_at(body.value, "metadata.namespace");
  if (resource.namespaced && !space.empty() && space != ask_.route.space) {
    return bad_request("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (!text_at(body.value, "metadata.resourceVersion").empty()) {
    return bad_request("resourceVersion should not be set on objects to be created");
  }
  if (auto no_room = check_namespace(context_, ask_)) return *no_room;
  fill_new(body.value, ask_, context_.now());
  const Judgement judgement = admit_new(context_, ask_, body.value);
  const std::string name(text_at(body.value, "metadata.name"));
  if (!judgement.problems.none()) return invalid(resource, name, judgement.problems);
  Plan plan{.object = body.value, .status = 201, .warnings = std::move(body.warnings)};
  plan.warnings.insert(plan.warnings.end(), judgement.warnings.begin(), judgement.warnings.end());
  if (context_.store.get(store_table(resource), {.space = ask_.route.space.value_or(""), .name = name})) {
    return already_exists(resource, name);
  }
  plan.wishes.push_back(wish_to_make(context_, ask_, body.value));
  ask_.route.name = name;
  return plan;
}

Outcome<Plan> Writer::plan_update(const EntryPtr& current) {
  const Resource& resource = ask_.resource();
  Body body = TRY(read_body(ask_.request, ask_.target, api_version_of(resource), resource.kind));
  const std::string_view name = text_at(body.value, "metadata.name");
  if (name != ask_.route.name) {
    return bad_request("the name of the object (" + std::string(name) + ") does not match the name on the URL (" +
                       ask_.route.name + ")");
  }
  if (is_stale(body.value, *current)) return modified_meanwhile(resource, ask_.route.name);
  return plan_change(current, std::move(body.value), std::move(body.warnings));
}

Outcome<Plan> Writer::plan_patch(const EntryPtr& current) {
  const Resource& resource = ask_.resource();
  const std::string_view media = media_type(ask_);
  auto parsed = parse_noting_duplicates(ask_.request.body, {.bytes = kMostBytes});
  if (!parsed) return bad_request("error decoding patch: " + parsed.error().message);
  const Value was = current->value();
  Result<Value> patched = Error{Errc::invalid, ""};
  if (media == "application/json-patch+json") {
    patched = apply_json_patch(was, parsed->value);
  } else if (media == "application/merge-patch+json") {
    patched = apply_merge_patch(was, parsed->value);
  } else if (media == "application/strategic-merge-patch+json") {
    const Message* kind = Schema::built_in().kind(resource.group, resource.version, resource.kind);
    patched = apply_strategic_patch(was, parsed->value, *kind);
  } else {
    return unknown_media_type(kPatches);
  }
  if (!patched) return patch_failure(patched.error());
  Body body = TRY(conformed(std::move(*patched), ask_.target, api_version_of(resource), resource.kind,
                            std::move(parsed->duplicates)));
  if (is_stale(body.value, *current)) return modified_meanwhile(resource, ask_.route.name);
  // Unless the patch itself names a version, it is for whatever is there.
  if (member(parsed->value, "metadata") == nullptr || text_at(parsed->value, "metadata.resourceVersion").empty()) {
    make_object(body.value.as_object(), "metadata").erase("resourceVersion");
  }
  return plan_change(current, std::move(body.value), std::move(body.warnings));
}

Outcome<Plan> Writer::plan_change(const EntryPtr& current, Value changed, std::vector<std::string> warnings) {
  const Resource& resource = ask_.resource();
  if (is_slurm_job(*current)) {
    return forbidden(resource, ask_.route.name, "it is a Slurm job: change it with scontrol");
  }
  const Value was = current->value();
  Judgement judgement = admit_change(ask_, was, changed);
  if (!judgement.problems.none()) return invalid(resource, ask_.route.name, judgement.problems);
  fill_change(changed, was);
  Plan plan{.object = changed, .warnings = std::move(warnings)};
  plan.warnings.insert(plan.warnings.end(), judgement.warnings.begin(), judgement.warnings.end());
  if (same_but_for_version(changed, was)) {
    plan.object = was;
    return plan;
  }
  if (resource.name == "nodes") {
    plan.wishes = wishes_for_node(context_, *current, changed, ask_.user.caller());
    return plan;
  }
  plan.wishes.push_back(wish_to_change(context_, ask_, *current, changed));
  return plan;
}

Outcome<Plan> Writer::plan_delete(const EntryPtr& current) {
  const Resource& resource = ask_.resource();
  Value options = Object{};
  if (!ask_.request.body.empty()) {
    options = TRY(read_body(ask_.request, ask_.target, "v1", "DeleteOptions")).value;
  }
  if (auto failed = check_preconditions(resource, options, *current)) return *failed;
  if (array_at(options, "dryRun") != nullptr) ask_.target.query.emplace_back("dryRun", "All");
  auto grace = integer_at(options, "gracePeriodSeconds");
  if (!grace) grace = query_number(ask_.target, "gracePeriodSeconds");
  std::string policy(text_at(options, "propagationPolicy"));
  if (policy.empty()) policy = query(ask_.target, "propagationPolicy");
  return plan_removal(context_, ask_, *current, {.grace = grace, .propagation = policy});
}

}  // namespace drover::kube
