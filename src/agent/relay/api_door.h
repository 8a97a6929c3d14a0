// The controller's API for programs on this node: a Unix socket in the node's folder. The kernel says who
// calls, the agent vouches for him to the controller, and from then on only passes bytes (docs/adr/0012).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "os/fd.h"
#include "relay/pump.h"
#include "tls/context.h"
#include "wire/http.h"
#include "wire/socket.h"

namespace drover::agent {

struct ApiDoorOptions {
  std::string path;  // of the socket
  wire::Endpoint controller;
  std::shared_ptr<tls::Context> context;
};

class ApiDoor {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ApiDoor>> open(ApiDoorOptions options, relay::Pump& pump);
  ~ApiDoor();
  ApiDoor(const ApiDoor&) = delete;
  ApiDoor& operator=(const ApiDoor&) = delete;

 private:
  ApiDoor(ApiDoorOptions options, relay::Pump& pump, Fd listening, Fd stop);
  void run();
  void welcome(Fd caller);
  [[nodiscard]] Result<tls::Channel> vouched(const wire::Peer::Local& who, std::string& refusal) const;

  const ApiDoorOptions options_;
  relay::Pump& pump_;
  Fd listening_;
  Fd stop_;
  std::atomic<int> opening_{0};  // threads that are on their way to the controller
  std::thread thread_;
};

}  // namespace drover::agent
