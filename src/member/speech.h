// HTTP by hand, for connections that are something else after one question: somebody else's, or a
// stream's.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "tls/channel.h"

namespace drover::member {

// "POST TARGET" with a protobuf body; `headers`: further whole lines.
[[nodiscard]] std::string post_text(std::string_view target, std::string_view body,
                                    std::string_view headers = "");

// All of it before `end` (since boot).
[[nodiscard]] Status say(tls::Channel& channel, std::string_view text, Duration end);

struct Heard {
  int status = 0;
  std::string text;  // head and body
  std::string body;
  std::string rest;  // what came behind it
};
// One answer with a Content-Length, or a 101, which has none.
[[nodiscard]] Result<Heard> hear(tls::Channel& channel, Duration end);

}  // namespace drover::member
