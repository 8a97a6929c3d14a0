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
  const tls::Rules rules{.cluster = info.identity.cluster};
  std::unique_ptr<Membership> made(new Membership(controller, credentials, std::move(info), file));
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

Status Membership::renew() {
  const std::string key = TRY(tls::make_key());
  wire::HttpClient http = member::controller_client(controller_, context_);
  const native::RenewAsk wish{TRY(tls::make_request(key))};
  const std::string body = TRY(member::post(http, "/v1/renew", encode(wish)));
  const auto answer = TRY(decode<native::JoinAnswer>(body));
  tls::Credentials fresh;
  {
    const std::lock_guard lock(mutex_);
    fresh = credentials_;
  }
  fresh.key = key;
  fresh.certificate = answer.certificate;
  const tls::CertificateInfo info = TRY(tls::read_certificate(fresh.certificate));
  TRY(context_->replace(fresh));
  TRY(door_context_->replace(fresh));
  TRY(keep(file_, controller_, fresh));
  const std::lock_guard lock(mutex_);
  credentials_ = std::move(fresh);
  validity_ = info.validity;
  return Done{};
}

void Membership::keep_renewed(std::function<void(const std::string&)> say) {
  thread_ = std::thread([this, say = std::move(say)] { watch(say); });
}

void Membership::watch(const std::function<void(const std::string&)>& say) {
  constexpr Duration kOften = seconds(1);
  constexpr Duration kSeldom = minutes(60);
  std::unique_lock lock(mutex_);
  bool told = false;
  for (;;) {
    const Duration left = validity_.until - wall_now();
    const bool due = left < (validity_.until - validity_.from) / 3;
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
