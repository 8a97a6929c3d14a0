#include "native/discovery.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "os/file.h"

namespace drover::native {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Only its owner can write there, and he is this user or root.
bool is_safe(const std::string& path, uid_t uid) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return false;
  return (info.st_uid == uid || info.st_uid == 0) && (info.st_mode & 022U) == 0 && !S_ISLNK(info.st_mode);
}

std::optional<std::string> follow(const std::string& pointer, uid_t uid) {
  const std::string folder = pointer.substr(0, pointer.rfind('/'));
  if (!is_safe(folder, uid) || !is_safe(pointer, uid)) return std::nullopt;
  const auto text = read_file(pointer);
  if (!text) return std::nullopt;
  const std::string_view path = trim(*text);
  if (!path.starts_with('/')) return std::nullopt;
  return std::string(path);
}

std::string system_pointer(const Surroundings& at) { return at.root + "/run/drover/state"; }
std::string system_state(const Surroundings& at) { return at.root + "/var/lib/drover"; }

}  // namespace

Surroundings Surroundings::here() {
  return {.uid = ::geteuid(),
          .home = variable("HOME"),
          .state_home = variable("XDG_STATE_HOME"),
          .runtime_dir = variable("XDG_RUNTIME_DIR"),
          .chosen = variable("DROVER_STATE"),
          .root = ""};
}

std::string default_state_dir(const Surroundings& at) {
  if (at.uid == 0) return system_state(at);
  if (at.state_home.starts_with('/')) return at.state_home + "/drover";
  if (at.home.starts_with('/')) return at.home + "/.local/state/drover";
  return at.root + "/tmp/drover-" + std::to_string(at.uid) + "/cluster";
}

std::string pointer_file(const Surroundings& at) {
  if (at.uid == 0) return system_pointer(at);
  if (at.runtime_dir.starts_with('/')) return at.runtime_dir + "/drover/state";
  return at.root + "/tmp/drover-" + std::to_string(at.uid) + "/state";
}

Result<std::string> find_state_dir(const Surroundings& at) {
  if (!at.chosen.empty()) return at.chosen;
  for (const std::string& pointer : {pointer_file(at), system_pointer(at)}) {
    const auto path = follow(pointer, at.uid);
    if (path && file_exists(socket_in(*path))) return *path;
  }
  for (const std::string& folder : {default_state_dir(at), system_state(at)}) {
    if (file_exists(socket_in(folder))) return folder;
  }
  return Error{Errc::unavailable, "no cluster runs on this machine; start one with `drover up`, "
                                  "or name its state folder in DROVER_STATE"};
}

}  // namespace drover::native
