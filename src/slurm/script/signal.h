// Signals by name, and --signal=[R][B]:SIG[@SEC].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace drover::slurm {

struct SignalSpec {
  int number = 0;
  std::int32_t before_end_s = 60;
  bool batch_shell_only = false;
  bool with_reservation = false;
  friend bool operator==(const SignalSpec&, const SignalSpec&) = default;
};

[[nodiscard]] Result<SignalSpec> parse_signal(std::string_view text);

// "TERM", "SIGTERM", "term" or "15"; nothing for what isn't a signal.
[[nodiscard]] std::optional<int> signal_number(std::string_view text);

// 9 -> "KILL"; "" for a number without a name.
[[nodiscard]] std::string signal_name(int number);

// 9 -> "Killed", as in "RaisedSignal:9(Killed)".
[[nodiscard]] std::string signal_title(int number);

}  // namespace drover::slurm
