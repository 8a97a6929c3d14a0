// Lists of host names: n[1-3,7],x[01-02]-gpu.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::slurm {

// More hosts than this in one list is a typing error or an attack.
inline constexpr std::size_t kMostHosts = 65536;

// In the order written, duplicates kept. Several brackets multiply, the last one fastest.
[[nodiscard]] Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t most = kMostHosts);

// Neighbours with the same prefix share a bracket; the order stays.
[[nodiscard]] std::string compress_hostlist(std::span<const std::string> hosts);

// The same, sorted by prefix and number, without duplicates.
[[nodiscard]] std::string compress_sorted(std::vector<std::string> hosts);

}  // namespace drover::slurm
