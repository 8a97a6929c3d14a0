// The node's door for streams of pods: a socket of its own, which only root may open (domain/pod_stream.h).
// Each client has a thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/pod/conversation.h"
#include "agent/pod/directory.h"
#include "relay/door.h"

namespace drover::agent {

// How commands get into containers. Called from many threads; each call lasts as long as its stream.
class PodCommands {
 public:
  PodCommands() = default;
  PodCommands(const PodCommands&) = delete;
  PodCommands& operator=(const PodCommands&) = delete;
  virtual ~PodCommands() = default;

  // Both answer the opening themselves, and say how it ended.
  virtual void exec(const PodTarget& target, const PodAttach& wish, Conversation& with) = 0;
  virtual void attach(const PodTarget& target, const PodAttach& wish, Conversation& with) = 0;
};

struct PodStreamOptions {
  std::string path;
  std::shared_ptr<const PodDirectory> directory;
  PodCommands* images = nullptr;  // null: none run here
  PodCommands* host = nullptr;
};

class PodStreams {
 public:
  [[nodiscard]] static Result<std::unique_ptr<PodStreams>> open(PodStreamOptions options);
  PodStreams(const PodStreams&) = delete;
  PodStreams& operator=(const PodStreams&) = delete;
  ~PodStreams();  // ends all of them

  // Somebody from another machine, whose opening asks with a PodAttach; `pump` carries his bytes. From any
  // thread.
  void take(relay::Pump& pump, relay::Arrival arrival);

 private:
  explicit PodStreams(PodStreamOptions options) : options_(std::move(options)) {}
  void admit();
  // False: too many are here.
  bool begin(Fd socket);
  void serve(Fd socket);
  void serve_log(const PodTarget& target, const PodAttach& wish, Conversation& with) const;
  static void serve_port(const PodTarget& target, const PodAttach& wish, Conversation& with);

  PodStreamOptions options_;
  Fd listening_;
  Fd stop_;
  std::atomic<int> visitors_{0};
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::vector<std::thread::id> left_;  // threads that are done
  std::thread door_;
};

}  // namespace drover::agent
