// Attempts that are only played, by a clock that the caller turns. A job says itself what to play,
// in its script: "run-for=10s exit=7 signal=9 peak=1G ignores-term out-of-memory cannot-start".
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/driver/driver.h"

namespace drover::agent {

struct Play {
  Duration run_for{};
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::int64_t peak_memory = 0;
  bool ignores_term = false;
  bool out_of_memory = false;
  bool cannot_start = false;
  friend bool operator==(const Play&, const Play&) = default;
};
// The first line that isn't a comment ("#") counts.
[[nodiscard]] Result<Play> parse_play(std::string_view script);

class ScriptedDriver final : public Driver {
 public:
  explicit ScriptedDriver(std::function<Instant()> clock) : clock_(std::move(clock)) {}

  [[nodiscard]] Status start(const std::string& key, const StartSpec& spec) override;
  // Plays the words of the first task's program.
  [[nodiscard]] Status start_part(const std::string& key, const PartSpec& spec) override;
  [[nodiscard]] Status tell(const std::string& key, const Command& command) override;
  [[nodiscard]] Status forget(const std::string& key) override;
  [[nodiscard]] std::vector<Attempt> list() override;
  [[nodiscard]] std::vector<Attempt> changes() override;
  [[nodiscard]] int wake_fd() const override { return -1; }

  // The next moment at which something happens by itself.
  [[nodiscard]] std::optional<Instant> next() const;

 private:
  struct Part {
    Play play;
    StartSpec spec;
    Attempt attempt;
    Instant ends;                         // by itself
    std::optional<Instant> limit;         // SIGTERM by the clock
    std::optional<Instant> killed;        // SIGKILL
    std::optional<Cause> cause;
    std::string reason;
  };
  void ask_to_end(Part& part, Cause cause, const std::string& reason, Duration grace, Instant now);
  void end(Part& part, Instant at, std::int32_t exit_code, std::int32_t signal);
  void turn(Part& part, Instant now);

  std::function<Instant()> clock_;
  std::map<std::string, Part> parts_;
  std::map<std::string, Attempt> changed_;
};

}  // namespace drover::agent
