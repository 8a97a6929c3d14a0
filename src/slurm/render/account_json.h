// sacct --json.
#pragma once

#include <string>
#include <vector>

#include "slurm/render/account.h"

namespace drover::slurm {

// A job's batch step stands in its `steps`. `rows` as account_rows orders them.
[[nodiscard]] std::string account_json(const std::vector<AccountRow>& rows, const AccountLook& look);

}  // namespace drover::slurm
