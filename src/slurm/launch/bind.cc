#include "slurm/launch/bind.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/text.h"

namespace drover::slurm {
namespace {

constexpr std::uint64_t kMostRepeats = 4096;

Error not_understood(std::string_view text) {
  return {Errc::invalid, "unrecognized value \"" + printable(text) + "\""};
}

// "0,2*3" -> {"0", "2", "2", "2"}.
Result<std::vector<std::string>> list_items(std::string_view text, std::string_view whole) {
  std::vector<std::string> items;
  for (const std::string_view item : split(text, ',')) {
    const std::size_t star = item.find('*');
    const auto times = star == std::string_view::npos ? std::optional<std::uint64_t>(1)
                                                      : parse_uint(item.substr(star + 1));
    if (!times || *times == 0 || *times > kMostRepeats || item.substr(0, star).empty())
      return not_understood(whole);
    items.insert(items.end(), *times, std::string(item.substr(0, star)));
  }
  if (items.empty()) return not_understood(whole);
  return items;
}

// The bits of a hexadecimal number of any length, with or without 0x; nothing for other text.
std::optional<std::vector<std::uint32_t>> bits_of(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  if (text.empty()) return std::nullopt;
  std::vector<std::uint32_t> bits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit =
        std::string_view("0123456789abcdef").find(lower(text.substr(text.size() - 1 - i, 1)));
    if (digit == std::string_view::npos) return std::nullopt;
    for (std::uint32_t bit = 0; bit < 4; ++bit) {
      if (((digit >> bit) & 1U) != 0) bits.push_back(static_cast<std::uint32_t>(i * 4) + bit);
    }
  }
  return bits;
}

// Decimal, or hexadecimal after 0x.
std::optional<std::uint32_t> number_of(std::string_view text) {
  if (!text.starts_with("0x")) {
    const auto number = parse_uint(text);
    return number && *number < 0xffffffff ? std::optional(static_cast<std::uint32_t>(*number))
                                          : std::nullopt;
  }
  std::uint32_t number = 0;
  if (text.size() > 9) return std::nullopt;
  const auto bits = bits_of(text);
  if (!bits) return std::nullopt;
  for (const std::uint32_t bit : *bits) number |= std::uint32_t{1} << bit;
  return number;
}

struct BindType {
  std::string_view name;
  enum class Takes : std::uint8_t { nothing, numbers, masks } takes = Takes::nothing;
};

Result<BindWords> parse_bind(std::string_view text, std::span<const BindType> types) {
  BindWords words;
  std::string_view rest = text;
  const std::size_t colon = text.find(':');
  const std::string_view head = text.substr(0, colon);
  for (const std::string_view word : split(head, ',')) {
    const std::string name = lower(word);
    if (name == "v" || name == "verbose") {
      words.verbose = true;
    } else if (name == "q" || name == "quiet") {
      words.verbose = false;
    } else if (words.type.empty() && !name.empty()) {
      words.type = name == "no" ? "none" : name;
    } else {
      return not_understood(text);
    }
  }
  if (words.type.empty()) {
    if (colon != std::string_view::npos) return not_understood(text);
    return words;
  }
  const auto type = std::ranges::find(types, std::string_view(words.type), &BindType::name);
  if (type == types.end()) return not_understood(words.type);
  if ((type->takes == BindType::Takes::nothing) != (colon == std::string_view::npos))
    return not_understood(text);
  if (colon == std::string_view::npos) return words;
  rest.remove_prefix(colon + 1);
  words.list = TRY(list_items(rest, text));
  for (const std::string& item : words.list) {
    const bool good = type->takes == BindType::Takes::masks ? bits_of(item).has_value()
                                                            : number_of(item).has_value();
    if (!good) return not_understood(text);
  }
  return words;
}

template <class T>
const T& nth(const std::vector<T>& list, std::size_t n) {
  return list[n % list.size()];
}

// `count` places from `first` on, around the end.
std::vector<std::uint32_t> run_of(const std::vector<std::uint32_t>& cpus, std::uint64_t first,
                                  std::uint64_t count) {
  std::vector<std::uint32_t> run;
  for (std::uint64_t i = 0; i < count; ++i) run.push_back(nth(cpus, first + i));
  std::ranges::sort(run);
  const auto same = std::ranges::unique(run);
  run.erase(same.begin(), same.end());
  return run;
}

std::uint32_t most_gpus(const std::vector<GpuAsk>& asks) {
  std::uint32_t count = 0;
  for (const GpuAsk& ask : asks) count += ask.count;
  return count;
}

std::vector<std::size_t> all_of(std::size_t count) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) places.push_back(i);
  return places;
}

}  // namespace

