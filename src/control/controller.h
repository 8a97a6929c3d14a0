// The whole controller: store, driver, follower, sessions, service, tied together and taken apart in
// the right order. The application adds the doors.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/service.h"
#include "base/result.h"
#include "control/launch.h"
#include "domain/config.h"
#include "wire/http_server.h"

namespace drover::control {

struct ControllerOptions {
  std::string state_dir;
  std::string version;
  Config config;
  DoorLaunches doors;
  // Told of each durable fact about jobs, with the state after it: for letters and the like. Must not block.
  std::function<void(const Cluster&, const Event&, const std::function<Result<JobSpec>(const PayloadHash&)>&)> notice;
  std::function<void(const std::string&)> say;   // one line for the log of the process
  std::function<void(const std::string&)> fail;  // the process must stop now, and not retry by itself
};

class Controller {
 public:
  // Opens the store, recovers, takes the lead with a new epoch. Refuses with file and reason when the
  // store is damaged, held by another process, or of another format.
  [[nodiscard]] static Result<std::unique_ptr<Controller>> start(ControllerOptions options);
  virtual ~Controller() = default;

  [[nodiscard]] virtual api::Service& service() = 0;
  // An agent's request to open its session.
  virtual void accept_agent(const wire::Request& request, wire::Responder responder) = 0;
  // Ends the session of that node, if it has one over TLS.
  virtual void cut_agent(const std::string& node) = 0;
  // Finishes what was taken, writes a last snapshot. Nothing is answered afterwards.
  virtual void stop() = 0;
};

}  // namespace drover::control
