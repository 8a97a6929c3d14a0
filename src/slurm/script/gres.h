// Generic resources: --gres, --gpus, --gpus-per-node, --gpus-per-task.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::slurm {

struct Gres {
  std::string name;
  std::string type;  // case as written; empty: any
  std::int64_t count = 0;
  friend bool operator==(const Gres&, const Gres&) = default;
};

// "gpu", "gpu:4", "gpu:a100:2,nvme:1"; "none" is the empty list. k and kib are 1024, kb is 1000.
[[nodiscard]] Result<std::vector<Gres>> parse_gres(std::string_view text);

// "4", "a100:2,t4:1".
[[nodiscard]] Result<std::vector<Gres>> parse_gpus(std::string_view text);

// {gpu, a100, 2} -> "gres/gpu:a100:2".
[[nodiscard]] std::string print_gres(std::span<const Gres> list);

}  // namespace drover::slurm
