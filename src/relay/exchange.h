// All that a program needs to pass streams between machines.
#pragma once

#include <memory>

#include "relay/dial.h"
#include "relay/door.h"
#include "relay/pump.h"

namespace drover::relay {

struct Exchange {  // ends from the last to the first
  std::unique_ptr<Pump> pump;
  std::unique_ptr<Dialer> dialer;
  std::unique_ptr<Door> door;  // null: only calls others
};

}  // namespace drover::relay
