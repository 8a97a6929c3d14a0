#include "control/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "control/splice.h"
#include "native/ask.h"
#include "native/login.h"
#include "os/user.h"
#include "tls/transport.h"

namespace drover::control {
namespace {

using Kind = tls::Identity::Kind;

// Where a peer's certificate says that he is, and who calls him what.
std::vector<std::string> hosts_of(const std::string& node, const wire::Peer& peer) {
  std::string address = peer.address.substr(0, peer.address.rfind(':'));
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  return {node, address};
}

// Over TLS: a user by his own certificate, or one that a node vouches for.
Result<Caller> who_calls(const wire::Peer& peer) {
  if (peer.local) return native::identify_local()(peer);
  const tls::Identity who = TRY(tls::identity_of(peer));
  if (who.kind == Kind::user) return native::identify_named(who.uid, who.name);
  return Error{Errc::denied, who.text() + " asks for its users only, and vouches for them first"};
}

template <class T>
void answer(const wire::Request& request, const wire::Responder& responder,
            const Result<T>& result) {
  const bool proto = native::wants_proto(request);
  if (!result) {
    native::answer_error(responder, proto, result.error());
  } else {
    native::answer_value(responder, proto, *result);
  }
}

void answer_status(const wire::Request& request, const wire::Responder& responder,
                   const Status& status) {
  if (status) {
    native::answer_bytes(responder, 200, native::kJsonType, wire::bytes("{}\n"));
  } else {
    native::answer_error(responder, native::wants_proto(request), status.error());
  }
}

}  // namespace

Gate::Gate(GateOptions options, Authority& authority, Controller& controller)
    : options_(std::move(options)),
      authority_(authority),
      controller_(controller),
      identify_(native::identify_local()),
      native_(controller.service(), who_calls) {}

void Gate::handle(wire::Request&& request, const wire::Responder& responder) const {
  if (request.target == "/v1/join" && request.method == "POST") {
    answer(request, responder, join(request));
    return;
  }
  if (request.target == "/v1/login" && request.method == "POST") {
    answer(request, responder, login(request));
    return;
  }
  const auto who = tls::identity_of(request.peer);
  if (!who) {
    answer_status(request, responder, who.error());
    return;
  }
  // A connection may be older than the end of its certificate.
  if (authority_.is_revoked(request.peer.certified->serial)) {
    answer_status(request, responder,
                  Error{Errc::denied, "the certificate of " + who->text() + " was revoked"});
    return;
  }
  member(*who, std::move(request), responder);
}

void Gate::member(const tls::Identity& who, wire::Request&& request,
                  const wire::Responder& responder) const {
  const bool speaks_for_itself = who.kind == Kind::node && !request.peer.local;
  if (speaks_for_itself && request.target == "/v1/agent") {
    controller_.accept_agent(request, responder);
  } else if (speaks_for_itself && request.target == "/v1/renew") {
    answer(request, responder, renew(who, request));
  } else if (speaks_for_itself && request.target == "/v1/vouch") {
    answer_status(request, responder, vouch(who, request, responder));
  } else if (speaks_for_itself && request.target == "/v1/revoked") {
    answer(request, responder, Result<native::RevokedList>(authority_.revoked()));
  } else if (speaks_for_itself && request.target == "/v1/ping") {
    answer_status(request, responder, Done{});
  } else if (who.kind == Kind::user && request.target == native::kStreamTarget) {
    auto stream = step_stream(request);
    if (!stream) {
      answer_status(request, responder, stream.error());
    } else {
      splice(responder, std::string(native::kStreamProtocol), *std::move(stream));
    }
  } else if (native::Server::serves(request)) {
    native_.handle(std::move(request), responder);
  } else {
    answer_status(request, responder,
                  Error{Errc::denied, "only a node's agent may use " + printable(request.target)});
  }
}

void Gate::set_steps(Reach reach) {
  const std::lock_guard lock(mutex_);
  reach_ = std::move(reach);
}

Result<Fd> Gate::step_stream(const wire::Request& request) const {
  const Caller caller = TRY(who_calls(request.peer));
  const auto wish = TRY(native::read_body<StepAttach>(request));
  const std::lock_guard lock(mutex_);
  if (!reach_) return Error{Errc::unavailable, "the controller is starting or stopping"};
  return reach_(wish, caller.uid);
}

// Who logs in is for the token to say.
Result<native::JoinAnswer> Gate::login(const wire::Request& request) const {
  const auto ask = TRY(native::read_body<native::LoginAsk>(request));
  auto certificate = authority_.login(ask);
  if (!certificate) {
    options_.say(fmt::format("{} may not log in: {}", request.peer.address, certificate.error().message));
    return std::move(certificate).error();
  }
  options_.say(fmt::format("{} has logged in as {}", request.peer.address,
                           TRY(tls::read_certificate(*certificate)).identity.text()));
  return native::JoinAnswer{*std::move(certificate)};
}

Result<native::JoinAnswer> Gate::join(const wire::Request& request) const {
  const auto ask = TRY(native::read_body<native::JoinAsk>(request));
  auto certificate = authority_.join(ask, hosts_of(ask.node, request.peer));
  if (!certificate) {
    options_.say(fmt::format("{} may not join as {}: {}", request.peer.address,
                             printable(ask.node, 63), certificate.error().message));
    return std::move(certificate).error();
  }
  options_.say(fmt::format("{} has joined as node {}", request.peer.address, ask.node));
  return native::JoinAnswer{*std::move(certificate)};
}

Result<native::JoinAnswer> Gate::renew(const tls::Identity& who,
                                       const wire::Request& request) const {
  const auto ask = TRY(native::read_body<native::RenewAsk>(request));
  return native::JoinAnswer{
      TRY(authority_.renew(who, ask.request, hosts_of(who.name, request.peer)))};
}

// A node's word counts for users who have a job on it, where they could as well ask from that job.
Status Gate::vouch(const tls::Identity& who, const wire::Request& request,
                   const wire::Responder& responder) const {
  const auto ask = TRY(native::read_body<native::VouchAsk>(request));
  if (ask.uid == 0)
    return Error{Errc::denied,
                 "root of a node is nobody to the controller: ask on its own machine, or by a login"};
  const auto admins = controller_.service().overview().config.settings.admins;
  if (std::ranges::find(admins, ask.uid) != admins.end()) {
    return Error{Errc::denied,
                 "an administrator asks on the controller's own machine, or by a login of his own: no node "
                 "speaks for one"};
  }
  if (!options_.submit_nodes.contains(who.name) && !has_job(who.name, ask.uid)) {
    return Error{Errc::denied, fmt::format("uid {} has no job on node {}, which is no submit node",
                                           ask.uid, who.name)};
  }
  wire::Peer peer = request.peer;
  peer.local = wire::Peer::Local{.uid = ask.uid, .gid = ask.gid};
  responder.adopt(std::move(peer));
  return Done{};
}

bool Gate::has_job(const std::string& node, std::uint32_t uid) const {
  constexpr std::uint32_t kUid = 7;
  bool found = false;
  api::JobQuery query;
  query.select.nodes = {node};
  query.select.phases = {Phase::placed, Phase::running, Phase::ending};
  query.fields = {1, kUid};
  static_cast<void>(controller_.service().jobs(
      query, [&](const api::JobView& view) { found |= view.uid == uid; }));
  return found;
}

bool Gate::is_administrator(const Caller& caller) const {
  const auto admins = controller_.service().overview().config.settings.admins;
  return caller.uid == 0 || std::ranges::find(admins, caller.uid) != admins.end();
}

Status Gate::administrator(const wire::Request& request) const {
  if (is_administrator(TRY(identify_(request.peer)))) return Done{};
  return Error{Errc::denied, "only administrators manage the nodes of a cluster"};
}

bool Gate::manage(const wire::Request& request, const wire::Responder& responder) const {
  if (request.target == "/v1/credentials" && request.method == "POST") {
    answer(request, responder, credentials(request));
  } else if (request.target.starts_with("/v1/members")) {
    manage_nodes(request, responder);
  } else if (request.target.starts_with("/v1/users")) {
    manage_users(request, responder);
  } else {
    return false;
  }
  return true;
}

void Gate::manage_nodes(const wire::Request& request, const wire::Responder& responder) const {
  const Status allowed = administrator(request);
  if (!allowed) {
    answer_status(request, responder, allowed);
  } else if (request.target == "/v1/members") {
    native::MemberList nodes = authority_.members();
    std::erase_if(nodes.members, native::is_user);
    answer(request, responder, Result<native::MemberList>(std::move(nodes)));
  } else if (request.target == "/v1/members/token") {
    answer(request, responder, token(request));
  } else if (request.target == "/v1/members/revoked") {
    answer(request, responder, Result<native::RevokedList>(authority_.revoked()));
  } else if (request.target == "/v1/members/here") {
    answer(request, responder, here(request));
  } else if (request.target == "/v1/members/revoke") {
    answer_status(request, responder, revoke(request));
  } else {
    answer_status(request, responder,
                  Error{Errc::not_found, "there is no " + printable(request.target)});
  }
}

void Gate::manage_users(const wire::Request& request, const wire::Responder& responder) const {
  if (request.target == "/v1/users") {
    answer(request, responder, users(request));
  } else if (request.target == "/v1/users/token") {
    answer(request, responder, user_token(request));
  } else if (request.target == "/v1/users/revoke") {
    answer_status(request, responder, revoke_user(request));
  } else {
    answer_status(request, responder,
                  Error{Errc::not_found, "there is no " + printable(request.target)});
  }
}

// Who has somebody's token can submit as him, which an administrator can't otherwise.
Result<native::TokenAnswer> Gate::user_token(const wire::Request& request) const {
  TRY(check_open());
  auto ask = TRY(native::read_body<native::UserTokenAsk>(request));
  const Caller caller = TRY(identify_(request.peer));
  std::uint32_t uid = caller.uid;
  if (ask.user.empty()) ask.user = caller.user;
  if (ask.user != caller.user) {
    if (caller.uid != 0) return Error{Errc::denied, "you may make a token for yourself; for others root does"};
    const auto account = user_by_name(ask.user);
    if (!account) return Error{Errc::not_found, "there is no user " + printable(ask.user, 63) + " on this machine"};
    uid = account->uid;
  }
  native::TokenAnswer made = TRY(authority_.make_user_token(uid, ask));
  made.controller = options_.address;
  return made;
}

Result<native::MemberList> Gate::users(const wire::Request& request) const {
  const Caller caller = TRY(identify_(request.peer));
  const bool all = is_administrator(caller);
  native::MemberList list = authority_.members();
  std::erase_if(list.members, [&](const native::Member& member) {
    return !native::is_user(member) || (!all && member.name != caller.user);
  });
  return list;
}

Status Gate::revoke_user(const wire::Request& request) const {
  const auto ask = TRY(native::read_body<native::RevokeUserAsk>(request));
  const Caller caller = TRY(identify_(request.peer));
  if (ask.user != caller.user && !is_administrator(caller)) {
    return Error{Errc::denied, "you may revoke your own certificates; administrators revoke others'"};
  }
  TRY(authority_.revoke_user(ask.user));
  options_.say(fmt::format("user {} is revoked", ask.user));
  return Done{};
}

Result<native::UserAnswer> Gate::credentials(const wire::Request& request) const {
  const std::string server = options_.kubernetes ? options_.kubernetes() : "";
  if (server.empty()) {
    return Error{Errc::conflict, "the controller has no Kubernetes door; say `kubernetes: HOST:PORT` in the cluster "
                                 "file and start it again"};
  }
  const Caller caller = TRY(identify_(request.peer));
  const auto overview = controller_.service().overview();
  const auto made = TRY(authority_.user(caller.uid, caller.user));
  options_.say(fmt::format("a certificate for {} (uid {})", caller.user, caller.uid));
  return native::UserAnswer{.user = caller.user,
                            .uid = caller.uid,
                            .admin = is_administrator(caller),
                            .server = server,
                            .cluster = overview.cluster_id,
                            .authority = made.authority,
                            .certificate = made.certificate,
                            .key = made.key,
                            .until = TRY(tls::read_certificate(made.certificate)).validity.until};
}

Status Gate::check_open() const {
  if (!options_.address.empty()) return Done{};
  return Error{Errc::conflict,
               "the controller listens on this machine only; say `listen: HOST:PORT` in the cluster "
               "file and start it again"};
}

Result<native::TokenAnswer> Gate::token(const wire::Request& request) const {
  TRY(check_open());
  const auto ask = TRY(native::read_body<native::TokenAsk>(request));
  native::TokenAnswer made = TRY(authority_.make_token(ask));
  made.controller = options_.address;
  return made;
}

// Its agent runs as root or as whoever started the cluster, as the kernel says; that is proof enough.
Result<native::HereAnswer> Gate::here(const wire::Request& request) const {
  TRY(check_open());
  const auto ask = TRY(native::read_body<native::HereAsk>(request));
  const auto at = TRY(wire::Endpoint::parse(options_.address));
  auto made = TRY(authority_.here(ask, {ask.node, at.host}));
  made.host = at.host;
  return made;
}

Status Gate::revoke(const wire::Request& request) const {
  const auto ask = TRY(native::read_body<native::RevokeAsk>(request));
  TRY(authority_.revoke(ask.node));
  options_.say(fmt::format("node {} is revoked", ask.node));
  controller_.cut_agent(ask.node);
  return Done{};
}

}  // namespace drover::control
