// The agent's life: one thread that steers (steward.h), a WebSocket client beside it that comes back
// after every loss. Losing the controller ends no job.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "agent/pod/pods.h"
#include "agent/runner/runner.h"
#include "agent/session/steward.h"
#include "base/result.h"
#include "domain/node.h"
#include "relay/exchange.h"
#include "wire/socket.h"
#include "wire/websocket.h"

namespace drover::agent {

// What changes from moment to moment on the node, for heartbeats.
struct Pulse {
  std::uint32_t load_centi = 0;
  Bytes memory_free;
};

struct AgentOptions {
  wire::Endpoint controller;
  wire::WebsocketFactory websocket = nullptr;  // for a controller on another machine: TLS
  std::string journal_path;
  std::string node;
  std::string stream_path;  // where clients of steps connect
  std::function<std::string(const std::string& key)> part_path;  // where the process of a step takes them
  std::string hosts_path;  // kept with the names of the cluster's nodes; "": not at all
  relay::Exchange* exchange = nullptr;  // for streams from and to other machines
  std::function<NodeInventory()> inventory;  // read anew at each registration
  std::function<Pulse()> pulse;
  std::function<void(const std::string&)> say;
};

// Runs until `stop_fd` becomes readable. Returns an error only when it can't begin.
[[nodiscard]] Status run_agent(const AgentOptions& options, Runner& runner, Pods& pods, int stop_fd);

}  // namespace drover::agent
