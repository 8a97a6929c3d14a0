// The Kubernetes door as droverd opens it: its address, certificates, and who its callers are.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "control/authority.h"
#include "control/controller.h"
#include "kube/rest/server.h"
#include "relay/dial.h"
#include "tls/context.h"
#include "wire/http_server.h"

namespace drover::app {

struct KubeDoorOptions {
  std::string at;         // "host:port"; port 0: any, and the same one after a restart
  std::string state_dir;  // where that port is kept
  std::string host;       // this machine's name
  relay::Dialer* dialer = nullptr;  // to nodes on other machines; null: there are none. Outlives stop()
  std::function<void(const std::string&)> say;
};

class KubeDoor {
 public:
  [[nodiscard]] static Result<std::unique_ptr<KubeDoor>> open(KubeDoorOptions options, control::Authority& authority,
                                                              control::Controller& controller);
  ~KubeDoor();
  KubeDoor(const KubeDoor&) = delete;
  KubeDoor& operator=(const KubeDoor&) = delete;

  [[nodiscard]] std::string address() const;  // "host:port" as clients reach it
  [[nodiscard]] kube::Server& server() { return *kube_; }
  void renew();  // the certificate it shows
  void stop();

 private:
  KubeDoor(KubeDoorOptions options, control::Authority& authority)
      : options_(std::move(options)), authority_(authority) {}
  [[nodiscard]] Status listen();

  KubeDoorOptions options_;
  control::Authority& authority_;
  std::vector<std::string> hosts_;
  std::shared_ptr<tls::Context> context_;
  std::unique_ptr<kube::Server> kube_;
  std::unique_ptr<wire::Server> server_;
  std::atomic<std::uint16_t> port_{0};  // once it listens
};

}  // namespace drover::app
