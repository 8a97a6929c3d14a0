// The stream of one container, between the controller and the agent of its node: its log, a command run
// in it, or its own input and output. An agent has a door for them beside that of steps (pod_stream_path),
// which only root on the node may open; from another machine the controller's certificate is asked for.
// It takes one framed PodAttach (base/resume.h: frame), answers with one framed PodAttached, and from then
// on each frame is one PodUp or PodDown. A connection that breaks is over: nobody takes it up again. Who
// may see a pod is the controller's business.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/describe.h"
#include "base/time.h"
#include "domain/exit_status.h"
#include "domain/ids.h"

namespace drover {

// Beside the door that NodeInventory::stream_path names.
[[nodiscard]] inline std::string pod_stream_path(const std::string& stream_path) { return stream_path + "-pods"; }

enum class PodStreamKind : std::uint8_t { log, exec, attach, port };
[[nodiscard]] constexpr std::string_view word(PodStreamKind k) {
  switch (k) {
    case PodStreamKind::log: return "log";
    case PodStreamKind::exec: return "exec";
    case PodStreamKind::attach: return "attach";
    case PodStreamKind::port: return "port";
  }
  return "";
}

struct PodAttach {
  JobId job;
  std::uint32_t attempt = 0;
  std::string container;
  PodStreamKind kind = PodStreamKind::log;
  // log
  bool follow = false;
  bool previous = false;    // of the run before the last restart
  bool timestamps = false;
  std::int64_t tail = -1;   // lines from the end; -1: all
  Instant since;            // Instant{}: from the beginning
  std::uint64_t most = 0;   // bytes; 0: no bound
  // exec
  std::vector<std::string> command;
  bool input = false;
  bool terminal = false;
  // port
  std::uint32_t port = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "container", self.container);
    visit(4, "kind", self.kind);
    visit(5, "follow", self.follow);
    visit(6, "previous", self.previous);
    visit(7, "timestamps", self.timestamps);
    visit(8, "tail", self.tail);
    visit(9, "since", self.since);
    visit(10, "most", self.most);
    visit(11, "command", self.command);
    visit(12, "input", self.input);
    visit(13, "terminal", self.terminal);
    visit(14, "port", self.port);
  }
};
struct PodAttached {  // with `error` the connection is over
  std::string error;
  bool missing = false;  // no such container, or no such log: not found rather than bad
  bool away = false;     // nobody was reached who knows: perhaps later
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "error", self.error);
    visit(2, "missing", self.missing);
    visit(3, "away", self.away);
  }
};

// ---- controller -> agent ----
struct PodInput {
  std::string bytes;
  bool last = false;  // the end of input; `bytes` is empty then
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "bytes", self.bytes);
    visit(2, "last", self.last);
  }
};
struct PodResize {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "rows", self.rows);
    visit(2, "columns", self.columns);
  }
};
using PodUp = std::variant<PodInput, PodResize>;

// ---- agent -> controller ----
struct PodOutput {
  bool error = false;  // of the standard error
  std::string bytes;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "error", self.error);
    visit(2, "bytes", self.bytes);
  }
};
struct PodStreamEnded {  // the last frame; of a command with its exit
  ExitStatus exit;
  std::string failure;  // why the command didn't start, or the stream broke; "": nothing of the kind
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "exit", self.exit);
    visit(2, "failure", self.failure);
  }
};
using PodDown = std::variant<PodOutput, PodStreamEnded>;

}  // namespace drover
