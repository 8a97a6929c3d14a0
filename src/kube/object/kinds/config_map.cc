#include "kube/object/kinds/kinds.h"
#include "kube/schema/base64.h"

namespace drover::kube {
namespace {

void fill(Object&) {}

void check(Problems& problems, const Value& object) {
  const Object* data = object_at(object, "data");
  const Object* binary = object_at(object, "binaryData");
  std::size_t bytes = 0;
  if (data != nullptr) {
    for (const auto& entry : *data) {
      const std::string_view key = entry.key();
      problems.invalid(Path("data").key(key), key, config_key(key));
      if (binary != nullptr && binary->contains(key)) {
        problems.invalid(Path("data").key(key), key, "duplicate of key present in binaryData");
      }
      bytes += text(&entry.value()).size();
    }
  }
  if (binary != nullptr) {
    for (const auto& entry : *binary) {
      const std::string_view key = entry.key();
      problems.invalid(Path("binaryData").key(key), key, config_key(key));
      const auto value = from_base64(text(&entry.value()));
      if (!value) problems.invalid(Path("binaryData").key(key), "", "must be base64");
      bytes += value ? value->size() : 0;
    }
  }
  if (bytes > kMostData) problems.too_long(Path(), kMostData);
}

void check_change(Problems& problems, const Value& was, const Value& now) {
  check_immutable(problems, was, now, {"data", "binaryData"});
}

}  // namespace

const KindRules& config_map_rules() {
  static const KindRules kRules{
      .kind = "ConfigMap", .fill = fill, .check = check, .check_change = check_change};
  return kRules;
}

}  // namespace drover::kube
