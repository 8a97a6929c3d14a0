// Defaults and rules of the kinds that are documents alone: nothing in the domain knows them.
#pragma once

#include <string_view>

#include "kube/json/value.h"
#include "kube/object/metadata.h"
#include "kube/object/problems.h"

namespace drover::kube {

struct KindRules {
  std::string_view kind;
  NameRule name = NameRule::dns_subdomain;
  void (*fill)(Object& object);  // what a server writes that isn't said
  void (*check)(Problems& problems, const Value& object);
  void (*check_change)(Problems& problems, const Value& was, const Value& now);
};

// Namespace, ConfigMap, Secret, ServiceAccount, PriorityClass, Lease, Event; null for other kinds.
[[nodiscard]] const KindRules* kind_rules(std::string_view kind);

// With metadata's rules. The object fits its schema.
void fill_defaults(const KindRules& rules, Value& object);
[[nodiscard]] Problems check_object(const KindRules& rules, const Value& object);
[[nodiscard]] Problems check_object_update(const KindRules& rules, const Value& was,
                                           const Value& now);

// The rules of single kinds, each in a file of its own.
[[nodiscard]] const KindRules& namespace_rules();
[[nodiscard]] const KindRules& config_map_rules();
[[nodiscard]] const KindRules& secret_rules();
[[nodiscard]] const KindRules& service_account_rules();
[[nodiscard]] const KindRules& priority_class_rules();
[[nodiscard]] const KindRules& lease_rules();
[[nodiscard]] const KindRules& event_rules();

// Sets the member unless it is there and not null.
void set_default(Object& object, std::string_view name, Value value);
// `field is immutable when `immutable` is set` of config maps and secrets.
void check_immutable(Problems& problems, const Value& was, const Value& now,
                     std::initializer_list<std::string_view> members);
// The member must be as it was.
void check_same(Problems& problems, const Value& was, const Value& now, std::string_view path);

inline constexpr std::size_t kMostData = 1U << 20U;  // bytes of a config map or secret

}  // namespace drover::kube
