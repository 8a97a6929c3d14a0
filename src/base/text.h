// Text without locale: splitting, trimming, checked numbers, did-you-mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drover {

// "a,,b" -> {"a", "", "b"}; "" -> {}.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);
[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] bool iequals(std::string_view a, std::string_view b);

// The whole text as a decimal number, or nothing: no blanks, no sign for unsigned, no overflow.
[[nodiscard]] std::optional<std::int64_t> parse_int(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_uint(std::string_view text);

// Text of a stranger, safe to show on a terminal: control characters become \xNN, at most `limit`
// bytes.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit = 200);

// The candidate that `word` was most likely meant to be (edit distance of at most a third), or "".
[[nodiscard]] std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace drover
