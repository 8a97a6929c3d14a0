#include "kube/object/kinds/kinds.h"

namespace drover::kube {
namespace {

// The label by which selectors find a namespace by its name; nobody can take it away.
void fill(Object& object) {
  const std::string name(text_at(Value(object), "metadata.name"));
  Object& metadata = make_object(object, "metadata");
  if (!name.empty()) make_object(metadata, "labels")["kubernetes.io/metadata.name"] = name;
  Object& spec = make_object(object, "spec");
  if (!spec.contains("finalizers")) spec["finalizers"] = Array{"kubernetes"};
  set_default(make_object(object, "status"), "phase", "Active");
}

void check(Problems& problems, const Value& object) {
  const Array* finalizers = array_at(object, "spec.finalizers");
  for (std::size_t i = 0; finalizers != nullptr && i < finalizers->size(); ++i) {
    const std::string_view name = text(&(*finalizers)[i]);
    problems.invalid((Path("spec") / "finalizers")[i], name, qualified_name(name));
  }
}

void check_change(Problems&, const Value&, const Value&) {}

}  // namespace

const KindRules& namespace_rules() {
  static const KindRules kRules{.kind = "Namespace",
                                .name = NameRule::dns_label,
                                .fill = fill,
                                .check = check,
                                .check_change = check_change};
  return kRules;
}

}  // namespace drover::kube
