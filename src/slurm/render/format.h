// Output columns as users ask for them: squeue's and sinfo's "%.18i %R" and "Name:20,State", sacct's
// "JobID,State%30". What a column shows is the business of a field table; here is only the layout.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::slurm {

struct Column {
  std::optional<std::size_t> field;  // in the caller's table; none: `after` alone is printed
  std::size_t width = 0;             // 0: as wide as the text
  bool right = false;
  bool automatic = false;  // "%#P": the caller widens it to the longest text
  std::string after;       // free text that follows
};

struct Layout {
  std::string before;  // free text in front of the first column
  std::vector<Column> columns;
  std::vector<std::string> complaints;  // "Invalid job format specification: %X", shown and passed over
};

using FindLetter = std::function<std::optional<std::size_t>(char letter)>;
using FindName = std::function<std::optional<std::size_t>(std::string_view name)>;

// "%[.][size]letter text": "." is to the right; a letter that nobody knows is passed through as text.
// Two percent signs in a row are one, as in Slurm: none is ever printed.
[[nodiscard]] Layout parse_letters(std::string_view format, const FindLetter& find, std::string_view kind);

// "name[:[.][size][text]]" with commas between; 20 wide without a size.
[[nodiscard]] Result<Layout> parse_names(std::string_view format, const FindName& find, std::string_view program);

// A field's text in its column: padded, cut at the width (durations never are), and what follows.
void append_cell(std::string& line, const Column& column, std::string_view text, bool cut = true);

// ---- sacct and its kin ----

enum class Separation : std::uint8_t { columns, bars, bars_closed };  // plain, -P, -p

struct AccountColumn {
  std::size_t field = 0;
  int width = 10;  // negative: to the left
};
struct AccountLayout {
  std::vector<AccountColumn> columns;
  Separation separation = Separation::columns;
  std::string delimiter = "|";
};

// "JobID,State%30,JobName%-20"; `width` gives a field's own width.
[[nodiscard]] Result<std::vector<AccountColumn>> parse_account_columns(std::string_view format, const FindName& find,
                                                                       const std::function<int(std::size_t)>& width,
                                                                       std::string_view program);

// One line with its line feed. Too long texts end in '+'.
[[nodiscard]] std::string account_line(const AccountLayout& layout, const std::vector<std::string>& texts);
// The line of dashes under the header; "" with bars.
[[nodiscard]] std::string account_rule(const AccountLayout& layout);

}  // namespace drover::slurm
