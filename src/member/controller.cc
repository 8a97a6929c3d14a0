#include "member/controller.h"

#include <utility>

#include "base/proto.h"
#include "native/membership.h"
#include "native/messages.h"
#include "native/rows.h"
#include "tls/channel.h"

namespace drover::member {

Result<Token> parse_token(std::string_view text) {
  constexpr std::size_t kFingerprint = 64;
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || text.size() != dot + 1 + kFingerprint) {
    return Error{Errc::invalid, "not a token of the controller's: it is SECRET.FINGERPRINT"};
  }
  return Token{.secret = std::string(text.substr(0, dot)),
               .fingerprint = std::string(text.substr(dot + 1))};
}

wire::HttpClient controller_client(const wire::Endpoint& to,
                                   std::shared_ptr<tls::Context> context) {
  wire::ClientOptions options;
  options.read_timeout = std::chrono::seconds(10);
  options.open = tls::client_stream(std::move(context), tls::expect_controller());
  return wire::HttpClient(to, options);
}

Error error_of(const wire::Response& response) {
  if (const auto body = decode<native::AnswerBody>(response.body); body && body->error) {
    return {native::errc_from_word(body->error->code), body->error->message};
  }
  return {Errc::unavailable, "the controller answered " + std::to_string(response.status)};
}

Result<std::string> post(wire::HttpClient& http, const std::string& target, std::string body) {
  wire::ClientRequest request{.method = "POST",
                              .target = target,
                              .content_type = std::string(native::kProtoType),
                              .body = std::move(body)};
  request.headers.push_back({"Accept", std::string(native::kProtoType)});
  wire::Response response = TRY(http.call(request));
  if (response.status != 200) return error_of(response);
  return std::move(response.body);
}

Result<tls::Credentials> redeem(const wire::Endpoint& to, const std::string& fingerprint,
                                const std::string& target, const MakeAsk& ask) {
  const std::string authority = TRY(tls::fetch_authority(to, fingerprint));
  const std::string cluster = TRY(tls::read_certificate(authority)).identity.cluster;
  const auto trusting = TRY(tls::Context::make(tls::Context::Side::client, {.authority = authority},
                                               {.cluster = cluster}));
  wire::HttpClient http = controller_client(to, trusting);
  const std::string key = TRY(tls::make_key());
  auto body = post(http, target, ask(TRY(tls::make_request(key))));
  if (!body) return std::move(body).error();
  return tls::Credentials{.authority = authority,
                          .certificate = TRY(decode<native::JoinAnswer>(*body)).certificate,
                          .key = key};
}

}  // namespace drover::member
