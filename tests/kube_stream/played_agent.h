// A node's agent as far as streams of pods go: runs commands on this machine for real, connects to
// its ports, and makes up logs. For tests; a thread for each stream.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "domain/pod_stream.h"
#include "os/fd.h"
#include "os/temp_folder.h"

namespace drover::kube {

class PlayedAgent {
 public:
  PlayedAgent();
  ~PlayedAgent();
  PlayedAgent(const PlayedAgent&) = delete;
  PlayedAgent& operator=(const PlayedAgent&) = delete;

  // A connection that has been asked, as StreamSite::reach gives it.
  [[nodiscard]] Result<Fd> reach(const PodAttach& ask) const;
  [[nodiscard]] std::vector<PodAttach> asked() const;
  [[nodiscard]] int open() const { return open_; }
  [[nodiscard]] std::size_t said() const { return said_; }  // bytes of the endless log

 private:
  void accept();
  void serve(Fd client);
  void log(int client, const PodAttach& ask);

  TempFolder folder_;
  Fd listening_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> open_{0};
  std::atomic<std::size_t> said_{0};
  mutable std::mutex mutex_;
  std::vector<PodAttach> asked_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// A TCP server on this machine that sends back what comes, with a thread for each connection.
class EchoPort {
 public:
  EchoPort();
  ~EchoPort();
  [[nodiscard]] int port() const { return port_; }

 private:
  Fd listening_;
  int port_ = 0;
  std::thread acceptor_;
};

}  // namespace drover::kube
