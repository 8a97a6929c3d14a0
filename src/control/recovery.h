// The cluster as the store knows it: the newest snapshot and the facts after it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "domain/cluster.h"
#include "store/log.h"

namespace drover::control {

struct Recovered {
  Cluster cluster;
  std::uint64_t position = 0;  // of the last record in it
  std::uint64_t snapshot = 0;  // that it started from; 0: none
  std::uint64_t epoch = 0;     // of the last leader
  Instant at;                  // of the last record
  std::string warning;         // an older snapshot stood in for a damaged one
};

// Told of each fact after it was applied, with the position of its record.
using OnFact = std::function<void(const Cluster& after, const Event& event, std::uint64_t position)>;

// A fact that this version can't read stops it: it never guesses.
[[nodiscard]] Result<Recovered> recover(store::Log& log, const OnFact& on_fact);

}  // namespace drover::control
