#include "slurm/script/gres.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace drover::slurm {
namespace {

Error malformed(std::string_view text) {
  return {Errc::invalid, "'" + printable(text) + "' is not NAME[:TYPE][:COUNT], for example gpu:a100:2"};
}

// A count with its suffix: 2, 2k, 2kib (2048), 2kb (2000).
std::optional<std::int64_t> parse_count(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  const auto number = parse_uint(text.substr(0, end));
  if (!number) return std::nullopt;
  std::uint64_t factor = 1;
  if (end != std::string_view::npos) {
    const std::string unit = lower(text.substr(end));
    const std::size_t power = std::string_view("kmgtp").find(unit.front());
    const bool decimal = unit.size() == 2 && unit[1] == 'b';
    if (power == std::string_view::npos || (unit.size() != 1 && !decimal && unit.substr(1) != "ib"))
      return std::nullopt;
    for (std::size_t i = 0; i <= power; ++i) factor *= decimal ? 1000 : 1024;
  }
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;
  if (*number > kMost / factor) return std::nullopt;
  return static_cast<std::int64_t>(*number * factor);
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '+' || c == '/';
  });
}

bool looks_like_count(std::string_view text) {
  return !text.empty() && ((text.front() >= '0' && text.front() <= '9') || text.front() == '-');
}

// What follows the name: [TYPE][:COUNT].
Result<Gres> with_amount(std::string_view name, std::string_view amount, std::string_view whole) {
  Gres gres{.name = std::string(name), .type = "", .count = 1};
  const std::size_t colon = amount.find(':');
  const std::string_view first = amount.substr(0, colon);
  if (colon == std::string_view::npos) {
    if (const auto count = parse_count(first)) {
      gres.count = *count;
    } else if (is_name(first) && !looks_like_count(first)) {
      gres.type = first;
    } else {
      return malformed(whole);
    }
    return gres;
  }
  const auto count = parse_count(amount.substr(colon + 1));
  if (!is_name(first) || !count) return malformed(whole);
  gres.type = first;
  gres.count = *count;
  return gres;
}

}  // namespace

Result<std::vector<Gres>> parse_gres(std::string_view text) {
  std::vector<Gres> list;
  if (iequals(text, "none")) return list;
  if (text.empty()) return malformed(text);
  for (std::string_view item : split(text, ',')) {
    const std::string_view whole = item;
    if (item.starts_with("gres:") || item.starts_with("gres/")) item.remove_prefix(5);
    const std::size_t colon = item.find(':');
    const std::string_view name = item.substr(0, colon);
    if (!is_name(name)) return malformed(whole);
    if (colon == std::string_view::npos) {
      list.push_back({.name = std::string(name), .type = "", .count = 1});
    } else {
      list.push_back(TRY(with_amount(name, item.substr(colon + 1), whole)));
    }
  }
  return list;
}

Result<std::vector<Gres>> parse_gpus(std::string_view text) {
  std::vector<Gres> list;
  if (text.empty()) return Error{Errc::invalid, "a number of GPUs is missing: write [TYPE:]COUNT"};
  for (const std::string_view item : split(text, ',')) list.push_back(TRY(with_amount("gpu", item, item)));
  return list;
}

std::string print_gres(std::span<const Gres> list) {
  std::string text;
  for (const Gres& gres : list) {
    if (!text.empty()) text += ',';
    text += "gres/" + gres.name;
    if (!gres.type.empty()) text += ":" + gres.type;
    text += ":" + std::to_string(gres.count);
  }
  return text;
}

}  // namespace drover::slurm
