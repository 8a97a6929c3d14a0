#include "kube_stream/played_api.h"

#include <csignal>

#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/stream/refusal.h"
#include "os/clock.h"
#include "tls/certificate.h"
#include "tls/context.h"
#include "tls/transport.h"

namespace drover::kube {
namespace {

constexpr std::string_view kPod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default","uid":"u1"},
 "spec":{"nodeName":"n1","containers":[{"name":"main","image":"i","stdin":true,"tty":false},
   {"name":"absent","image":"i"},{"name":"mute","image":"i"},{"name":"endless","image":"i"},{"name":"broken","image":"i"},
   {"name":"waiting","image":"i"}]},
 "status":{"phase":"Running","containerStatuses":[
   {"name":"main","ready":true,"state":{"running":{}},"lastState":{"terminated":{"exitCode":1}}},
   {"name":"absent","state":{"running":{}}},{"name":"mute","state":{"running":{}}},
   {"name":"endless","state":{"running":{}}},{"name":"broken","state":{"running":{}}},
   {"name":"waiting","state":{"waiting":{"reason":"ContainerCreating"}}}]}})";

constexpr std::string_view kVersions = R"({"kind":"APIVersions","versions":["v1"]})";
constexpr std::string_view kGroups = R"({"kind":"APIGroupList","apiVersion":"v1","groups":[]})";
constexpr std::string_view kResources =
    R"({"kind":"APIResourceList","groupVersion":"v1","resources":[
 {"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list","create"],"shortNames":["po"]}]})";
constexpr std::string_view kVersion = R"({"major":"1","minor":"33","gitVersion":"v1.33.0"})";

wire::TransportFactory tls_transport() {
  const tls::Validity valid{wall_now() - minutes(5), wall_now() + minutes(60)};
  const auto authority = tls::make_authority("c1", valid).value();
  const std::string key = tls::make_key().value();
  const tls::Identity who{.kind = tls::Identity::Kind::controller, .cluster = "c1"};
  const std::string own = tls::sign_request(authority, tls::make_request(key).value(), who,
                                            {"localhost", "127.0.0.1"}, valid)
                              .value();
  return tls::server_transport(
      tls::Context::make(tls::Context::Side::server,
                         {.authority = authority.certificate, .certificate = own, .key = key},
                         {.cluster = "c1"})
          .value(),
      nullptr);
}

}  // namespace

PlayedApi::PlayedApi(PlayedAgent& agent, bool tls, int most_streams)
    : tls_(tls),
      pod_(parse(kPod).value()),
      site_{
          .reach = [&agent](const std::string&, const PodAttach& ask) { return agent.reach(ask); },
          .now = wall_now,
          .gate = StreamGate(most_streams)} {
  ::signal(SIGPIPE, SIG_IGN);
  wire::ServerOptions options;
  options.at = wire::Endpoint::tcp("127.0.0.1", 0);
  options.threads = 2;
  if (tls) options.transport = tls_transport();
  server_ = wire::Server::start(options, [this](wire::Request&& request,
                                                const wire::Responder& responder) {
              handle(request, responder);
            }).value();
}

std::string PlayedApi::url() const {
  return (tls_ ? "https" : "http") + std::string("://127.0.0.1:") + std::to_string(server_->port());
}

void PlayedApi::handle(const wire::Request& request, const wire::Responder& responder) {
  const auto target = wire::parse_target(request.target);
  std::string path;
  if (target) {
    for (const std::string& part : target->path) path += "/" + part;
  }
  const auto say = [&](std::string_view json) {
    responder.answer({.status = 200,
                      .content_type = "application/json",
                      .body = wire::bytes(std::string(json)),
                      .headers = {}});
  };
  const std::string pod = "/api/v1/namespaces/default/pods/p";
  if (path == "/api") return say(kVersions);
  if (path == "/apis") return say(kGroups);
  if (path == "/api/v1") return say(kResources);
  if (path == "/version") return say(kVersion);
  if (path == pod) return say(print(pod_));
  if (!path.starts_with(pod + "/")) {
    responder.answer(answer_of({.code = 404, .reason = "NotFound", .message = "no such path"}));
    return;
  }
  const std::string subresource = path.substr(pod.size() + 1);
  serve_stream(site_,
               {.request = request,
                .target = *target,
                .subresource = subresource,
                .pod = pod_,
                .job = JobId(7),
                .attempt = 1,
                .node = "n1"},
               responder);
}

}  // namespace drover::kube
