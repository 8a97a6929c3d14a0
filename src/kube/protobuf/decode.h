// Bodies in Kubernetes' protobuf form (application/vnd.kubernetes.protobuf) as JSON values: an
// envelope that names the kind, and in it the message that the schema describes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/json/value.h"
#include "kube/schema/schema.h"

namespace drover::kube {

// The text of Content-Type and Accept.
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

struct Envelope {
  std::string api_version;  // "" when the sender left it out: then the path says it
  std::string kind;
  std::string_view raw;  // the message, inside the body
};
[[nodiscard]] Result<Envelope> read_envelope(std::string_view body);

// The message as a JSON object without apiVersion and kind. Unknown fields are passed over. Damage,
// nesting beyond 64 levels and strings that aren't UTF-8 are errors (Errc::invalid). A scalar that
// is zero is left out where zero means nothing, as in JSON.
[[nodiscard]] Result<Value> decode_message(std::string_view raw, const Message& message);

// Both: {apiVersion, kind, ...}. `no kind "Foo" is registered for version "v1"` for a kind there
// isn't.
[[nodiscard]] Result<Value> decode_protobuf(std::string_view body,
                                            const Schema& schema = Schema::built_in());

}  // namespace drover::kube
