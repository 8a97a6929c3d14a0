#include "kube/stream/serve.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "kube/stream/console.h"
#include "kube/stream/container.h"
#include "kube/stream/log.h"
#include "kube/stream/port_forward.h"
#include "kube/stream/protocol.h"
#include "kube/stream/query.h"
#include "kube/stream/refusal.h"
#include "kube/stream/tunnel.h"

namespace drover::kube {
namespace {

constexpr std::array<std::string_view, 2> kChannelProtocols{"v5.channel.k8s.io",
                                                            "v4.channel.k8s.io"};
constexpr std::array<std::string_view, 4> kSpdyProtocols{"v4.channel.k8s.io", "v3.channel.k8s.io",
                                                         "v2.channel.k8s.io", "channel.k8s.io"};
constexpr std::array<std::string_view, 1> kTunnelProtocols{"SPDY/3.1+portforward.k8s.io"};
constexpr std::array<std::string_view, 1> kForwardProtocols{"portforward.k8s.io"};

void refuse(const wire::Responder& responder, const StreamRefusal& refusal) {
  responder.answer(answer_of(refusal));
}
void refuse_bad(const wire::Responder& responder, std::string why) {
  refuse(responder, {.message = std::move(why)});
}

const StreamRefusal kTooMany{
    .code = 429,
    .reason = "TooManyRequests",
    .message = "too many streams of pods are open, please try again later"};

StreamRefusal unreachable(const Error& error) {
  return {.code = 503,
          .reason = "ServiceUnavailable",
          .message = "the pod's node can't be reached: " + error.message};
}

std::string pod_name(const StreamAsk& ask) {
  return std::string(text_at(ask.pod, "metadata.name"));
}

void serve_log(const StreamSite& site, const StreamAsk& ask, const wire::Responder& responder) {
  const auto query = parse_log_query(ask.target);
  if (!query) {
    return refuse(responder, {.code = 422,
                              .reason = "Invalid",
                              .message = "PodLogOptions \"" + pod_name(ask) +
                                         "\" is invalid: " + query.error().message});
  }
  const auto container = chosen_container(ask.pod, query->container);
  if (!container) return refuse_bad(responder, container.error().message);
  if (ask.node.empty()) {  // as an API server has it: nothing has been logged yet
    responder.answer({.status = 200, .content_type = "text/plain", .body = nullptr, .headers = {}});
    return;
  }
  if (const Status there = has_log(ask.pod, *container, query->previous); !there) {
    return refuse_bad(responder, there.error().message);
  }
  auto pass = site.gate.enter();
  if (!pass) return refuse(responder, kTooMany);
  const Instant since =
      query->since_ago ? site.now() - *query->since_ago : query->since.value_or(Instant{});
  auto node = site.reach(ask.node, {.job = ask.job,
                                    .attempt = ask.attempt,
                                    .container = *container,
                                    .kind = PodStreamKind::log,
                                    .follow = query->follow,
                                    .previous = query->previous,
                                    .timestamps = query->timestamps,
                                    .tail = query->tail,
                                    .since = since,
                                    .most = query->most});
  if (!node) return refuse(responder, unreachable(node.error()));
  const auto fd = std::make_shared<Fd>(std::move(*node));
  responder.lane().post([responder, fd, pass = std::move(pass)] {
    drover::kube::serve_log(responder, std::move(*fd), pass);
  });
}

// The protocol by which a command's streams are carried; an error has been answered.
std::optional<std::string> agreed_protocol(const StreamAsk& ask, bool websocket,
                                           const wire::Responder& responder) {
  const auto agreed = websocket ? agreed_websocket(ask.request.headers, kChannelProtocols)
                                : agreed_spdy(ask.request.headers, kSpdyProtocols);
  if (!agreed)
    refuse(responder, {.code = 403, .reason = "Forbidden", .message = agreed.error().message});
  return agreed ? std::optional(*agreed) : std::nullopt;
}

// On the lane: asks the node, and upgrades once it has agreed.
void begin_command(const wire::Responder& responder, const CommandAsk& ask, bool websocket, Fd node,
                   StreamGate::Pass pass) {
  const auto junction =
      std::make_shared<std::shared_ptr<Junction>>();  // until the client's handlers own it
  const auto weak = std::make_shared<std::weak_ptr<Junction>>();
  const auto stream =
      NodeStream::open(responder.lane(), std::move(node), true,
                       {.attached =
                            [responder, ask, websocket, junction](const PodAttached& attached) {
                              auto mine = std::exchange(*junction, nullptr);
                              if (!attached.error.empty())
                                return refuse(responder, refusal_of(attached));
                              mine->pause();
                              if (websocket)
                                serve_channels(responder, ask, std::move(mine));
                              else
                                serve_spdy_command(responder, ask, std::move(mine));
                            },
                        .output =
                            [weak](const PodOutput& output) {
                              if (const auto joined = weak->lock()) joined->output(output);
                            },
                        .ended =
                            [weak](const PodStreamEnded& ended) {
                              if (const auto joined = weak->lock()) joined->ended(ended);
                            },
                        .drained =
                            [weak] {
                              if (const auto joined = weak->lock()) joined->node_drained();
                            }});
  *junction = std::make_shared<Junction>(stream, std::move(pass));
  *weak = *junction;
  responder.when_gone([left = std::weak_ptr(stream)] {
    if (const auto open = left.lock()) open->close();
  });
}

void serve_command(const StreamSite& site, const StreamAsk& ask, const wire::Responder& responder) {
  const bool attach = ask.subresource == "attach";
  const auto query = parse_command_query(ask.target, !attach);
  if (!query) return refuse_bad(responder, query.error().message);
  const auto container = chosen_container(ask.pod, query->container);
  if (!container) return refuse_bad(responder, container.error().message);
  if (ask.node.empty())
    return refuse_bad(responder, "pod " + pod_name(ask) + " does not have a host assigned");
  const bool websocket = asks_for(ask.request.headers, "websocket");
  if (!websocket && !asks_for(ask.request.headers, "SPDY/3.1"))
    return refuse_bad(responder, "Upgrade request required");
  const auto protocol = agreed_protocol(ask, websocket, responder);
  if (!protocol) return;
  auto pass = site.gate.enter();
  if (!pass) return refuse(responder, kTooMany);
  auto node = site.reach(ask.node, {.job = ask.job,
                                    .attempt = ask.attempt,
                                    .container = *container,
                                    .kind = attach ? PodStreamKind::attach : PodStreamKind::exec,
                                    .command = query->command,
                                    .input = query->input,
                                    .terminal = query->terminal});
  if (!node) return refuse(responder, unreachable(node.error()));
  const auto fd = std::make_shared<Fd>(std::move(*node));
  const CommandAsk command{.query = *query, .attach = attach, .protocol = *protocol};
  responder.lane().post([responder, command, websocket, fd, pass = std::move(pass)] {
    begin_command(responder, command, websocket, std::move(*fd), pass);
  });
}

void serve_port_forward(const StreamSite& site, const StreamAsk& ask,
                        const wire::Responder& responder) {
  if (ask.node.empty())
    return refuse_bad(responder, "pod " + pod_name(ask) + " does not have a host assigned");
  const bool websocket = asks_for(ask.request.headers, "websocket");
  if (!websocket && !asks_for(ask.request.headers, "SPDY/3.1"))
    return refuse_bad(responder, "Upgrade request required");
  const auto protocol = websocket ? agreed_websocket(ask.request.headers, kTunnelProtocols)
                                  : agreed_spdy(ask.request.headers, kForwardProtocols);
  if (!protocol)
    return refuse(responder,
                  {.code = 403, .reason = "Forbidden", .message = protocol.error().message});
  auto pass = site.gate.enter();
  if (!pass) return refuse(responder, kTooMany);
  const auto reach = [reach = site.reach, node = ask.node, job = ask.job, attempt = ask.attempt,
                      container = running_container(ask.pod)](std::uint32_t port) {
    return reach(node, {.job = job,
                        .attempt = attempt,
                        .container = container,
                        .kind = PodStreamKind::port,
                        .port = port});
  };
  const auto forward = std::make_shared<PortForward>(PortForward::Options{.pod = pod_name(ask),
                                                                          .lane = responder.lane(),
                                                                          .reach = reach,
                                                                          .gate = site.gate,
                                                                          .pass = std::move(pass)});
  if (websocket) return tunnel(responder, *protocol, kClientLimits, forward->handlers());
  responder.switch_protocols({.protocol = "SPDY/3.1",
                              .headers = {{"X-Stream-Protocol-Version", *protocol}},
                              .limits = kClientLimits,
                              .handlers = forward->handlers()});
}

}  // namespace

void serve_stream(const StreamSite& site, const StreamAsk& ask, const wire::Responder& responder) {
  if (ask.subresource == "log") return serve_log(site, ask, responder);
  if (ask.subresource == "portforward") return serve_port_forward(site, ask, responder);
  serve_command(site, ask, responder);
}

}  // namespace drover::kube
