// Ports of a pod for a client: each connection that he makes is a pair of SPDY streams (its bytes,
// and what went wrong with it), and a stream of its own to the node.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kube/spdy/session.h"
#include "kube/stream/limits.h"
#include "kube/stream/node_stream.h"
#include "wire/byte_stream.h"

namespace drover::kube {

class PortForward : public std::enable_shared_from_this<PortForward> {
 public:
  struct Options {
    std::string pod;
    wire::Lane lane;
    std::function<Result<Fd>(std::uint32_t port)>
        reach;  // a connection to the node, which has been asked
    StreamGate gate;
    StreamGate::Pass pass;
  };
  explicit PortForward(Options options);

  // What happens at the client's end; they hold this object.
  [[nodiscard]] wire::ByteHandlers handlers();

 private:
  // One connection; 0: that stream isn't there (any more).
  struct Forward {
    std::uint32_t data = 0;
    std::uint32_t error = 0;
    std::uint32_t port = 0;
    int ticks = 0;
    bool input_over = false;
    std::string early;  // what came before there was a node's stream
    std::shared_ptr<NodeLeash> leash;
    StreamGate::Pass pass;
  };
  using Forwards = std::map<std::string, Forward>;  // by the request's number

  Status opened(std::uint32_t id, const SpdyHeaders& headers);
  void begin(const std::string& request);
  void take(std::string_view bytes);
  void data(std::uint32_t id, std::string_view bytes);
  void input_over(std::uint32_t id);
  void reset(std::uint32_t id);
  void ended(const std::string& request, const std::string& failure);
  void hold_client();
  void client_drained();
  void tick();
  [[nodiscard]] Forwards::iterator by_data(std::uint32_t id);

  Options options_;
  SpdySession spdy_;
  wire::ByteStreamPtr client_;
  Forwards forwards_;
  bool held_ = false;
  int heard_ = 0;  // ticks since the client's last byte
};

}  // namespace drover::kube
