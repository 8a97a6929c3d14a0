#include "cli/keepers.h"

#include <sys/types.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/text.h"
#include "native/discovery.h"
#include "os/clock.h"
#include "os/file.h"

namespace drover::cli {
namespace {

// The runtime folders of the nodes; an agent's keeper has its own on its command line.
std::vector<std::string> folders_of(const Place& place, const std::vector<std::string>& nodes) {
  std::vector<std::string> folders;
  for (const std::string& node : nodes) {
    const auto paths = native::node_paths(native::Surroundings::here(), place.node(node), node);
    if (paths) folders.push_back(paths->folder + "/");
  }
  return folders;
}

// Shims have the command line of the keeper that forked them.
bool belongs(const std::string& command_line, const std::vector<std::string>& folders) {
  const auto words = split(command_line, '\0');
  if (words.empty() || !words[0].ends_with("drover-shim")) return false;
  return std::ranges::any_of(words, [&](std::string_view word) {
    return std::ranges::any_of(folders, [&](const std::string& folder) { return word.starts_with(folder); });
  });
}

std::vector<pid_t> processes_of(const std::vector<std::string>& folders) {
  std::vector<pid_t> found;
  const auto entries = list_folder("/proc");
  if (!entries) return found;
  for (const std::string& entry : *entries) {
    const auto pid = parse_int(entry);
    if (!pid) continue;
    const auto command_line = read_file("/proc/" + entry + "/cmdline");
    if (command_line && belongs(*command_line, folders)) found.push_back(static_cast<pid_t>(*pid));
  }
  return found;
}

}  // namespace

int end_keepers_of(const Place& place, const std::vector<std::string>& nodes, Duration patience) {
  const std::vector<std::string> folders = folders_of(place, nodes);
  std::vector<pid_t> left = processes_of(folders);
  for (const pid_t pid : left) ::kill(pid, SIGTERM);
  const Duration end = since_boot() + patience;
  while (!left.empty() && since_boot() < end) {
    std::this_thread::sleep_for(Duration(20));
    left = processes_of(folders);
  }
  if (left.empty()) {
    // Nothing runs, and what ended has been reported: the next start begins with a clean slate.
    std::error_code ignored;
    for (const std::string& folder : folders) std::filesystem::remove_all(folder, ignored);
  }
  return static_cast<int>(left.size());
}

}  // namespace drover::cli
