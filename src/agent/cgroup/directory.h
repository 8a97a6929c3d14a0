// Small moves on cgroup directories that both branches share.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::agent {

[[nodiscard]] Status write_value(const std::string& file, std::string_view value);
// The number of the line "key number", or the only number of the file for key "". 0 when missing.
[[nodiscard]] std::int64_t read_number(const std::string& file, std::string_view key = "");
[[nodiscard]] std::vector<pid_t> read_pids(const std::string& file);
// False when it was there already.
[[nodiscard]] Result<bool> make_group(const std::string& path);
// Groups directly below, by name.
[[nodiscard]] std::vector<std::string> groups_below(const std::string& path);
// The processes of a group and of all groups below it.
[[nodiscard]] std::vector<pid_t> read_pids_below(const std::string& path);
// Looks every millisecond, for twenty at most: a process in the kernel may take longer than one waits.
void wait_until(const std::function<bool()>& ready);
// A group that has just become empty may be busy for a moment.
[[nodiscard]] Status remove_group(const std::string& path);
[[nodiscard]] std::string cpu_list(const std::vector<std::int32_t>& cpus);
// "0-3,8" -> {0, 1, 2, 3, 8}
[[nodiscard]] std::vector<std::int32_t> parse_cpu_list(std::string_view text);
// Read once, so before forks.
[[nodiscard]] const std::vector<std::int32_t>& online_cpus();
// Why these CPUs can't be the job's own on this machine, or "".
[[nodiscard]] std::string why_not_confined(const std::vector<std::int32_t>& cpus);
// The note for a limit whose controller is missing: "Memory isn't limited: ...".
[[nodiscard]] std::string not_offered(std::string_view what);

}  // namespace drover::agent
