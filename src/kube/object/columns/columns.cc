#include "kube/object/columns/columns.h"

#include <array>

#include "kube/object/columns/rows.h"

namespace drover::kube {
namespace {

constexpr Column kName{
    .name = "Name",
    .format = "name",
    .description = "Its name, unique in its namespace among objects of its kind."};
constexpr Column kAge{.name = "Age", .description = "How long ago it was made."};

constexpr std::array kPlain{kName, kAge};
constexpr std::array kPod{
    kName,
    Column{.name = "Ready", .description = "How many of its containers are ready, of how many."},
    Column{.name = "Status", .description = "What it is doing, in one word."},
    Column{.name = "Restarts",
           .description =
               "How often its containers were started again, and how long ago the last time was."},
    kAge,
    Column{.name = "IP", .description = "The address of the pod.", .priority = 1},
    Column{.name = "Node", .description = "The node that it was given.", .priority = 1},
    Column{.name = "Nominated Node",
           .description = "The node that is being cleared for it.",
           .priority = 1},
    Column{.name = "Readiness Gates",
           .description = "How many of the conditions that it names itself are true.",
           .priority = 1}};
constexpr std::array kNode{
    kName,
    Column{.name = "Status", .description = "Whether the node is ready and takes work."},
    Column{.name = "Roles", .description = "What its labels say that the node is for."},
    kAge,
    Column{.name = "Version", .description = "The version of its agent."},
    Column{.name = "Internal-IP", .description = "Where other nodes reach it.", .priority = 1},
    Column{
        .name = "External-IP", .description = "Where it is reached from outside.", .priority = 1},
    Column{.name = "OS-Image", .description = "Its operating system.", .priority = 1},
    Column{.name = "Kernel-Version", .description = "Its kernel.", .priority = 1},
    Column{.name = "Container-Runtime", .description = "What runs its containers.", .priority = 1}};
constexpr std::array kNamespace{
    kName, Column{.name = "Status", .description = "Active, or Terminating while it is emptied."},
    kAge};
constexpr std::array kConfigMap{
    kName, Column{.name = "Data", .description = "How many entries it has."}, kAge};
constexpr std::array kSecret{
    kName, Column{.name = "Type", .description = "What its entries are for."},
    Column{.name = "Data", .description = "How many entries it has."}, kAge};
constexpr std::array kServiceAccount{
    kName, Column{.name = "Secrets", .description = "How many secrets it names."}, kAge};
constexpr std::array kPriorityClass{
    kName,
    Column{
        .name = "Value", .type = "integer", .description = "The priority of pods of this class."},
    Column{.name = "Global-Default",
           .type = "boolean",
           .description = "Whether pods without a class are of this one."},
    kAge,
    Column{.name = "PreemptionPolicy",
           .description = "Whether pods of this class may drive out others."}};
constexpr std::array kLease{kName, Column{.name = "Holder", .description = "Who holds it."}, kAge};
constexpr std::array kEvent{
    Column{.name = "Last Seen", .description = "How long ago it happened last."},
    Column{.name = "Type", .description = "Normal or Warning."},
    Column{.name = "Reason", .description = "What happened, in one word for programs."},
    Column{.name = "Object", .description = "What it happened to."},
    Column{.name = "Subobject", .description = "The part of the object.", .priority = 1},
    Column{.name = "Source", .description = "Who says so.", .priority = 1},
    Column{.name = "Message", .description = "What happened, in words for people."},
    Column{.name = "First Seen", .description = "How long ago it happened first.", .priority = 1},
    Column{.name = "Count", .description = "How often it happened.", .priority = 1},
    Column{.name = "Name",
           .format = "name",
           .description = "The name of the event itself.",
           .priority = 1}};

std::int64_t size_at(const Value& object, std::string_view path) {
  const Value* value = at(object, path);
  if (value == nullptr) return 0;
  if (const Object* map = value->if_object()) return static_cast<std::int64_t>(map->size());
  if (const Array* list = value->if_array()) return static_cast<std::int64_t>(list->size());
  return 0;
}

Array plain_row(const Value& object, Instant now) { return {name_of(object), age_of(object, now)}; }

Array namespace_row(const Value& object, Instant now) {
  return {name_of(object), std::string(text_at(object, "status.phase")), age_of(object, now)};
}
Array config_map_row(const Value& object, Instant now) {
  return {name_of(object), size_at(object, "data") + size_at(object, "binaryData"),
          age_of(object, now)};
}
Array secret_row(const Value& object, Instant now) {
  return {name_of(object), std::string(text_at(object, "type")), size_at(object, "data"),
          age_of(object, now)};
}
Array service_account_row(const Value& object, Instant now) {
  return {name_of(object), size_at(object, "secrets"), age_of(object, now)};
}
Array priority_class_row(const Value& object, Instant now) {
  return {name_of(object), integer_at(object, "value").value_or(0),
          flag_at(object, "globalDefault"), age_of(object, now),
          std::string(text_at(object, "preemptionPolicy"))};
}
Array lease_row(const Value& object, Instant now) {
  return {name_of(object), std::string(text_at(object, "spec.holderIdentity")),
          age_of(object, now)};
}

const std::array kTables{Table{"Pod", kPod, pod_row},
                         Table{"Node", kNode, node_row},
                         Table{"Event", kEvent, event_row},
                         Table{"Namespace", kNamespace, namespace_row},
                         Table{"ConfigMap", kConfigMap, config_map_row},
                         Table{"Secret", kSecret, secret_row},
                         Table{"ServiceAccount", kServiceAccount, service_account_row},
                         Table{"PriorityClass", kPriorityClass, priority_class_row},
                         Table{"Lease", kLease, lease_row}};
const Table kOther{"", kPlain, plain_row};

}  // namespace

const Table& table_of(std::string_view kind) {
  for (const Table& table : kTables) {
    if (table.kind == kind) return table;
  }
  return kOther;
}

Array column_definitions(const Table& table) {
  Array definitions;
  for (const Column& column : table.columns) {
    definitions.push_back(Object{{"name", column.name},
                                 {"type", column.type},
                                 {"format", column.format},
                                 {"description", column.description},
                                 {"priority", column.priority}});
  }
  return definitions;
}

}  // namespace drover::kube
