// The life of `drover up`: start the daemons, say when the cluster answers, keep them running, take
// everything down. One thread; signals are taken one at a time.
#pragma once

#include <optional>
#include <string>

#include "cli/cluster_file.h"
#include "cli/place.h"
#include "cli/supervisor.h"
#include "cli/table.h"

namespace drover::cli {

// SIGINT and SIGTERM end a cluster with its jobs, this one leaves the jobs to their shims.
inline constexpr int kKeepJobs = 10;  // SIGUSR1

class Runner {
 public:
  // `containerd`: one of the cluster's own, where it needs one.
  Runner(Place place, std::string cluster_path, const ClusterFile& cluster, std::optional<DaemonSpec> containerd,
         bool detached, bool hidden);

  // Once the signals are blocked nothing is lost between here and run().
  static void block_signals();
  // Starts everything and waits until all nodes answer. An error says what went wrong, with the last
  // words of the daemon concerned; then nothing runs.
  Status start();
  // What `drover up` shows once the cluster answers.
  [[nodiscard]] std::string welcome(bool hidden) const;
  // Until a signal asks for the end, and everything is down.
  void run();

 private:
  // The signal that came, or 0 when only time has passed or a child has ended.
  static int wait_for_signal(Duration patience);
  [[nodiscard]] bool all_answer() const;
  [[nodiscard]] Status prepare_pods() const;
  void take_down(bool keep_jobs);
  void end_jobs();
  void end_keepers();
  void say(const std::string& line) const;

  Place place_;
  std::string cluster_path_;
  std::vector<std::string> names_;
  Duration grace_;
  Ink ink_;
  bool own_containerd_;
  Supervisor supervisor_;
};

}  // namespace drover::cli
