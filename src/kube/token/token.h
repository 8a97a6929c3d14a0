// Tokens of service accounts: JSON Web Tokens that the cluster signs (ES256) and nobody else reads. What they are
// good for stands in them; whether the account is still there is for whoever takes one.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace drover::kube {

// The cluster's hand. Null members: it signs nothing, and no token is good.
struct TokenKeys {
  std::function<Result<std::string>(std::string_view bytes)> sign;
  std::function<bool(std::string_view bytes, std::string_view signature)> is_ours;
};

// Whom a token is for, unless it says otherwise: the API server.
inline constexpr std::string_view kIssuer = "https://kubernetes.default.svc";

struct Claims {
  std::string space;
  std::string account;
  std::string account_uid;
  std::string pod;  // whose end also ends the token; "": none
  std::string pod_uid;
  std::vector<std::string> audiences;
  Instant from;
  Instant until;

  // "system:serviceaccount:SPACE:ACCOUNT"
  [[nodiscard]] std::string subject() const;
  friend bool operator==(const Claims&, const Claims&) = default;
};

[[nodiscard]] Result<std::string> make_token(const Claims& claims, const std::string& id, const TokenKeys& keys);
// denied: not ours, not yet or no more good. Times are whole seconds.
[[nodiscard]] Result<Claims> read_token(std::string_view token, const TokenKeys& keys, Instant now);

}  // namespace drover::kube
