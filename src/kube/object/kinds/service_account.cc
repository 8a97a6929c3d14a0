#include "kube/object/kinds/kinds.h"

namespace drover::kube {
namespace {

void fill(Object&) {}

void check(Problems&, const Value&) {}

void check_change(Problems&, const Value&, const Value&) {}

}  // namespace

const KindRules& service_account_rules() {
  static const KindRules kRules{
      .kind = "ServiceAccount", .fill = fill, .check = check, .check_change = check_change};
  return kRules;
}

}  // namespace drover::kube
