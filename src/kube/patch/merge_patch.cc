#include "kube/patch/merge_patch.h"

namespace drover::kube {
namespace {

void merge(Value& target, const Value& patch) {
  const Object* changes = patch.if_object();
  if (changes == nullptr) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  Object& object = target.get_object();
  for (const auto& change : *changes) {
    if (change.value().is_null()) {
      remove(object, change.key());
    } else {
      merge(object[change.key()], change.value());
    }
  }
}

}  // namespace

Result<Value> apply_merge_patch(Value document, const Value& patch) {
  if (!patch.is_object()) return Error{Errc::invalid, "a merge patch is an object"};
  merge(document, patch);
  return document;
}

}  // namespace drover::kube
