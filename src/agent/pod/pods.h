// All pods of a node. Steered by the agent's steward; everything happens on its thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/pod/directory.h"
#include "agent/pod/pod.h"
#include "domain/session.h"

namespace drover::agent {

class Pods {
 public:
  // Takes up what an earlier agent left, once start() has been called.
  explicit Pods(PodSite site);

  // Where reports go; until then nothing moves.
  struct Ears {
    std::function<void(const NeedPod&)> need;
    std::function<void(ReportBody)> report;
    std::function<void(PodNotes)> note;
    std::function<void(const std::string&)> say;
  };
  void start(Ears ears);

  void want(JobId job, std::uint32_t attempt, const Launch& launch);
  [[nodiscard]] bool has(const std::string& key) const { return pods_.contains(key); }
  [[nodiscard]] bool is_over(const std::string& key) const;
  void on_body(const PodBody& body);
  // Of an attempt that is no job's or step's.
  void on_attempt(const Attempt& attempt) {
    if (site_.host_attempt) site_.host_attempt(attempt);
  }
  void end(const std::string& key, drover::Cause cause, Duration grace);
  // Conflict when it isn't over.
  [[nodiscard]] Status forget(const std::string& key);
  [[nodiscard]] std::vector<HeldAttempt> held() const;
  // Whether something is likely to change within a second.
  [[nodiscard]] bool lively() const;
  void report_all();
  void turn();
  // The devices of pods that aren't over, by pod.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> devices() const;
  [[nodiscard]] const Pod* find(const std::string& key) const;
  // For streams; kept up to date by turn().
  [[nodiscard]] std::shared_ptr<const PodDirectory> directory() const { return directory_; }
  // Readable when turn() has something to do.
  [[nodiscard]] int wake_fd() const { return site_.workers->fd(); }

 private:
  void take_up();
  void look_at(Runtime* runtime);
  void tend_logs();
  void write_directory();

  PodSite site_;
  std::map<std::string, std::shared_ptr<Pod>> pods_;
  Duration looked_{};
  Duration swept_{};
  Duration logs_{};
  std::map<Runtime*, bool> looking_;
  bool started_ = false;
  std::shared_ptr<PodDirectory> directory_ = std::make_shared<PodDirectory>();
};

}  // namespace drover::agent
