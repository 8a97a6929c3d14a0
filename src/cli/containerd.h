// A containerd of the cluster's own, for a machine on which none runs: its images and containers lie below
// the state folder, what lives beside it on tmpfs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/place.h"
#include "cli/supervisor.h"

namespace drover::cli {

inline constexpr const char* kMachinesContainerd = "/run/containerd/containerd.sock";

// Where the cluster's own listens, whether or not it runs.
[[nodiscard]] Result<std::string> own_containerd(const Place& place);
// The socket that pods' containers are run with here: the cluster's own where it is, else the machine's.
// not_found: there is neither.
[[nodiscard]] Result<std::string> find_containerd(const Place& place);

// Writes its configuration; the daemon to supervise. denied: not root; not_found: it isn't installed.
[[nodiscard]] Result<DaemonSpec> prepare_containerd(const Place& place);
// Loads the image of pods' sandboxes once the socket answers.
[[nodiscard]] Status load_sandbox_image(const std::string& socket, const std::string& log);

}  // namespace drover::cli
