// Bytes between a socket of this machine and a TLS connection, for a program that does nothing
// else.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "tls/channel.h"

namespace drover::member {

// Until either side has ended and the other has what was said before. An error: the channel failed
// before anything came from it, so whoever is behind `plain` has heard nothing yet.
[[nodiscard]] Status carry(const Fd& plain, tls::Channel& channel);

}  // namespace drover::member
