// What somebody on another machine says to the controller to become a member: a node or a person. A
// token tells him whom to trust before he says his secret (docs/adr/0029).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tls/context.h"
#include "wire/http_client.h"

namespace drover::member {

// SECRET.FINGERPRINT, as the controller has made it.
struct Token {
  std::string secret;
  std::string fingerprint;  // of the authority
};
[[nodiscard]] Result<Token> parse_token(std::string_view text);

[[nodiscard]] wire::HttpClient controller_client(const wire::Endpoint& to,
                                                 std::shared_ptr<tls::Context> context);
// Posts a protobuf message; the body of a 200, or the error that the controller answers with.
[[nodiscard]] Result<std::string> post(wire::HttpClient& http, const std::string& target,
                                       std::string body);
[[nodiscard]] Error error_of(const wire::Response& response);

// A new key, and what the controller at `to` signs for it. `target` and `ask` are of
// native/membership.h; `ask` makes its message of the request for a certificate. Denied when the
// server there isn't the one of the fingerprint.
using MakeAsk = std::function<std::string(const std::string& request)>;
[[nodiscard]] Result<tls::Credentials> redeem(const wire::Endpoint& to,
                                              const std::string& fingerprint,
                                              const std::string& target, const MakeAsk& ask);

}  // namespace drover::member
