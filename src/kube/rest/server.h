// The Kubernetes door: an API server over the cluster. Requests come in from wire, reads are answered from
// the read model, writes become wishes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api/service.h"
#include "domain/session.h"
#include "kube/controller/janitor.h"
#include "kube/rest/ask.h"
#include "kube/rest/events.h"
#include "kube/rest/reader.h"
#include "kube/rest/watch.h"
#include "kube/store/feed.h"
#include "kube/store/store.h"
#include "wire/http_server.h"

namespace drover::kube {

struct ServerOptions {
  Identify identify;
  std::function<std::string()> address;  // host:port as clients reach it
  std::function<Instant()> now;
  std::function<void(const std::string&)> say;
  // For streams of pods: see StreamSite. Null: there are none.
  std::function<Result<Fd>(const std::string& node, const PodAttach& ask)> reach = nullptr;
  TokenKeys keys = {};
  std::string authority = {};  // the certificate by which clients know the door, PEM; for pods
};

class Server {
 public:
  Server(api::Service& service, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Reads the cluster and makes the namespaces that there always are. Answers from then on.
  void start();
  // Ends watches; nothing is asked of the cluster any more.
  void stop();
  // From any thread.
  void handle(wire::Request&& request, const wire::Responder& responder);
  // What a node needs to run a pod; for control's DoorPod.
  [[nodiscard]] Result<PodLaunch> launch(const Cluster& cluster, const Job& job, const NodeShare& share) const;

 private:
  // The answer of a path that is the same for everybody.
  struct Fixed {
    std::optional<Value> value;  // none: there is no such group or version
    bool aggregated = false;
  };
  [[nodiscard]] std::optional<Fixed> fixed(const wire::Target& target, Discovery discovery) const;
  void serve(wire::Request&& request, const wire::Target& target, const User& user, const wire::Responder& responder);
  void dispatch(Ask ask, const wire::Responder& responder);
  void write(Ask ask, const wire::Responder& responder);
  void write_ephemeral(const Ask& ask, const wire::Responder& responder);
  void remove_collection(const Ask& ask, const wire::Responder& responder);
  void subresource(const Ask& ask, const wire::Responder& responder);
  [[nodiscard]] bool serve_fixed(const wire::Request& request, const wire::Target& target,
                                 const wire::Responder& responder) const;
  [[nodiscard]] bool serve_made(const wire::Target& target, Discovery discovery,
                                const wire::Responder& responder) const;
  void make_namespaces();
  [[nodiscard]] bool lacks_namespace(const User& user) const;
  void hear(const std::vector<std::string>& nodes);

  const ServerOptions options_;
  static constexpr Duration kSweepEvery = seconds(10);
  Instant swept_;  // when old events were last looked for; of the follower's thread
  mutable std::mutex made_mutex_;
  mutable std::map<std::string, wire::Answer> made_;  // by form and path
  Store store_;
  Context context_;
  Ephemera ephemera_;
  Feed feed_;
  Watches watches_;
  Reader reader_;
  Janitor janitor_;
};

}  // namespace drover::kube
