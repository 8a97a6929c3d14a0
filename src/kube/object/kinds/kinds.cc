#include "kube/object/kinds/kinds.h"

#include <array>

namespace drover::kube {

const KindRules* kind_rules(std::string_view kind) {
  for (const KindRules* rules :
       {&namespace_rules(), &config_map_rules(), &secret_rules(), &service_account_rules(),
        &priority_class_rules(), &lease_rules(), &event_rules()}) {
    if (rules->kind == kind) return rules;
  }
  return nullptr;
}

void fill_defaults(const KindRules& rules, Value& object) {
  if (object.is_object()) rules.fill(object.get_object());
}

Problems check_object(const KindRules& rules, const Value& object) {
  Problems problems = check_metadata(object, rules.name);
  rules.check(problems, object);
  return problems;
}

Problems check_object_update(const KindRules& rules, const Value& was, const Value& now) {
  Problems problems = check_metadata_update(was, now, rules.name);
  rules.check(problems, now);
  rules.check_change(problems, was, now);
  return problems;
}

void set_default(Object& object, std::string_view name, Value value) {
  Value& place = object[name];
  if (place.is_null()) place = std::move(value);
}

void check_same(Problems& problems, const Value& was, const Value& now, std::string_view path) {
  const Value* old = at(was, path);
  const Value* value = at(now, path);
  const bool kept = old == nullptr || value == nullptr ? old == value : same(*old, *value);
  if (kept) return;
  problems.invalid(Path(path), value == nullptr ? Value(nullptr) : *value, "field is immutable");
}

void check_immutable(Problems& problems, const Value& was, const Value& now,
                     std::initializer_list<std::string_view> members) {
  constexpr std::string_view kWhy = "field is immutable when `immutable` is set";
  if (!flag_at(was, "immutable")) return;
  if (!flag_at(now, "immutable")) problems.forbidden(Path("immutable"), kWhy);
  for (const std::string_view name : members) {
    const Value* old = member(was, name);
    const Value* value = member(now, name);
    const Value none = Object{};
    if (!same(old == nullptr ? none : *old, value == nullptr ? none : *value)) {
      problems.forbidden(Path(name), kWhy);
    }
  }
}

}  // namespace drover::kube
