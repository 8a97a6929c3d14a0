#include "kube/object/kinds/kinds.h"

namespace drover::kube {
namespace {

void fill(Object&) {}

void check_positive(Problems& problems, const Value& spec, std::string_view name,
                    std::int64_t least, const char* why) {
  const Value* value = member(spec, name);
  const auto number = integer(value);
  if (number && *number < least) problems.invalid(Path("spec") / name, *value, why);
}

void check(Problems& problems, const Value& object) {
  const Value* spec = member(object, "spec");
  if (spec == nullptr) return;
  check_positive(problems, *spec, "leaseDurationSeconds", 1, "must be greater than 0");
  check_positive(problems, *spec, "leaseTransitions", 0, "must be greater than or equal to 0");
  const Value* holder = member(*spec, "holderIdentity");
  if (holder != nullptr && holder->is_string() && holder->get_string().empty()) {
    problems.invalid(Path("spec") / "holderIdentity", "", "must not be empty");
  }
  for (const char* field : {"strategy", "preferredHolder"}) {
    if (!text_at(*spec, field).empty()) {
      problems.forbidden(Path("spec") / field, "coordinated leader election is not served");
    }
  }
}

void check_change(Problems&, const Value&, const Value&) {}

}  // namespace

const KindRules& lease_rules() {
  static const KindRules kRules{
      .kind = "Lease", .fill = fill, .check = check, .check_change = check_change};
  return kRules;
}

}  // namespace drover::kube
