// Events of the core group.
#include "kube/object/kinds/kinds.h"

namespace drover::kube {
namespace {

void fill(Object& object) {
  make_object(object, "source");
  make_object(object, "involvedObject");
  set_default(object, "reportingComponent", "");
  set_default(object, "reportingInstance", "");
}

// An event stands in the namespace of what it is about; those about nodes and their like in
// default.
void check(Problems& problems, const Value& object) {
  const std::string_view space = text_at(object, "metadata.namespace");
  const std::string_view about = text_at(object, "involvedObject.namespace");
  const Path path = Path("involvedObject") / "namespace";
  if (about.empty()) {
    if (space != "default" && space != "kube-system") {
      problems.invalid(path, about, "does not match event.namespace");
    }
  } else if (about != space) {
    problems.invalid(path, about, "does not match event.namespace");
  }
  const std::string_view type = text_at(object, "type");
  if (!text_at(object, "eventTime").empty() && type != "Normal" && type != "Warning") {
    problems.invalid(Path("type"), type, "must be Normal or Warning");
  }
}

void check_change(Problems& problems, const Value& was, const Value& now) {
  check_same(problems, was, now, "involvedObject");
}

}  // namespace

const KindRules& event_rules() {
  static const KindRules kRules{
      .kind = "Event", .fill = fill, .check = check, .check_change = check_change};
  return kRules;
}

}  // namespace drover::kube
