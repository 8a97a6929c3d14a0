// An IP address under which a machine may be reached.
#pragma once

#include <string>

namespace drover::agent {

// Of the name or address that a node was given; without one, of the machine's first network. "127.0.0.1"
// where there is nothing better.
[[nodiscard]] std::string node_ip(const std::string& address);

}  // namespace drover::agent
