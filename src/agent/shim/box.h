// A process of a pod over the machine's own root: in namespaces of its own, with the pod's volumes, and
// with what it prints written as containers' logs are.
#pragma once

#include <functional>

#include "agent/shim/spec.h"

namespace drover::agent {

// In a child of the shim, inside its cgroups and still with root's rights: makes the box, and stays as the
// writer of its log until the program has ended; then leaves with its exit, 128 + the signal that ended it.
// `program` runs in a grandchild with the outputs on 1 and 2, and must not return. `fail` says why there is
// no box, and doesn't return either; `let_go` drops what only the program may hold.
struct BoxSteps {
  std::function<void()> program;
  std::function<void(int error)> fail;
  std::function<void()> let_go;
};
[[noreturn]] void run_in_box(const Box& box, const BoxSteps& steps);

}  // namespace drover::agent
