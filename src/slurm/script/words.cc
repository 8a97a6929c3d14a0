#include "slurm/script/words.h"

#include <optional>

#include "base/text.h"

namespace drover::slurm {
namespace {

constexpr std::string_view kMagic = "#SBATCH";

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_comment_or_blank(std::string_view line) {
  const std::string_view text = trim(line);
  return text.empty() || text.front() == '#';
}

// One line's words. Both kinds of quotes group, a backslash escapes anywhere, and a bare # ends the
// line even in the middle of a word.
class LineWords {
 public:
  explicit LineWords(std::string_view line) : rest_(line) {}

  // The next word; nothing at the end of the line or at an unmatched quote.
  std::optional<std::string> next() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() == '#') return std::nullopt;
    std::string word;
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (quote_ == 0 && (is_blank(c) || c == '#')) break;
      rest_.remove_prefix(1);
      if (c == '\\' && !rest_.empty()) {
        word += rest_.front();
        rest_.remove_prefix(1);
      } else if (quote_ != 0 && c == quote_) {
        quote_ = 0;
      } else if (quote_ == 0 && (c == '"' || c == '\'')) {
        quote_ = c;
      } else {
        word += c;
      }
    }
    if (quote_ != 0) return std::nullopt;
    return word;
  }
  [[nodiscard]] char open_quote() const { return quote_; }

 private:
  std::string_view rest_;
  char quote_ = 0;
};

}  // namespace

Status check_batch_script(std::string_view script) {
  const auto refuse = [](std::string message) { return Error{Errc::denied, std::move(message)}; };
  if (script.empty()) return refuse("sbatch: error: Batch script is empty!");
  if (trim(script).empty()) return refuse("sbatch: error: Batch script contains only whitespace!");
  if (!script.starts_with("#!")) {
    return refuse(
        "sbatch: error: This does not look like a batch script.  The first\n"
        "sbatch: error: line must start with #! followed by the path to an interpreter.\n"
        "sbatch: error: For instance: #!/bin/sh");
  }
  if (script.find('\0') != std::string_view::npos) {
    return refuse("sbatch: error: Batch script contains a NUL byte: it must be plain text");
  }
  if (script.find("\r\n") != std::string_view::npos) {
    return refuse(
        "sbatch: error: Batch script contains DOS line breaks (\\r\\n)\n"
        "sbatch: error: instead of expected UNIX line breaks (\\n).");
  }
  return Done{};
}

Result<std::vector<Directive>> read_directives(std::string_view script, std::string_view name) {
  std::vector<Directive> directives;
  int number = 0;
  while (!script.empty()) {
    const std::size_t end = script.find('\n');
    const std::string_view line = script.substr(0, end);
    script.remove_prefix(end == std::string_view::npos ? script.size() : end + 1);
    ++number;
    const bool marked = line.starts_with(kMagic) && (line.size() == kMagic.size() || is_blank(line[kMagic.size()]));
    if (!marked) {
      if (!is_comment_or_blank(line)) break;
      continue;
    }
    LineWords words(line.substr(kMagic.size()));
    Directive directive{.line = number, .words = {}};
    while (auto word = words.next()) directive.words.push_back(*std::move(word));
    if (words.open_quote() != 0) {
      return Error{Errc::denied, "sbatch: fatal: " + printable(name) + ": line " + std::to_string(number) +
                                     ": Unmatched `" + words.open_quote() + "` in [" + printable(line) + "]"};
    }
    if (!directive.words.empty()) directives.push_back(std::move(directive));
  }
  return directives;
}

}  // namespace drover::slurm
