// The port behind which attempts run: real processes, or played ones.
#pragma once

#include <string>
#include <vector>

#include "agent/shim/spec.h"
#include "agent/step/spec.h"
#include "base/result.h"

namespace drover::agent {

class Driver {
 public:
  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  virtual ~Driver() = default;

  // Success means that the attempt is known from now on; how it goes comes with changes(), also
  // when it can't start. conflict: there is an attempt of this key, in whatever state.
  [[nodiscard]] virtual Status start(const std::string& key, const StartSpec& spec) = 0;
  // The same for a node's part of a step; its key is that of its job's attempt and its number ("17.1.0").
  [[nodiscard]] virtual Status start_part(const std::string& key, const PartSpec& spec) = 0;
  // To a starting or running attempt; an ended one doesn't mind. Terminate also settles an unknown
  // one: what is left of it is killed, and it ends as lost.
  [[nodiscard]] virtual Status tell(const std::string& key, const Command& command) = 0;
  // An ended attempt's records go. conflict when it hasn't ended; unavailable when a client may still
  // want the last words of a step, which is over within a minute.
  [[nodiscard]] virtual Status forget(const std::string& key) = 0;

  // All attempts, looked at anew: also tells from the world what nobody reported (to be called now
  // and then, say every ten seconds).
  [[nodiscard]] virtual std::vector<Attempt> list() = 0;
  // Attempts whose state changed since the last call; never waits.
  [[nodiscard]] virtual std::vector<Attempt> changes() = 0;
  // Readable when changes() may have something; -1 when only time tells.
  [[nodiscard]] virtual int wake_fd() const = 0;
};

}  // namespace drover::agent
