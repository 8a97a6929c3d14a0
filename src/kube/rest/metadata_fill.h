// The members of an object's metadata that only the server writes.
#pragma once

#include <string>

#include "base/time.h"
#include "kube/json/value.h"
#include "kube/rest/ask.h"

namespace drover::kube {

// 5 letters and digits behind metadata.generateName, as an API server makes them.
[[nodiscard]] std::string generated_name(std::string_view prefix);
[[nodiscard]] std::string new_uid();

// Of a new object: name (if it is to be generated), namespace, uid, creationTimestamp, generation; members
// that nobody else may set are taken out.
void fill_new(Value& object, const Ask& ask, Instant now);
// Of a change: what never changes is as it was, the generation counts changes of the specification.
void fill_change(Value& object, const Value& was);
// Marks it as being deleted.
void mark_deleted(Value& object, Instant now, std::int64_t grace_seconds);

// Compares all but what the server adds to what is kept: resourceVersion and a rendered status.
[[nodiscard]] bool same_but_for_version(const Value& a, const Value& b);

}  // namespace drover::kube
