#include "kube/object/kinds/kinds.h"

namespace drover::kube {
namespace {

constexpr std::int64_t kHighestOfUsers = 1'000'000'000;
constexpr std::int64_t kLowest = -2'147'483'648;

void fill(Object& object) { set_default(object, "preemptionPolicy", "PreemptLowerPriority"); }

void check(Problems& problems, const Value& object) {
  const std::string_view name = text_at(object, "metadata.name");
  const bool system = name == "system-cluster-critical" || name == "system-node-critical";
  if (name.starts_with("system-") && !system) {
    problems.forbidden(
        Path("metadata") / "name",
        "priority class names with 'system-' prefix are reserved for system use only");
  }
  const Value* given = member(object, "value");
  const auto value = integer(given);
  if (!value) {
    problems.required(Path("value"));
  } else if (!system && *value > kHighestOfUsers) {
    problems.forbidden(Path("value"), "maximum allowed value of a user defined priority is " +
                                          std::to_string(kHighestOfUsers));
  } else if (*value < kLowest) {
    problems.invalid(Path("value"), *given, "must be a 32-bit number");
  }
  const std::string_view policy = text_at(object, "preemptionPolicy");
  if (!policy.empty() && policy != "Never" && policy != "PreemptLowerPriority") {
    problems.not_supported(Path("preemptionPolicy"), policy, {"Never", "PreemptLowerPriority"});
  }
}

// Pods keep the number that they were made with, so a class can't take another.
void check_change(Problems& problems, const Value& was, const Value& now) {
  const Value* value = member(now, "value");
  if (integer(value) != integer_at(was, "value")) {
    problems.forbidden(Path("value"), "may not be changed in an update.");
  }
  check_same(problems, was, now, "preemptionPolicy");
}

}  // namespace

const KindRules& priority_class_rules() {
  static const KindRules kRules{
      .kind = "PriorityClass", .fill = fill, .check = check, .check_change = check_change};
  return kRules;
}

}  // namespace drover::kube
