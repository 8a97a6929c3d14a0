// Starting a helper program, and facts about this boot of this machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace drover {

// Starts argv[0] (a path) in a session of its own with /dev/null as input and output, without
// copying this process's memory; `log` receives standard error when given.
[[nodiscard]] Result<pid_t> spawn(const std::vector<std::string>& argv, const std::string& log = "");
// The same for a program that speaks with us: its input and output are the other end of what is
// returned (non-blocking). It is nobody's child: it ends by itself when that is closed.
[[nodiscard]] Result<Fd> spawn_connected(const std::vector<std::string>& argv);
// Waits for a child and returns its exit code, or 128 + the signal that ended it.
[[nodiscard]] Result<int> wait_for(pid_t child);

// Changes with every boot; nothing that ran under another id runs now.
[[nodiscard]] std::string boot_id();
// The folder of the running program, with programs that were installed beside it.
[[nodiscard]] std::string program_folder();

}  // namespace drover
