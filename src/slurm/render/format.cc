#include "slurm/render/format.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "slurm/exit.h"

namespace drover::slurm {
namespace {

constexpr std::size_t kWidest = 4096;  // of a column; wider is a typing error or an attack
constexpr std::size_t kNameWidth = 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "[.][size]" from the front of `text`.
void take_size(std::string_view& text, Column& column) {
  if (text.starts_with('.')) {
    column.right = true;
    text.remove_prefix(1);
  }
  if (text.starts_with('#')) {
    column.automatic = true;
    text.remove_prefix(1);
  }
  while (!text.empty() && is_digit(text.front())) {
    column.width = std::min(kWidest, column.width * 10 + static_cast<std::size_t>(text.front() - '0'));
    text.remove_prefix(1);
  }
}

}  // namespace

Layout parse_letters(std::string_view format, const FindLetter& find, std::string_view kind) {
  Layout layout;
  const auto tokens = split(format, '%');
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string_view token = tokens[i];
    if (i == 0) {
      layout.before = token;
      continue;
    }
    if (token.empty()) continue;
    Column column;
    take_size(token, column);
    column.field = token.empty() ? std::nullopt : find(token.front());
    if (column.field) {
      column.after = token.substr(1);
    } else {
      column.after = "%" + std::string(tokens[i]);
      layout.complaints.push_back("Invalid " + std::string(kind) +
                                  " format specification: " + printable(column.after));
    }
    layout.columns.push_back(std::move(column));
  }
  return layout;
}

Result<Layout> parse_names(std::string_view format, const FindName& find, std::string_view program) {
  Layout layout;
  for (const std::string_view token : split(format, ',')) {
    const std::size_t colon = token.find(':');
    const std::string_view name = trim(token.substr(0, colon));
    if (name.empty()) continue;
    Column column;
    column.field = find(name);
    if (!column.field) {
      return Error{Errc::denied, error_line(program, "Invalid field requested: \"" + printable(name) + "\"")};
    }
    if (colon == std::string_view::npos) {
      column.width = kNameWidth;
    } else {
      std::string_view rest = token.substr(colon + 1);
      take_size(rest, column);
      column.after = rest;
    }
    layout.columns.push_back(std::move(column));
  }
  if (layout.columns.empty()) return Error{Errc::denied, error_line(program, "no field was named")};
  return layout;
}

void append_cell(std::string& line, const Column& column, std::string_view text, bool cut) {
  if (column.field) {
    if (cut && column.width > 0) text = text.substr(0, column.width);
    const std::size_t padding = column.width > text.size() ? column.width - text.size() : 0;
    if (column.right) line.append(padding, ' ');
    line += text;
    if (!column.right) line.append(padding, ' ');
  }
  line += column.after;
}

Result<std::vector<AccountColumn>> parse_account_columns(std::string_view format, const FindName& find,
                                                         const std::function<int(std::size_t)>& width,
                                                         std::string_view program) {
  std::vector<AccountColumn> columns;
  for (const std::string_view token : split(format, ',')) {
    const std::size_t percent = token.find('%');
    const std::string_view name = trim(token.substr(0, percent));
    if (name.empty()) continue;
    const auto invalid = [&] {
      return Error{Errc::denied, error_line(program, "Invalid field requested: \"" + printable(name) + "\"")};
    };
    const auto field = find(name);
    if (!field) return invalid();
    AccountColumn column{.field = *field, .width = width(*field)};
    if (percent != std::string_view::npos) {
      const auto size = parse_int(trim(token.substr(percent + 1)));
      if (!size) return invalid();
      constexpr std::int64_t kMost = kWidest;
      if (*size != 0) column.width = static_cast<int>(std::clamp(*size, -kMost, kMost));
    }
    columns.push_back(column);
  }
  if (columns.empty()) return Error{Errc::denied, error_line(program, "no field was named")};
  return columns;
}

std::string account_line(const AccountLayout& layout, const std::vector<std::string>& texts) {
  std::string line;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    std::string text = texts[i];
    if (layout.separation != Separation::columns) {
      line += text;
      if (i + 1 < layout.columns.size() || layout.separation == Separation::bars_closed) line += layout.delimiter;
      continue;
    }
    const bool left = layout.columns[i].width < 0;
    const auto width = static_cast<std::size_t>(std::abs(layout.columns[i].width));
    if (text.size() > width) {
      text.resize(width - 1);
      text += '+';
    }
    const std::string padding(width - text.size(), ' ');
    line += left ? text + padding : padding + text;
    line += ' ';
  }
  return line + '\n';
}

std::string account_rule(const AccountLayout& layout) {
  if (layout.separation != Separation::columns) return "";
  std::string line;
  for (const AccountColumn& column : layout.columns) {
    line.append(static_cast<std::size_t>(std::abs(column.width)), '-');
    line += ' ';
  }
  return line + '\n';
}

}  // namespace drover::slurm
