// The way to steps on other machines from the controller's own: who is on it has no agent to pass
// his stream on, or one without a certificate. The kernel names him, and a node's agent takes the
// controller's word for it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "api/service.h"
#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"
#include "relay/attach.h"
#include "relay/exchange.h"

namespace drover::control {

class StepRelay {
 public:
  // `path`: the socket; `exchange` and `service` outlive it.
  [[nodiscard]] static Result<std::unique_ptr<StepRelay>> open(const std::string& path,
                                                               api::Service& service,
                                                               relay::Exchange& exchange);
  ~StepRelay();
  // A stream of somebody who has proved to be that uid: what he asked is on its way. From any thread.
  [[nodiscard]] Result<Fd> reach(const StepAttach& wish, std::uint32_t uid);
  StepRelay(const StepRelay&) = delete;
  StepRelay& operator=(const StepRelay&) = delete;

 private:
  StepRelay(api::Service& service, relay::Exchange& exchange, Fd stop)
      : service_(service), exchange_(exchange), stop_(std::move(stop)) {}
  void run();
  void take(relay::Caller caller);
  void call(relay::Caller caller, relay::Target target);
  [[nodiscard]] Result<relay::Target> find(const std::string& node);

  api::Service& service_;
  relay::Exchange& exchange_;
  Fd stop_;
  std::unique_ptr<relay::Reception> reception_;
  std::mutex mutex_;
  std::map<std::string, std::string> addresses_;  // of the nodes' doors, as of looked_
  Duration looked_{-seconds(60)};
  std::thread thread_;
};

}  // namespace drover::control
