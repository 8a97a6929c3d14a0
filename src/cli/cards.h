// GPU models that the cluster file may name without describing them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace drover::cli {

struct Card {
  std::string_view model;    // GRES type
  std::uint32_t box_gb;      // what the box says
  std::string_view product;  // what NVML says
  std::uint32_t memory_mib;  // what NVML says
  std::uint32_t capability;  // x 10
};

[[nodiscard]] std::span<const Card> known_cards();

}  // namespace drover::cli
