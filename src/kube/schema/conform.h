// Makes an object what its kind says: values of the right types, quantities and times in their
// canonical form, no members that the kind doesn't have.
#pragma once

#include "base/result.h"
#include "kube/json/field_problems.h"
#include "kube/json/value.h"
#include "kube/schema/schema.h"

namespace drover::kube {

// Takes out members that are null, and those that `kind` doesn't know; the latter are noted as
// `problems.unknown` ("spec.containers[0].imag", at most 64). A wrong type is an error in the API
// server's words, without the "cannot be handled as": `json: cannot unmarshal string into Go struct
// field PodSpec.spec.containers of type []v1.Container`. Whether required fields are there isn't
// checked here: that is validation, with messages of its own.
[[nodiscard]] Status conform(Value& object, const Message& kind, FieldProblems& problems);

}  // namespace drover::kube
