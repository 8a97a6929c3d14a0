// Text for terminals: aligned columns, and colours only where somebody looks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

// Whether `fd` is a terminal that wants colours (NO_COLOR and TERM=dumb don't).
[[nodiscard]] bool wants_colours(int fd);

class Ink {
 public:
  explicit Ink(bool on) : on_(on) {}
  [[nodiscard]] std::string bold(std::string_view text) const { return wrap("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return wrap("2", text); }
  [[nodiscard]] std::string good(std::string_view text) const { return wrap("32", text); }
  [[nodiscard]] std::string warn(std::string_view text) const { return wrap("33", text); }
  [[nodiscard]] std::string bad(std::string_view text) const { return wrap("31", text); }

 private:
  [[nodiscard]] std::string wrap(std::string_view code, std::string_view text) const;
  bool on_;
};

using Row = std::vector<std::string>;
// Columns two blanks apart, as wide as their widest cell; colour codes have no width. Each line
// starts with `indent` blanks, and none ends in one.
[[nodiscard]] std::string table(const std::vector<Row>& rows, std::size_t indent = 2);

}  // namespace drover::cli
