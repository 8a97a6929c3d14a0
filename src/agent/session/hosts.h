// The hosts file of jobs: the cluster's nodes, then the machine's own lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/session.h"

namespace drover::agent {

// The first line of a name counts, and many a machine calls itself 127.0.1.1, which helps nobody else. An
// address that isn't numeric can't stand in such a file and is left out.
[[nodiscard]] std::string hosts_text(std::string_view machines, const std::vector<HostAddress>& nodes);
// In place, so that those who have the file mounted see it.
[[nodiscard]] Status write_hosts(const std::string& path, const std::vector<HostAddress>& nodes);

}  // namespace drover::agent
