// What streams may know of pods, from any thread: the agent's own writes it after each of its turns.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace drover::agent {

struct PodTarget {
  std::string id;            // the runtime's, of the present run; "" there is none
  std::string log;           // of the present or last run
  std::string previous_log;  // of the one before; "" none
  std::string address;       // where its ports are reached
  bool running = false;
  bool terminal = false;
  bool input = false;
  bool host = false;         // a process of the host, not in a container runtime
  friend bool operator==(const PodTarget&, const PodTarget&) = default;
};

class PodDirectory {
 public:
  using Targets = std::map<std::pair<std::string, std::string>, PodTarget>;  // by pod ("17.1") and container

  void put(Targets targets) {
    const std::lock_guard lock(mutex_);
    targets_ = std::move(targets);
  }
  [[nodiscard]] std::optional<PodTarget> find(const std::string& pod, const std::string& container) const {
    const std::lock_guard lock(mutex_);
    const auto found = targets_.find({pod, container});
    return found == targets_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  mutable std::mutex mutex_;
  Targets targets_;
};

}  // namespace drover::agent
