// Starts the daemons of a cluster on this machine, starts those that die again (with growing
// pauses), and takes them down. They end cleanly by themselves should their supervisor be killed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace drover::cli {

struct DaemonSpec {
  std::string name;
  std::vector<std::string> argv;
  std::string log;  // receives what it prints
};

class Supervisor {
 public:
  using Say = std::function<void(const std::string& line)>;
  Supervisor(std::vector<DaemonSpec> daemons, Say say);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Notes what ended and starts what is due, at `now` (any clock that never jumps).
  void tend(Duration now);
  // Asks all to end, the last one first; whoever is there after `patience` is killed.
  void stop(Duration patience);

  // A daemon that ended this often before the cluster had answered won't get better by itself.
  [[nodiscard]] const DaemonSpec* hopeless() const;
  [[nodiscard]] int restarts() const;

 private:
  struct Daemon {
    DaemonSpec spec;
    pid_t pid = 0;  // 0: doesn't run
    int ends = 0;   // in a row, each soon after its start
    int restarts = 0;
    Duration started{0};
    Duration due{0};
  };
  void start(Daemon& daemon, Duration now);
  void note_end(Daemon& daemon, int status, Duration now);
  [[nodiscard]] bool any_running();

  std::vector<Daemon> daemons_;
  Say say_;
};

// How long to wait before the nth start in a row.
[[nodiscard]] Duration pause_before(int ends);
// The last lines of a log, to show why a daemon gave up.
[[nodiscard]] std::string tail_of(const std::string& file, std::size_t lines);

}  // namespace drover::cli
