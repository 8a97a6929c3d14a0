// The names that jobs see: their node's as the machine's, and those of the other nodes.
#pragma once

#include <string>

#include "base/result.h"

namespace drover::agent {

// Gives the calling process, and with it all that it starts, a host name of its own, and `hosts_file` in
// the place of /etc/hosts. Later mounts of the machine are seen as before; nothing outside changes. The
// file begins as a copy of the machine's; whoever writes to it in place is seen at once.
[[nodiscard]] Status take_names(const std::string& host_name, const std::string& hosts_file);

}  // namespace drover::agent
