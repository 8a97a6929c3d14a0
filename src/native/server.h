// drover's own HTTP API over api::Service: JSON for people and programs, protobuf and compact rows for
// drover's commands (docs: every address answers in the form that `Accept` names).
//
//   GET  /v1/ping  /v1/status  /v1/nodes  /v1/partitions
//   GET  /v1/jobs?user=&name=&partition=&account=&qos=&node=&phase=&id=&fields=&limit=
//   POST /v1/jobs/list                    a JobQuery
//   GET  /v1/jobs/ID  /v1/jobs/ID/wait?patience_ms=  /v1/jobs/ID/script  /v1/jobs/ID/environment
//   GET  /v1/history?job=&user=&name=&account=&partition=&qos=&node=&waiting=&running=&ended_as=&since_ms=&
//                    until_ms=&all_attempts=&limit=
//   POST /v1/history/list                 a HistoryQuery
//   POST /v1/commands  /v1/plan           a Wish; the header Idempotency-Key serves for its key
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "api/service.h"
#include "base/result.h"
#include "wire/http_server.h"

namespace drover::native {

// Who calls, from what the connection says; denied when it says nothing.
using Identify = std::function<Result<Caller>(const wire::Peer&)>;
// The user and group of a caller on a Unix socket, names looked up once in a while.
[[nodiscard]] Identify identify_local();
// Who a certificate names, as this machine knows him now. Denied when the uid is somebody else's by now.
[[nodiscard]] Result<Caller> identify_named(std::uint32_t uid, const std::string& name);

struct ServerLimits {
  Duration max_patience = minutes(10);           // of a wait
  std::size_t max_lists = 512U << 20U;           // bytes of all lists on their way; beyond: 503
};

class Server {
 public:
  Server(api::Service& service, Identify identify, ServerLimits limits = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Is this request for us? Others may share the socket.
  [[nodiscard]] static bool serves(const wire::Request& request);
  // From any thread.
  void handle(wire::Request&& request, const wire::Responder& responder) const;

 private:
  class Routes;
  std::shared_ptr<Routes> routes_;
};

}  // namespace drover::native
