// The order in which jobs are tried: tier of the partition, priority, age, id.
#pragma once

#include <compare>
#include <cstdint>

#include "base/time.h"
#include "domain/ids.h"

namespace drover::policy {

struct OrderKey {  // smaller is earlier
  std::int64_t tier = 0;
  std::int64_t priority = 0;
  Instant eligible;
  JobId job;
  friend constexpr std::strong_ordering operator<=>(const OrderKey& a, const OrderKey& b) {
    if (const auto c = b.tier <=> a.tier; c != 0) return c;
    if (const auto c = b.priority <=> a.priority; c != 0) return c;
    if (const auto c = a.eligible <=> b.eligible; c != 0) return c;
    return a.job <=> b.job;
  }
  friend constexpr bool operator==(const OrderKey&, const OrderKey&) = default;
};

}  // namespace drover::policy
