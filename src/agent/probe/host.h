// The machine under a node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace drover::agent {

struct HostInfo {
  std::string hostname;
  std::string kernel;  // release
  std::string architecture;
  std::string boot_id;
  Instant booted;
  std::vector<std::int32_t> cpus;  // online
  std::int32_t sockets = 1;
  std::int32_t cores_per_socket = 1;
  std::int32_t threads_per_core = 1;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_available = 0;
  std::int64_t load_centi = 0;  // of the last minute, times 100
};
// `root` is for tests: where proc/ and sys/ are.
[[nodiscard]] HostInfo probe_host(const std::string& root = "");

}  // namespace drover::agent
