#include "kube/rest/kept.h"

#include "kube/json/print.h"
#include "kube/object/pod/submit.h"
#include "kube/object/times.h"
#include "kube/rest/body.h"
#include "kube/rest/metadata_fill.h"

namespace drover::kube {
namespace {

constexpr std::string_view kAccount = "drover.dev/account";
constexpr std::string_view kPartition = "drover.dev/partition";
constexpr std::int64_t kGrace = 30;

// A namespace is an account and a queue: the account of its name, unless an annotation says another, in
// the partition that an annotation says, or the default one.
SubmitRules rules_of(const Context& context, const std::string& space, const Value& pod) {
  SubmitRules rules{.account = space, .priority = integer_at(pod, "spec.priority").value_or(0)};
  const EntryPtr entry = context.store.get("namespaces", {.space = "", .name = space});
  if (!entry) return rules;
  const Peek notes = entry->look().at("metadata.annotations");
  if (const auto account = notes.member(kAccount).text(); !account.empty()) rules.account = account;
  rules.partition = notes.member(kPartition).text();
  return rules;
}

DocumentKey key_of(const std::string& table, const ObjectName& name) {
  return {.kind = table, .space = name.space, .name = name.name};
}

// What terms about pods select by; all other labels are the door's alone.
Labels labels_in(const std::string& table, const Value& object) {
  Labels labels;
  const Object* given = table == kPodKind || table == kSpaceKind ? object_at(object, "metadata.labels") : nullptr;
  if (given == nullptr) return labels;
  for (const auto& entry : *given) labels.emplace(entry.key(), text(&entry.value()));
  return labels;
}

bool has_finalizers(const Value& object) {
  const Array* finalizers = array_at(object, "metadata.finalizers");
  return finalizers != nullptr && !finalizers->empty();
}

void add_finalizer(Value& object, std::string_view name) {
  Object& metadata = make_object(object.as_object(), "metadata");
  Value& list = metadata["finalizers"];
  if (!list.is_array()) list = Array{};
  for (const Value& one : list.as_array()) {
    if (text(&one) == name) return;
  }
  list.as_array().emplace_back(name);
}

}  // namespace

bool is_slurm_job(const Entry& entry) {
  return entry.name.space == kSlurmSpace && slurm_pod_of(entry.name.name).has_value();
}

std::optional<Failure> check_namespace(const Context& context, const Ask& ask) {
  if (!ask.route.space) return std::nullopt;
  static const Resource* const kNamespaces = find_resource("", "v1", "namespaces");
  const EntryPtr space = context.store.get("namespaces", {.space = "", .name = *ask.route.space});
  if (!space) return not_found(*kNamespaces, *ask.route.space);
  if (*ask.route.space == kSlurmSpace && ask.resource().name == "pods") {
    return forbidden(ask.resource(), "",
                     "pods in the namespace slurm-jobs are Slurm's jobs: submit them with sbatch");
  }
  if (space->look().at("metadata.deletionTimestamp").given()) {
    return forbidden(
        ask.resource(), ask.route.name,
        "unable to create new content in namespace " + *ask.route.space + " because it is being terminated");
  }
  return std::nullopt;
}

std::string document_of(const std::string& table, const Value& object) {
  Value kept = object;
  kept.as_object()["metadata"].as_object().erase("resourceVersion");
  if (table == "pods") kept.as_object().erase("status");
  return print(kept);
}

api::Execute wish_to_make(const Context& context, const Ask& ask, const Value& object) {
  const std::string table = store_table(ask.resource());
  const std::string name(text_at(object, "metadata.name"));
  PutDocument put{.key = key_of(table, {.space = ask.route.space.value_or(""), .name = name}),
                  .expect = 0,
                  .labels = labels_in(table, object)};
  api::Execute wish{.caller = context.self};
  if (table == "pods") {
    put.job = submit_of(object, rules_of(context, *ask.route.space, object));
    put.job->as = ask.user.caller();
    wish.spec = JobSpec{.door = "kubernetes",
                        .command = "pod " + *ask.route.space + "/" + name,
                        .extra = {{"namespace", *ask.route.space}, {"pod", name}}};
  }
  wish.document = document_of(table, object);
  wish.command = std::move(put);
  return wish;
}

api::Execute wish_to_put(const Context& context, const std::string& table, const Entry& current,
                         const Value& changed) {
  return {.caller = context.self,
          .command = PutDocument{.key = key_of(table, current.name),
                                 .expect = current.stored,
                                 .labels = labels_in(table, changed)},
          .document = document_of(table, changed)};
}

// An object that was only kept for its finalizers goes with the last of them.
api::Execute wish_to_change(const Context& context, const Ask& ask, const Entry& current, const Value& changed) {
  const std::string table = store_table(ask.resource());
  const bool leaving = !text_at(changed, "metadata.deletionTimestamp").empty();
  if (leaving && !has_finalizers(changed) && table != "pods" && table != "namespaces") {
    return wish_to_remove(context, table, current);
  }
  return wish_to_put(context, table, current, changed);
}

api::Execute wish_to_remove(const Context& context, const std::string& table, const Entry& current) {
  return {.caller = context.self,
          .command = RemoveDocument{.key = key_of(table, current.name), .expect = current.stored}};
}

api::Execute wish_to_cancel(const Caller& caller, const Entry& pod) {
  const SlurmPodName name = slurm_pod_of(pod.name.name).value_or(SlurmPodName{});
  JobRef job{.job = name.job};
  if (name.task != kNoTask) job.tasks = {{.first = name.task, .last = name.task}};
  return {.caller = caller, .command = Cancel{.jobs = {.jobs = {job}}}};
}

api::Execute wish_for_namespace(const Context& context, std::string_view name) {
  const Value object = Object{{"kind", "Namespace"},
                              {"apiVersion", "v1"},
                              {"metadata", Object{{"name", name},
                                                  {"uid", new_uid()},
                                                  {"creationTimestamp", time_text(context.now())},
                                                  {"labels", Object{{"kubernetes.io/metadata.name", name}}}}},
                              {"spec", Object{{"finalizers", Array{"kubernetes"}}}},
                              {"status", Object{{"phase", "Active"}}}};
  return {.caller = context.self,
          .command = PutDocument{.key = key_of("namespaces", {.space = "", .name = std::string(name)}),
                                 .expect = 0,
                                 .labels = labels_in("namespaces", object)},
          .document = document_of("namespaces", object)};
}

api::Execute wish_for_account(const Context& context, const std::string& space) {
  const Value object = Object{{"kind", "ServiceAccount"},
                              {"apiVersion", "v1"},
                              {"metadata", Object{{"name", kUsualAccount},
                                                  {"namespace", space},
                                                  {"uid", new_uid()},
                                                  {"creationTimestamp", time_text(context.now())}}}};
  return {.caller = context.self,
          .command = PutDocument{
              .key = key_of("serviceaccounts", {.space = space, .name = std::string(kUsualAccount)}), .expect = 0},
          .document = document_of("serviceaccounts", object)};
}

Outcome<Plan> plan_removal(const Context& context, const Ask& ask, const Entry& current, const Removal& removal) {
  const Resource& resource = ask.resource();
  const std::string table = store_table(resource);
  if (table == "nodes")
    return forbidden(resource, ask.route.name,
                     "a node goes when its agent is taken off the machine: drover node revoke");
  const Value was = current.value();
  Plan plan{.object = was};
  if (is_slurm_job(current)) {
    plan.wishes.push_back(wish_to_cancel(ask.user.caller(), current));
    return plan;
  }
  const bool leaving = !text_at(was, "metadata.deletionTimestamp").empty();
  if (removal.propagation == "Foreground") add_finalizer(plan.object, "foregroundDeletion");
  if (removal.propagation == "Orphan") add_finalizer(plan.object, "orphan");
  // Pods and namespaces go once what they hold is over (kube/controller).
  if (table == "pods" || table == "namespaces" || has_finalizers(plan.object)) {
    const std::int64_t usual =
        table == "pods" ? integer_at(was, "spec.terminationGracePeriodSeconds").value_or(kGrace) : 0;
    if (!leaving) mark_deleted(plan.object, context.now(), removal.grace.value_or(usual));
    if (table == "namespaces") make_object(plan.object.as_object(), "status")["phase"] = "Terminating";
    if (!same_but_for_version(plan.object, was)) {
      plan.wishes.push_back(wish_to_put(context, table, current, plan.object));
    }
    return plan;
  }
  plan.wishes.push_back(wish_to_remove(context, table, current));
  plan.answer = deleted_status(resource, current);
  return plan;
}

}  // namespace drover::kube
