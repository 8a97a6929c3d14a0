#include "agent/member/membership.h"

#include <algorithm>
#include <utility>

#include "base/proto.h"
#include "base/text.h"
#include "member/controller.h"
#include "native/membership.h"
#include "native/rows.h"
#include "os/clock.h"
#include "os/file.h"
#include "wire/http_client.h"

namespace drover::agent {
namespace {

constexpr std::string_view kController = "controller: ";

Status keep(const std::string& file, const wire::Endpoint& controller,
            const tls::Credentials& credentials) {
  return write_file_durably(
      file, std::string(kController) + controller.text() + "\n" + tls::to_text(credentials), 0600);
}

}  // namespace

Membership::Membership(wire::Endpoint controller, tls::Credentials credentials,
                       tls::CertificateInfo info, std::string file)
    : controller_(std::move(controller)),
      identity_(std::move(info.identity)),
      file_(std::move(file)),
      credentials_(std::move(credentials)),
      validity_(info.validity) {}

Membership::~Membership() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<std::unique_ptr<Membership>> Membership::make(const wire::Endpoint& controller,
                                                     const tls::Credentials& credentials,
                                                     const std::string& file) {
  tls::CertificateInfo info = TRY(tls::read_certificate(credentials.certificate));
  if (info.identity.kind != tls::Identity::Kind::node) {
    return Error{Errc::invalid, file + ": it is of " + info.identity.text() + ", no node's"};
  }
  tls::Rules rules{.cluster = info.identity.cluster};
  std::unique_ptr<Membership> made(new Membership(controller, credentials, std::move(info), file));
  rules.revoked = [revoked = made->revoked_](const tls::CertificateInfo& peer) {
    const std::lock_guard lock(revoked->mutex);
    return revoked->serials.contains(peer.serial);
  };
  made->context_ = TRY(tls::Context::make(tls::Context::Side::client, credentials, rules));
  made->door_context_ = TRY(tls::Context::make(tls::Context::Side::server, credentials, rules));
  return made;
}

Result<std::unique_ptr<Membership>> Membership::join(const wire::Endpoint& controller,
                                                     const std::string& token,
                                                     const std::string& node,
                                                     const std::string& file) {
  auto parsed = member::parse_token(token);
  if (!parsed) return std::move(parsed).error().under("--token");
  const auto ask = [&](const std::string& request) {
    return encode(native::JoinAsk{.secret = parsed->secret, .node = node, .request = request});
  };
  auto redeemed = member::redeem(controller, parsed->fingerprint, "/v1/join", ask);
  if (!redeemed) return std::move(redeemed).error().under("the controller does not let this node join");
  const tls::Credentials credentials = *std::move(redeemed);
  auto made = TRY(make(controller, credentials, file));
  TRY(keep(file, controller, credentials));
  return made;
}

Result<std::unique_ptr<Membership>> Membership::here(const wire::Endpoint& controller, const std::string& node) {
  wire::HttpClient http(controller);
  const std::string key = TRY(tls::make_key());
  const std::string request = TRY(tls::make_request(key));
  const std::string body =
      TRY(member::post(http, "/v1/members/here", encode(native::HereAsk{.node = node, .request = request})));
  auto answer = TRY(decode<native::HereAnswer>(body));
  auto made = TRY(make(controller,
                       {.authority = std::move(answer.authority),
                        .certificate = std::move(answer.certificate),
                        .key = key},
                       ""));
  made->host_ = std::move(answer.host);
  return made;
}

Result<std::unique_ptr<Membership>> Membership::open(const std::string& file) {
  const std::string text = TRY(read_file(file));
  const auto credentials = tls::parse_credentials(text);
  if (!credentials) return Error{credentials.error()}.under(file);
  if (!text.starts_with(kController))
    return Error{Errc::invalid, file + ": it names no controller"};
  const auto controller = wire::Endpoint::parse(trim(
      std::string_view(text).substr(kController.size(), text.find('\n') - kController.size())));
  if (!controller) return Error{controller.error()}.under(file);
  return make(*controller, *credentials, file);
}

Status Membership::greet() const {
  TRY(tls::check_time({.identity = identity_, .validity = validity_}, wall_now()));
  wire::HttpClient http = member::controller_client(controller_, context_);
  const wire::Response response = TRY(
      http.call({.target = "/v1/ping", .headers = {{"Accept", std::string(native::kProtoType)}}}));
  if (response.status != 200) return member::error_of(response);
  return Done{};
}

Result<std::string> Membership::renewed(const std::string& request) {
  if (file_.empty()) {
    wire::HttpClient http(controller_);
    const native::HereAsk wish{.node = identity_.name, .request = request};
    const std::string body = TRY(member::post(http, "/v1/members/here", encode(wish)));
    return TRY(decode<native::HereAnswer>(body)).certificate;
  }
  wire::HttpClient http = member::controller_client(controller_, context_);
  const std::string body = TRY(member::post(http, "/v1/renew", encode(native::RenewAsk{request})));
  return TRY(decode<native::JoinAnswer>(body)).certificate;
}

Status Membership::renew() {
  const std::string key = TRY(tls::make_key());
  const std::string request = TRY(tls::make_request(key));
  std::string certificate = TRY(renewed(request));
  tls::Credentials fresh;
  {
    const std::lock_guard lock(mutex_);
    fresh = credentials_;
  }
  fresh.key = key;
  fresh.certificate = std::move(certificate);
  const tls::CertificateInfo info = TRY(tls::read_certificate(fresh.certificate));
  TRY(context_->replace(fresh));
  TRY(door_context_->replace(fresh));
  if (!file_.empty()) TRY(keep(file_, controller_, fresh));
  const std::lock_guard lock(mutex_);
  credentials_ = std::move(fresh);
  validity_ = info.validity;
  return Done{};
}

void Membership::keep_renewed(std::function<void(const std::string&)> say) {
  thread_ = std::thread([this, say = std::move(say)] { watch(say); });
}

Result<native::RevokedList> Membership::ask_revoked() const {
  const bool here = file_.empty();
  wire::HttpClient http =
      here ? wire::HttpClient(controller_) : member::controller_client(controller_, context_);
  const wire::Response response =
      TRY(http.call({.target = here ? "/v1/members/revoked" : "/v1/revoked",
                     .headers = {{"Accept", std::string(native::kProtoType)}}}));
  if (response.status != 200) return member::error_of(response);
  return decode<native::RevokedList>(response.body);
}

// While the controller is away, what was known holds.
void Membership::learn_revoked() {
  const auto list = ask_revoked();
  if (!list) return;
  const std::lock_guard lock(revoked_->mutex);
  revoked_->serials = {list->serials.begin(), list->serials.end()};
}

void Membership::watch(const std::function<void(const std::string&)>& say) {
  constexpr Duration kOften = seconds(1);
  constexpr Duration kSeldom = minutes(1);  // a handshake of each node
  std::unique_lock lock(mutex_);
  bool told = false;
  for (Duration asked = -kSeldom;;) {
    const Duration left = validity_.until - wall_now();
    const bool due = left < (validity_.until - validity_.from) / 3;
    if (since_boot() - asked >= kSeldom) {
      lock.unlock();
      learn_revoked();
      asked = since_boot();
      lock.lock();
    }
    const Duration pause = std::clamp(left / 20, kOften, kSeldom);
    if (wake_.wait_for(lock, pause, [this] { return stopping_; })) return;
    if (!due) continue;
    lock.unlock();
    const Status renewed = renew();
    if (!renewed && !std::exchange(told, true)) {
      say("this node's certificate can't be renewed: " + renewed.error().message +
          "; trying again");
    } else if (renewed) {
      told = false;
    }
    lock.lock();
  }
}

}  // namespace drover::agent
