// Which objects of a list or watch are wanted.
#pragma once

#include <optional>
#include <string>

#include "kube/rest/failure.h"
#include "kube/rest/route.h"
#include "kube/select/field_selector.h"
#include "kube/select/label_selector.h"
#include "kube/store/entry.h"

namespace drover::kube {

struct Filter {
  std::optional<std::string> space;
  LabelSelector labels;
  FieldSelector fields;
  [[nodiscard]] bool wants(const Entry& entry) const;
  [[nodiscard]] bool everything() const { return labels.everything() && fields.everything(); }
};

// From the query; 400 for selectors that can't be read, or fields that the resource can't be asked by.
[[nodiscard]] Outcome<Filter> filter_of(const Route& route, const wire::Target& target);

}  // namespace drover::kube
