#include "slurm/script/logname.h"

#include <algorithm>

namespace drover::slurm {
namespace {

constexpr std::uint32_t kNoTask = 4294967294;

std::string one_component(std::string_view text) {
  std::string safe(text);
  std::ranges::replace(safe, '/', '_');
  return safe;
}

std::string padded(std::uint64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

// What a letter stands for; nothing for a letter without meaning.
std::optional<std::string> value_of(char letter, std::size_t width, const LogNames& names) {
  switch (letter) {
    case 'j':
      return padded(names.job, width);
    case 'J':
      return names.step == "batch" ? padded(names.job, width) : padded(names.job, width) + "." + names.step;
    case 'A':
      return padded(names.array_job, width);
    case 'a':
      return padded(names.task.value_or(kNoTask), width);
    case 'b':
      return padded(names.task.value_or(kNoTask) % 10, width);
    case 'n':
      return padded(names.node_rank, width);
    case 't':
      return padded(names.process, width);
    case 'r':
      return padded(names.restarts, width);
    case 's':
      return one_component(names.step);
    case 'x':
      return one_component(names.job_name);
    case 'u':
      return one_component(names.user);
    case 'N':
      return one_component(names.node);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string expand_log_name(std::string_view pattern, const LogNames& names) {
  std::string result;
  if (pattern.find('\\') != std::string_view::npos) {
    std::ranges::copy_if(pattern, std::back_inserter(result), [](char c) { return c != '\\'; });
    return result;
  }
  constexpr std::size_t kWidest = 10;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      result += pattern[i];
      continue;
    }
    std::size_t end = i + 1;
    std::size_t width = 0;
    for (; end < pattern.size() && pattern[end] >= '0' && pattern[end] <= '9'; ++end) {
      width = std::min(kWidest, width * 10 + static_cast<std::size_t>(pattern[end] - '0'));
    }
    const char letter = end < pattern.size() ? pattern[end] : '\0';
    if (letter == '%' && end == i + 1) {
      result += '%';
    } else if (const auto value = value_of(letter, width, names)) {
      result += *value;
    } else {
      result += pattern.substr(i, end - i + 1);
    }
    i = std::min(end, pattern.size() - 1);
  }
  return result;
}

}  // namespace drover::slurm
