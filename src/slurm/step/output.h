// A step's output on its way to one file or terminal: labels, and lines that stay whole when
// several tasks write at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace drover::slurm {

struct OutputRules {
  bool label = false;       // "0: " before each line, as wide as the largest task number
  bool unbuffered = false;  // pieces go out as they come, whole lines or not
  std::uint32_t tasks = 1;  // of the whole step
};

class OutputLines {
 public:
  explicit OutputLines(OutputRules rules);

  // Pieces go out as they are: nothing is added to them, and nothing held back.
  [[nodiscard]] bool passes_through() const { return !rules_.label && (rules_.unbuffered || rules_.tasks <= 1); }
  // What is to be written now that `task` has said `piece`.
  [[nodiscard]] std::string take(std::uint32_t task, std::string_view piece);
  // The task says no more: its last line, if that has no end.
  [[nodiscard]] std::string end(std::uint32_t task);

 private:
  void put(std::string& out, std::uint32_t task, std::string_view piece);
  [[nodiscard]] std::string label(std::uint32_t task) const;

  OutputRules rules_;
  std::size_t width_ = 1;
  std::map<std::uint32_t, std::string> held_;  // begun lines
  bool open_ = false;                          // the last that went out was no whole line ...
  std::uint32_t open_task_ = 0;                // ... of this task
};

}  // namespace drover::slurm
