#include "slurm/step/output.h"

#include <utility>

namespace drover::slurm {
namespace {

constexpr std::size_t kLongestHeld = 64U << 10U;  // a line longer than this goes out in pieces

}  // namespace

OutputLines::OutputLines(OutputRules rules)
    : rules_(rules), width_(std::to_string(rules.tasks > 0 ? rules.tasks - 1 : 0).size()) {}

std::string OutputLines::label(std::uint32_t task) const {
  std::string text = std::to_string(task);
  if (text.size() < width_) text.insert(0, width_ - text.size(), ' ');
  return text + ": ";
}

// Writes a piece that may be part of a line, and marks where another task's begins.
void OutputLines::put(std::string& out, std::uint32_t task, std::string_view piece) {
  if (piece.empty()) return;
  if (!rules_.label) {
    out += piece;
    return;
  }
  while (!piece.empty()) {
    if (open_ && open_task_ != task) {
      out += '\n';
      open_ = false;
    }
    if (!open_) out += label(task);
    const std::size_t newline = piece.find('\n');
    const std::size_t length = newline == std::string_view::npos ? piece.size() : newline + 1;
    out += piece.substr(0, length);
    piece.remove_prefix(length);
    open_ = newline == std::string_view::npos;
    open_task_ = task;
  }
}

std::string OutputLines::take(std::uint32_t task, std::string_view piece) {
  std::string out;
  // One task alone can't be mixed with another: what it says is seen at once, prompts too.
  if (rules_.unbuffered || (!rules_.label && rules_.tasks <= 1)) {
    put(out, task, piece);
    return out;
  }
  std::string& held = held_[task];
  std::size_t border = piece.rfind('\n');
  if (border == std::string_view::npos && !rules_.label)
    border = piece.rfind('\r');  // a progress bar
  if (border == std::string_view::npos) {
    held += piece;
    if (held.size() >= kLongestHeld) put(out, task, std::exchange(held, {}));
    return out;
  }
  held += piece.substr(0, border + 1);
  put(out, task, held);
  held = std::string(piece.substr(border + 1));
  return out;
}

std::string OutputLines::end(std::uint32_t task) {
  std::string out;
  const auto held = held_.find(task);
  if (held != held_.end()) {
    put(out, task, held->second);
    held_.erase(held);
  }
  if (open_ && open_task_ == task) {
    out += '\n';
    open_ = false;
  }
  return out;
}

}  // namespace drover::slurm
