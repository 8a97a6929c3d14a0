// Where the things of one pod lie on its node.
//   SHORT/record          what the agent must know of it (tmpfs)
//   SHORT/launch          its PodLaunch
//   SHORT/files/VOLUME    config maps, secrets: never on a disk
//   LONG/volumes/VOLUME   its own folders
//   LONG/subpaths/I-J     parts of volumes, as containers mount them
//   LONG/logs/CONTAINER/RUN.log
//   LONG/run/CONTAINER-RUN/message
//   LONG/hosts
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace drover::agent {

struct PodFolder {
  std::string brief;  // on tmpfs
  std::string lasting;

  [[nodiscard]] std::string record() const { return brief + "/record"; }
  [[nodiscard]] std::string launch() const { return brief + "/launch"; }
  [[nodiscard]] std::string files() const { return brief + "/files"; }
  [[nodiscard]] std::string volumes() const { return lasting + "/volumes"; }
  [[nodiscard]] std::string subpaths() const { return lasting + "/subpaths"; }
  [[nodiscard]] std::string logs() const { return lasting + "/logs"; }
  [[nodiscard]] std::string hosts() const { return lasting + "/hosts"; }
  [[nodiscard]] std::string message(const std::string& container, std::uint32_t run) const {
    return lasting + "/run/" + container + "-" + std::to_string(run) + "/message";
  }
  // Below logs().
  [[nodiscard]] static std::string log(const std::string& container, std::uint32_t run) {
    return container + "/" + std::to_string(run) + ".log";
  }
};

// Unmounts what we mounted below `path`, and removes it. With a mount that doesn't go, nothing is removed:
// behind it are somebody's files.
[[nodiscard]] Status remove_with_mounts(const std::string& path);

}  // namespace drover::agent
