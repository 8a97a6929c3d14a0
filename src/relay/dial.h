// Calls another node on behalf of somebody here: a TLS connection to its agent's door, which has to
// show that node's certificate, opened for one stream that is then carried to and fro.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "relay/opening.h"
#include "relay/pump.h"
#include "tls/context.h"
#include "wire/socket.h"

namespace drover::relay {

struct Target {
  std::string node;     // whose certificate it must be
  std::string address;  // "host:port"; wrong, it leads to nobody of that name
};

// A stream between a plain socket and that target. `refused`: what `plain` is told when there is
// none.
struct Call {
  Fd plain;
  Target target;
  Opening opening;
  std::function<std::string(const Error&)> refused;
};

class Dialer {
 public:
  Dialer(std::shared_ptr<tls::Context> context, Pump& pump);
  ~Dialer();
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  // From any thread; doesn't wait. unavailable: not now, denied: the peer refuses.
  void call(Call call);

 private:
  void look_up(Call call, const wire::Endpoint& at);
  void carry(Call call, Fd connection);

  std::shared_ptr<tls::Context> context_;
  Pump& pump_;
  std::atomic<int> looking_up_{0};  // threads
};

// Notices a peer that is gone without a word, within half a minute.
void keep_alive(int fd);

}  // namespace drover::relay
