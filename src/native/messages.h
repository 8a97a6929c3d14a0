// What goes over the native API beside the domain's own values, and its tables: errors as HTTP
// statuses, refusals as errors.
#pragma once

#include <optional>
#include <string>

#include "api/service.h"
#include "base/describe.h"
#include "base/result.h"

namespace drover::native {

// api::Execute without the caller: the server knows him from the connection.
struct Wish {
  std::string key;
  Command command;
  std::optional<JobSpec> spec;
  std::string script;
  std::string environment;  // NUL-separated NAME=value; in JSON it must be UTF-8
  std::optional<StepSpec> step_spec;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(2, "key", self.key);
    visit(3, "command", self.command);
    visit(4, "spec", self.spec);
    visit(5, "script", self.script);
    visit(6, "environment", self.environment);
    visit(7, "step_spec", self.step_spec);
  }
};

struct ErrorBody {
  std::string code;
  std::string message;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "code", self.code);
    visit(2, "message", self.message);
  }
};

// The answer to a wish or a plan, or an error: one of the members is set.
struct AnswerBody {
  std::optional<ErrorBody> error;
  std::optional<Reply> reply;
  std::optional<Refusal> refusal;  // beside `error`
  std::optional<api::WouldStart> would_start;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "error", self.error);
    visit(2, "reply", self.reply);
    visit(3, "refusal", self.refusal);
    visit(4, "would_start", self.would_start);
  }
};

[[nodiscard]] std::string_view errc_word(Errc code);
[[nodiscard]] Errc errc_from_word(std::string_view word);
[[nodiscard]] int http_status(Errc code);
[[nodiscard]] Errc errc_of(RefusalCode code);
// One line for people: "too_many_gpus (a100): gpus 8, asked 9; nearest: 8 x a100 per node".
[[nodiscard]] std::string refusal_text(const Refusal& refusal);

}  // namespace drover::native
