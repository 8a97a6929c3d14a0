// What the query of a log, exec, attach or port-forward asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "wire/target.h"

namespace drover::kube {

struct LogQuery {
  std::string container;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::int64_t tail = -1;  // -1: all
  std::optional<Duration> since_ago;
  std::optional<Instant> since;
  std::uint64_t most = 0;  // bytes; 0: no bound
};
// An error names the option as Kubernetes does.
[[nodiscard]] Result<LogQuery> parse_log_query(const wire::Target& target);

struct CommandQuery {
  std::string container;
  std::vector<std::string> command;  // empty of an attach
  bool input = false;
  bool output = false;
  bool errors = false;  // never with a terminal: it has one output
  bool terminal = false;
};
[[nodiscard]] Result<CommandQuery> parse_command_query(const wire::Target& target,
                                                       bool needs_command);

}  // namespace drover::kube
