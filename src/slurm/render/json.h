// JSON as Slurm's data parser (v0.0.44) writes it, built member by member: what all --json outputs
// share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/job.h"
#include "slurm/render/words.h"

namespace drover::slurm {

class JsonObject {
 public:
  JsonObject& raw(std::string_view name, std::string_view value);  // `value` is JSON already
  JsonObject& text(std::string_view name, std::string_view value);
  JsonObject& number(std::string_view name, std::int64_t value);
  JsonObject& flag(std::string_view name, bool value);
  JsonObject& words(std::string_view name, const std::vector<std::string>& values);
  // Slurm's way to write a number that may be missing or without bound.
  JsonObject& maybe(std::string_view name, std::optional<std::int64_t> value, bool infinite = false);
  [[nodiscard]] std::string end();  // the object; nothing may be added after it

 private:
  void name(std::string_view name);
  std::string text_ = "{";
};

[[nodiscard]] std::string json_list(const std::vector<std::string>& items);  // of JSON values
[[nodiscard]] std::string json_words(const std::vector<std::string>& texts);

// {"status": ["SUCCESS"], "return_code": {...}, "signal": {...}}, also of what hasn't ended: as
// Slurm.
[[nodiscard]] std::string json_exit(const ExitStatus& exit);

// The whole answer: its list under `name`, then what Slurm adds to every answer. `updated`: in unix
// seconds, for the lists that carry it.
[[nodiscard]] std::string json_answer(std::string_view name, const std::vector<std::string>& items,
                                      std::optional<std::int64_t> updated = std::nullopt);

}  // namespace drover::slurm
