// As much of an API server as kubectl needs to reach the streams of one pod. For tests.
#pragma once

#include <memory>
#include <string>

#include "kube/stream/serve.h"
#include "kube_stream/played_agent.h"
#include "wire/http_server.h"

namespace drover::kube {

class PlayedApi {
 public:
  explicit PlayedApi(PlayedAgent& agent, bool tls = false, int most_streams = kMostPodStreams);
  [[nodiscard]] wire::Endpoint at() const {
    return wire::Endpoint::tcp("127.0.0.1", server_->port());
  }
  // "http://127.0.0.1:4711"
  [[nodiscard]] std::string url() const;
  [[nodiscard]] int streams() const { return site_.gate.open(); }
  [[nodiscard]] std::size_t connections() const { return server_->connections(); }

 private:
  void handle(const wire::Request& request, const wire::Responder& responder);

  const bool tls_;
  Value pod_;
  StreamSite site_;
  std::unique_ptr<wire::Server> server_;
};

}  // namespace drover::kube
