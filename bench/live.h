// A real cluster of real programs in a folder of its own, for figures that cross processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace drover::bench {

class Live {
 public:
  Live(const std::string& programs, const std::string& folder, int agents);
  ~Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  [[nodiscard]] bool up() const { return up_; }
  // Runs a command against it and waits; its standard output. Milliseconds go to `took_ms`.
  std::string run(const std::vector<std::string>& words, double* took_ms = nullptr) const;
  // The same with its output thrown away; the most memory it had, in KiB.
  std::int64_t run_to_nowhere(const std::vector<std::string>& words, double* took_ms) const;
  [[nodiscard]] const std::string& state() const { return state_; }

 private:
  std::string programs_;
  std::string state_;
  bool up_ = false;
};

}  // namespace drover::bench
