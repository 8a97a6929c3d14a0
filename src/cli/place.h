// The state folder of a cluster that `drover up` runs, and what lies where in it.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace drover::cli {

class Place {
 public:
  // `state` must be absolute.
  explicit Place(std::string state) : state_(std::move(state)) {}

  [[nodiscard]] const std::string& state() const { return state_; }
  [[nodiscard]] std::string lock() const { return state_ + "/up.lock"; }
  [[nodiscard]] std::string cluster_file() const { return state_ + "/cluster.yaml"; }
  [[nodiscard]] std::string logs() const { return state_ + "/log"; }
  [[nodiscard]] std::string log_of(const std::string& daemon) const { return logs() + "/" + daemon + ".log"; }
  [[nodiscard]] std::string node(const std::string& name) const { return state_ + "/nodes/" + name; }

  // Everybody may pass through the folder itself, since droverd's socket is for all users; what is
  // secret lies in folders of its own.
  [[nodiscard]] Status create() const;

 private:
  std::string state_;
};

// The folder that is meant: as named, else $DROVER_STATE, else this user's default; absolute.
[[nodiscard]] Result<Place> place_for_up(const std::string& named);
// The same for a cluster that should be there already: else the one that discovery finds.
[[nodiscard]] Result<Place> place_of_running(const std::string& named);

// The process that holds the lock of a running `drover up`; 0 when none does.
[[nodiscard]] Result<pid_t> holder_of(const Place& place);

}  // namespace drover::cli
