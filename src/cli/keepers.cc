#include "cli/keepers.h"

#include <sys/types.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"

namespace drover::cli {
namespace {

// A process of drover-shim that was started for a folder inside the state folder. Shims have the
// command line of the keeper that forked them.
bool belongs(const std::string& command_line, const std::string& inside) {
  const auto words = split(command_line, '\0');
  if (words.empty() || !(words[0] == "drover-shim" || words[0].ends_with("/drover-shim"))) return false;
  return std::ranges::any_of(words, [&](std::string_view word) { return word.starts_with(inside); });
}

std::vector<pid_t> processes_of(const Place& place) {
  std::vector<pid_t> found;
  const auto entries = list_folder("/proc");
  if (!entries) return found;
  for (const std::string& entry : *entries) {
    const auto pid = parse_int(entry);
    if (!pid) continue;
    const auto command_line = read_file("/proc/" + entry + "/cmdline");
    if (command_line && belongs(*command_line, place.state() + "/")) found.push_back(static_cast<pid_t>(*pid));
  }
  return found;
}

}  // namespace

int end_keepers_of(const Place& place, Duration patience) {
  for (const pid_t pid : processes_of(place)) ::kill(pid, SIGTERM);
  const Duration end = since_boot() + patience;
  std::vector<pid_t> left = processes_of(place);
  while (!left.empty() && since_boot() < end) {
    std::this_thread::sleep_for(Duration(50));
    left = processes_of(place);
  }
  return static_cast<int>(left.size());
}

}  // namespace drover::cli
