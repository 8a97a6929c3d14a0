#include "native/discovery.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "base/text.h"
#include "native/login.h"
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

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::optional<std::string> follow(const std::string& pointer, uid_t uid) {
  if (!is_safe(folder_of(pointer), uid) || !is_safe(pointer, uid)) return std::nullopt;
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
          .config_home = variable("XDG_CONFIG_HOME"),
          .chosen = variable("DROVER_STATE"),
          .agent = variable("DROVER_AGENT"),
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

std::string login_folder(const Surroundings& at) {
  if (at.config_home.starts_with('/')) return at.config_home + "/drover";
  if (at.home.starts_with('/')) return at.home + "/.config/drover";
  return at.root + "/tmp/drover-" + std::to_string(at.uid) + "/login";
}

Result<std::string> find_state_dir(const Surroundings& at) {
  // A job's $DROVER_STATE may be a folder of the machine that it was submitted on.
  const bool chosen_is_here = !at.chosen.empty() && (file_exists(socket_in(at.chosen)) || is_login(at.chosen));
  if (!chosen_is_here && at.agent.starts_with('/') && file_exists(socket_in(at.agent))) return at.agent;
  if (!at.chosen.empty()) return at.chosen;
  std::optional<std::string> silent;  // a pointer whose controller isn't there at the moment
  for (const std::string& pointer : {pointer_file(at), system_pointer(at)}) {
    const auto path = follow(pointer, at.uid);
    if (path && file_exists(socket_in(*path))) return *path;
    if (path && !silent) silent = path;
  }
  for (const std::string& folder : {default_state_dir(at), system_state(at)}) {
    if (file_exists(socket_in(folder))) return folder;
  }
  if (std::string login = login_folder(at); is_login(login)) return login;
  if (silent) return *silent;
  return Error{Errc::unavailable, "no cluster runs on this machine; start one with `drover up`, name its state folder "
                                  "in DROVER_STATE, or log in to one elsewhere with `drover login`"};
}

Result<std::string> find_state_folder() { return find_state_dir(Surroundings::here()); }

Status write_pointer(const Surroundings& at, const std::string& state_dir) {
  const std::string pointer = pointer_file(at);
  const std::string folder = folder_of(pointer);
  TRY(make_folders(folder, 0755));
  if (!is_safe(folder, at.uid)) return Error{Errc::denied, folder + ": others may write there"};
  return write_file_durably(pointer, state_dir + "\n", 0644);
}

void remove_pointer(const Surroundings& at, const std::string& state_dir) {
  const std::string pointer = pointer_file(at);
  if (follow(pointer, at.uid) == state_dir) static_cast<void>(remove_file(pointer));
}

Result<NodePaths> node_paths(const Surroundings& at, const std::string& state_dir, const std::string& node) {
  char* const whole = ::realpath(state_dir.c_str(), nullptr);
  if (whole == nullptr) return system_error(errno, state_dir);
  // With the folder's own mark, so that a state folder that was thrown away and made anew meets
  // nothing of its past.
  const auto own = read_file(state_dir + "/mark");
  const std::uint64_t hash = fnv1a(own ? *own : std::string(), fnv1a(whole));
  std::free(whole);  // NOLINT(cppcoreguidelines-no-malloc)
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string mark;
  for (int shift = 28; shift >= 0; shift -= 4) mark += kHex[(hash >> static_cast<unsigned>(shift)) & 15U];
  return NodePaths{.folder = folder_of(pointer_file(at)) + "/" + mark + "-" + node,
                   .cgroup_root = "drover/" + mark + "-" + node};
}

}  // namespace drover::native
