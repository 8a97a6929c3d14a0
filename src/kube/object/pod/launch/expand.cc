#include "kube/object/pod/launch/expand.h"

#include <algorithm>

namespace drover::kube {

void Variables::set(std::string_view name, std::string value) {
  const auto at = std::ranges::find(all_, name, &std::pair<std::string, std::string>::first);
  if (at == all_.end()) {
    all_.emplace_back(name, std::move(value));
  } else {
    at->second = std::move(value);
  }
}

const std::string* Variables::find(std::string_view name) const {
  const auto at = std::ranges::find(all_, name, &std::pair<std::string, std::string>::first);
  return at == all_.end() ? nullptr : &at->second;
}

std::vector<std::string> Variables::lines() const {
  std::vector<std::string> lines;
  lines.reserve(all_.size());
  for (const auto& [name, value] : all_) lines.push_back(name + "=" + value);
  return lines;
}

std::string expand(std::string_view text, const Variables& variables) {
  std::string out;
  while (!text.empty()) {
    const auto dollar = text.find('$');
    out.append(text.substr(0, dollar));
    if (dollar == std::string_view::npos) break;
    text.remove_prefix(dollar + 1);
    if (text.starts_with('$')) {
      out += '$';
      text.remove_prefix(1);
      continue;
    }
    const auto close = text.starts_with('(') ? text.find(')') : std::string_view::npos;
    if (close == std::string_view::npos) {
      out += '$';
      continue;
    }
    const std::string* value = variables.find(text.substr(1, close - 1));
    out.append(value != nullptr ? std::string_view(*value) : "");
    if (value == nullptr) out.append("$").append(text.substr(0, close + 1));
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace drover::kube
