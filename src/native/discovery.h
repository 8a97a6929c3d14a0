// How a command finds the cluster of its machine: the one place that knows the paths.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace drover::native {

// What the paths depend on.
struct Surroundings {
  uid_t uid = 0;
  std::string home;          // $HOME
  std::string state_home;    // $XDG_STATE_HOME
  std::string runtime_dir;   // $XDG_RUNTIME_DIR
  std::string config_home = {};  // $XDG_CONFIG_HOME
  std::string chosen;        // $DROVER_STATE: a state folder, which then is the only one asked
  std::string agent = {};    // $DROVER_AGENT: the folder of this node's agent, which may pass questions on
  std::string root;          // in front of every system path; for tests

  [[nodiscard]] static Surroundings here();
};

// Where a cluster that this user starts keeps its state.
[[nodiscard]] std::string default_state_dir(const Surroundings& at);
// The file in which a cluster that this user starts leaves the path of its state folder.
[[nodiscard]] std::string pointer_file(const Surroundings& at);
// Where a login to a cluster elsewhere is kept (native/login.h), unless its user says another folder.
[[nodiscard]] std::string login_folder(const Surroundings& at);
// The state folder of the cluster to talk to: the chosen one, the agent's (its socket speaks for a controller
// elsewhere), the user's own, the machine's, and where none is here, that of the user's login.
// A pointer that somebody else could have written is not followed.
[[nodiscard]] Result<std::string> find_state_dir(const Surroundings& at);

// The same for this process and its environment.
[[nodiscard]] Result<std::string> find_state_folder();

// Leaves the path in the pointer file, whole or not at all; refuses a place that others may write.
[[nodiscard]] Status write_pointer(const Surroundings& at, const std::string& state_dir);
// Takes the pointer away if it still leads there.
void remove_pointer(const Surroundings& at, const std::string& state_dir);

// Where the agent of a node with this state folder keeps what must outlive it but not the machine: on
// tmpfs where there is one. The name comes from the folder, so that two clusters never meet, and is
// short enough for sockets.
struct NodePaths {
  std::string folder;
  std::string cgroup_root;
};
[[nodiscard]] Result<NodePaths> node_paths(const Surroundings& at, const std::string& state_dir,
                                           const std::string& node);

inline constexpr std::string_view kSocketName = "droverd.sock";
[[nodiscard]] inline std::string socket_in(const std::string& state_dir) {
  return state_dir + "/" + std::string(kSocketName);
}
// Beside it, in a node's folder or the controller's: where clients of steps connect.
[[nodiscard]] inline std::string streams_in(const std::string& folder) { return folder + "/stream"; }

}  // namespace drover::native
