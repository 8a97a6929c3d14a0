#include "agent/cri/process_spec.h"

#include <array>
#include <cstdio>
#include <optional>
#include <utility>

namespace drover::agent::cri {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(kBlanks, at);
  return next == std::string_view::npos ? text.size() : next;
}

// Past the string that begins at `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

// Past the value that begins at `at`, whatever it is.
std::size_t skip_value(std::string_view text, std::size_t at) {
  if (at < text.size() && text[at] == '"') return skip_string(text, at);
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth == 0) return at;
    if (c == ',' && depth == 0) return at;
    ++at;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return at;
}

struct Member {
  std::string_view name;
  std::string_view value;
};

// The members of an object, as their text stands. Nothing: it is none.
std::optional<std::vector<Member>> members(std::string_view text) {
  std::vector<Member> found;
  std::size_t at = skip_blanks(text, 0);
  if (at >= text.size() || text[at] != '{') return std::nullopt;
  at = skip_blanks(text, at + 1);
  while (at < text.size() && text[at] == '"') {
    const std::size_t name_end = skip_string(text, at);
    if (name_end > text.size()) return std::nullopt;
    const std::string_view name = text.substr(at + 1, name_end - at - 2);
    at = skip_blanks(text, name_end);
    if (at >= text.size() || text[at] != ':') return std::nullopt;
    const std::size_t begin = skip_blanks(text, at + 1);
    const std::size_t end = skip_value(text, begin);
    if (end > text.size() || end == begin) return std::nullopt;
    found.push_back({.name = name, .value = text.substr(begin, end - begin)});
    at = skip_blanks(text, end);
    if (at < text.size() && text[at] == ',') at = skip_blanks(text, at + 1);
  }
  if (at >= text.size() || text[at] != '}') return std::nullopt;
  return found;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      result += escape.data();
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace

Result<std::string> process_like(std::string_view container, const std::vector<std::string>& command, bool terminal) {
  const Error unreadable{Errc::unavailable, "containerd's specification of the container can't be read"};
  const auto all = members(container);
  if (!all) return Error(unreadable);
  for (const Member& one : *all) {
    if (one.name != "process") continue;
    const auto process = members(one.value);
    if (!process) return Error(unreadable);
    std::string result = "{";
    for (const Member& member : *process) {
      if (member.name == "args" || member.name == "terminal" || member.name == "consoleSize") continue;
      result.append("\"").append(member.name).append("\":").append(member.value).append(",");
    }
    result += std::string("\"terminal\":") + (terminal ? "true" : "false") + ",\"args\":[";
    for (std::size_t i = 0; i < command.size(); ++i) result += (i > 0 ? "," : "") + quoted(command[i]);
    return result + "]}";
  }
  return Error(unreadable);
}

}  // namespace drover::agent::cri
