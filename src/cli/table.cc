#include "cli/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace drover::cli {
namespace {

// Characters on the screen: colour codes and UTF-8 continuation bytes take no room.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  bool in_code = false;
  for (const char c : text) {
    if (c == '\x1b') in_code = true;
    if (!in_code && (static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++width;
    if (c == 'm') in_code = false;
  }
  return width;
}

}  // namespace

bool wants_colours(int fd) {
  const char* const term = std::getenv("TERM");
  const char* const plain = std::getenv("NO_COLOR");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  return ::isatty(fd) == 1 && !dumb && (plain == nullptr || *plain == '\0');
}

std::string Ink::wrap(std::string_view code, std::string_view text) const {
  if (!on_) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string table(const std::vector<Row>& rows, std::size_t indent) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - width_of(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace drover::cli