Result<BindWords> parse_cpu_bind(std::string_view text) {
  using enum BindType::Takes;
  constexpr std::array kTypes{BindType{"none"},
                              BindType{"rank"},
                              BindType{"threads"},
                              BindType{"cores"},
                              BindType{"map_cpu", numbers},
                              BindType{"mask_cpu", masks}};
  return parse_bind(text, kTypes);
}

Result<BindWords> parse_gpu_bind(std::string_view text) {
  using enum BindType::Takes;
  constexpr std::array kTypes{BindType{"none"},
                              BindType{"closest"},
                              BindType{"single", numbers},
                              BindType{"per_task", numbers},
                              BindType{"map_gpu", numbers},
                              BindType{"mask_gpu", masks}};
  BindWords words = TRY(parse_bind(text, kTypes));
  const bool counts = words.type == "single" || words.type == "per_task";
  if (counts && (words.list.size() != 1 || number_of(words.list.front()).value_or(0) == 0))
    return not_understood(text);
  return words;
}

std::vector<std::uint32_t> task_cpus(const StepRequest& request, const BindWords& words,
                                     const BindPlace& place) {
  if (words.type == "none" || place.cpus.empty() || place.tasks == 0) return {};
  const auto count = static_cast<std::uint32_t>(place.cpus.size());
  if (words.type == "rank") return {nth(place.cpus, place.local)};
  if (words.type == "map_cpu")
    return {nth(place.cpus, number_of(nth(words.list, place.local)).value_or(0))};
  if (words.type == "mask_cpu") {
    std::vector<std::uint32_t> cpus;
    for (const std::uint32_t bit :
         bits_of(nth(words.list, place.local)).value_or(std::vector<std::uint32_t>{})) {
      if (bit < count) cpus.push_back(place.cpus[bit]);
    }
    return cpus;
  }
  const bool sized = request.cpus_per_task > 0;
  const bool asked = words.type == "threads" || words.type == "cores";
  if (!asked && !sized && !request.exact) return {};
  const std::uint32_t each = sized           ? request.cpus_per_task
                             : request.exact ? 1
                                             : std::max(1U, count / place.tasks);
  if (each >= count) return {};
  return run_of(place.cpus, std::uint64_t{place.local} * each, each);
}

std::vector<std::size_t> task_gpus(const StepRequest& request, const BindWords& words,
                                   const std::vector<BindGpu>& gpus, std::uint32_t local,
                                   std::int32_t socket) {
  if (gpus.empty() || words.type == "none") return all_of(gpus.size());
  const auto listed = [&] { return number_of(nth(words.list, local)).value_or(0); };
  if (words.type == "map_gpu") return {listed() % gpus.size()};
  if (words.type == "mask_gpu") {
    std::vector<std::size_t> places;
    for (const std::uint32_t bit :
         bits_of(nth(words.list, local)).value_or(std::vector<std::uint32_t>{})) {
      if (bit < gpus.size()) places.push_back(bit);
    }
    return places.empty() ? all_of(gpus.size()) : places;
  }
  if (words.type == "single")
    return {local / number_of(words.list.front()).value_or(1) % gpus.size()};
  if (words.type == "closest") {
    std::vector<std::size_t> near;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      if (socket >= 0 && gpus[i].numa == socket) near.push_back(i);
    }
    return near.empty() ? all_of(gpus.size()) : near;
  }
  const std::size_t each = words.type == "per_task" ? number_of(words.list.front()).value_or(1)
                                                    : most_gpus(request.gpus_per_task);
  if (each == 0 || each >= gpus.size()) return all_of(gpus.size());
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < each; ++i) places.push_back((local * each + i) % gpus.size());
  std::ranges::sort(places);
  return places;
}

std::string cpu_mask(const std::vector<std::uint32_t>& cpus) {
  if (cpus.empty()) return "0x0";
  std::vector<unsigned> digits(std::ranges::max(cpus) / 4 + 1);
  for (const std::uint32_t cpu : cpus) digits[cpu / 4] |= 1U << (cpu % 4);
  std::string text = "0x";
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit)
    text += "0123456789ABCDEF"[*digit];
  return text;
}

}  // namespace drover::slurm
