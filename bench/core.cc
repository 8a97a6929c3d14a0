// The core alone: no disk, no sockets. How cost grows with the queue, and what a waiting job weighs.
#include <string>

#include "bench/bench.h"
#include "bench/cluster.h"
#include "engine/core.h"

namespace drover::bench {
namespace {

// Whole lives while `waiting` others stand in the queue; microseconds of core time each.
double life_us(std::size_t waiting, std::size_t lives) {
  engine::Core core;
  Instant now{seconds(1'800'000'000)};
  settle(core, configure(), now);
  for (std::uint32_t n = 1; n <= 100; ++n) settle(core, node(n, 64, 8), now);
  settle(core, submit_endless(), now);
  for (std::size_t i = 0; i < waiting; ++i) settle(core, submit_too_big(i), now);
  const double begin = now_seconds();
  for (std::size_t i = 0; i < lives; ++i) {
    now += milliseconds(1);
    live_once(core, submit_small(i), now);
  }
  return (now_seconds() - begin) / static_cast<double>(lives) * 1e6;
}

double bytes_a_waiting_job(std::size_t jobs) {
  engine::Core core;
  const Instant now{seconds(1'800'000'000)};
  settle(core, configure(), now);
  for (std::uint32_t n = 1; n <= 100; ++n) settle(core, node(n, 64, 8), now);
  settle(core, submit_endless(), now);
  const std::int64_t before = resident_bytes();
  for (std::size_t i = 0; i < jobs; ++i) settle(core, submit_too_big(i), now);
  return static_cast<double>(resident_bytes() - before) / static_cast<double>(jobs);
}

}  // namespace

void bench_core(const Options& options, Rows& rows) {
  const auto scaled = [&](double n) { return static_cast<std::size_t>(n * options.scale); };
  // Memory first: freed pages of an earlier run would be used again and hide the growth.
  rows.push_back({.id = "core.bytes_per_waiting_job", .value = bytes_a_waiting_job(scaled(100'000)), .unit = "B",
                  .calibration = "resident memory", .goal = "<= 400"});
  for (const auto& [name, waiting] : {std::pair("1k", 1'000.0), std::pair("10k", 10'000.0), std::pair("100k", 100'000.0)}) {
    const double us = median_of(3, [&] { return life_us(scaled(waiting), scaled(5'000)); });
    rows.push_back({.id = std::string("core.life.") + name + "_waiting", .value = us, .unit = "us", .goal = "<= 20"});
  }
}

}  // namespace drover::bench
