// The least that starting a job can cost here: a loop that makes a job's cgroup directories, starts
// /bin/true in them with an output file, waits, and removes them. No records, nobody told.
#pragma once

namespace drover::bench {

// As many workers as the machine has CPUs, for about a second; starts a second in all. 0: no cgroups here.
[[nodiscard]] double bare_starts_a_second();

}  // namespace drover::bench
