// The line from a keeper to one of its shims, a pair of sockets: orders to start go down it one at a
// time, each once the job before has ended. The keeper lets a shim go by closing its end.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "os/fd.h"

namespace drover::agent {

// The keeper's end, which never waits, and the shim's, which does.
[[nodiscard]] Result<std::pair<Fd, Fd>> make_line();

struct Handover {
  std::string order;  // an encoded StartOrder
  Fd control;         // the attempt's socket for commands, bound already
};
// unavailable when the shim has closed its end: it starts nothing any more.
[[nodiscard]] Status hand_over(int line, const Handover& handover);
// Waits for the next one; an error when the keeper has let go.
[[nodiscard]] Result<Handover> take_over(int line);

}  // namespace drover::agent
