// The SQL that a filter becomes. Values are always bound, never part of the text.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "domain/history.h"

namespace drover::store {

struct Where {
  std::string sql;  // "WHERE ... ORDER BY ..."
  std::vector<std::variant<std::int64_t, std::string>> values;
};
[[nodiscard]] Where where(const HistoryQuery& filter);

// Stands for "has no end yet", so that one comparison covers ended and living jobs.
inline constexpr std::int64_t kNoEnd = INT64_MAX;

}  // namespace drover::store
