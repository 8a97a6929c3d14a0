// From the shim to the job's program: the child enters its cgroups, takes the user's identity,
// opens its files as that user, and executes.
#pragma once

#include <sys/types.h>

#include <string>

#include "agent/cgroup/cgroup.h"
#include "agent/shim/spec.h"
#include "os/fd.h"

namespace drover::agent {

struct Child {
  pid_t pid = -1;
  // Reads a Failure, or ends without one: the program runs.
  Fd outcome;
};

// Where a child failed before its program ran. Plain bytes, written to a pipe at once.
struct Failure {
  enum class Step : std::int32_t { cgroup, limits, identity, input, output, errors, program, box } step = Step::program;
  std::int32_t error = 0;
};
[[nodiscard]] std::string describe_failure(const Failure& failure, const StartSpec& spec);
// What a shell would say: 127 not found, 126 can't be run, 1 for the rest.
[[nodiscard]] int exit_code_of(const Failure& failure);
// The job's own files or program: another node would fail just so.
[[nodiscard]] bool is_own_fault(const Failure& failure);

// After this no program that we or our children execute gains a capability. False: not allowed to.
[[nodiscard]] bool empty_bounding_set();

// Descriptors that take the place of files; -1: the file of the spec.
struct Wiring {
  int in = -1;
  int out = -1;
  int err = -1;
  bool terminal = false;     // `in` is one, and becomes the session's
  bool shared_files = false;  // others write to the same ones: each write goes to the end
  std::string pid_variable;  // set to the child's process id; "": none
};

// `program` is the path to run, or a name to look up; it takes the place of argv[0] for a script.
[[nodiscard]] Result<Child> start_child(const StartSpec& spec, const std::string& program, const Entry& entry,
                                        const Wiring& wiring = {});

}  // namespace drover::agent
