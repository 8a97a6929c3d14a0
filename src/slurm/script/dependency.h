// --dependency=afterok:12:13_4,singleton and after:5+10?afterany:6.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::slurm {

enum class DependencyKind : std::uint8_t { after, after_any, after_ok, after_not_ok, after_corr, singleton };
[[nodiscard]] std::string_view dependency_word(DependencyKind kind);

struct DependencySpec {
  DependencyKind kind = DependencyKind::after_any;
  std::uint64_t job = 0;              // none for singleton
  std::optional<std::uint32_t> task;  // A_a; without it the whole array
  std::uint32_t delay_minutes = 0;    // after:job+minutes
  friend bool operator==(const DependencySpec&, const DependencySpec&) = default;
};

struct Dependencies {
  std::vector<DependencySpec> list;
  bool any = false;  // one is enough ("?"), else all ("," )
  friend bool operator==(const Dependencies&, const Dependencies&) = default;
};

// A list without a word in front, "12:13", means afterany. Mixing "," and "?" is an error.
[[nodiscard]] Result<Dependencies> parse_dependencies(std::string_view text);

}  // namespace drover::slurm
