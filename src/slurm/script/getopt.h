// GNU option words for every Slurm command: unique abbreviations, bundled letters, --name=value and
// --name value, with getopt_long's own words for what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::slurm {

enum class Takes : std::uint8_t { nothing, value, maybe_value };

struct OptionName {
  std::string name;  // without the dashes
  char letter = 0;   // 0: none
  Takes takes = Takes::nothing;
};

struct ChosenOption {
  std::size_t row = 0;  // in the table
  std::optional<std::string> value;
  std::size_t word = 0;  // index of the word where it (or its value) stood
};

struct OptionWords {
  std::vector<ChosenOption> chosen;
  std::vector<std::string> rest;
};

// Where the words that are no options may stand.
enum class Operands : std::uint8_t { stop_at_first, anywhere };

// Not for threads: getopt_long keeps its state in globals.
[[nodiscard]] Result<OptionWords> parse_option_words(std::string_view program, std::span<const OptionName> table,
                                                     const std::vector<std::string>& words, Operands operands);

}  // namespace drover::slurm
