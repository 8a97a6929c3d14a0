#include "kube/token/token.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/schema/base64.h"

namespace drover::kube {
namespace {

constexpr std::size_t kLongest = 16U << 10U;
constexpr std::string_view kKind = "kubernetes.io";

// RFC 4648's alphabet for URLs, without padding.
std::string to_url(std::string_view bytes) {
  std::string text = to_base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::optional<std::string> from_url(std::string_view text) {
  if (text.find_first_of("+/=\r\n") != std::string_view::npos) return std::nullopt;
  std::string plain(text);
  std::ranges::replace(plain, '-', '+');
  std::ranges::replace(plain, '_', '/');
  plain.append((4 - plain.size() % 4) % 4, '=');
  return from_base64(plain);
}

Error broken() { return {Errc::denied, "it is no token of this cluster"}; }

std::optional<Value> read_part(std::string_view text) {
  const auto json = from_url(text);
  if (!json) return std::nullopt;
  auto value = parse(*json, {.bytes = kLongest, .depth = 8});
  return value && value->is_object() ? std::optional(*std::move(value)) : std::nullopt;
}

Instant moment_at(const Value& claims, std::string_view name) {
  return Instant(
      seconds(std::clamp<std::int64_t>(integer(member(claims, name)).value_or(0), 0, 1LL << 40)));
}

}  // namespace

std::string Claims::subject() const { return "system:serviceaccount:" + space + ":" + account; }

Result<std::string> make_token(const Claims& claims, const std::string& id, const TokenKeys& keys) {
  if (!keys.sign) return Error{Errc::unavailable, "this controller signs no tokens"};
  Array audiences;
  for (const std::string& one : claims.audiences) audiences.emplace_back(one);
  Object bound{{"namespace", claims.space},
               {"serviceaccount", Object{{"name", claims.account}, {"uid", claims.account_uid}}}};
  if (!claims.pod.empty()) bound["pod"] = Object{{"name", claims.pod}, {"uid", claims.pod_uid}};
  const Value body = Object{{"aud", std::move(audiences)},
                            {"exp", unix_seconds(claims.until)},
                            {"iat", unix_seconds(claims.from)},
                            {"iss", kIssuer},
                            {"jti", id},
                            {kKind, std::move(bound)},
                            {"nbf", unix_seconds(claims.from)},
                            {"sub", claims.subject()}};
  const std::string signed_part =
      to_url(print(Object{{"alg", "ES256"}, {"typ", "JWT"}})) + "." + to_url(print(body));
  return signed_part + "." + to_url(TRY(keys.sign(signed_part)));
}

Result<Claims> read_token(std::string_view token, const TokenKeys& keys, Instant now) {
  const auto parts = split(token, '.');
  if (token.size() > kLongest || parts.size() != 3 || !keys.is_ours) return broken();
  const auto signature = from_url(parts[2]);
  const auto head = read_part(parts[0]);
  if (!signature || !head || text(member(*head, "alg")) != "ES256") return broken();
  if (!keys.is_ours(token.substr(0, parts[0].size() + 1 + parts[1].size()), *signature))
    return broken();
  const auto body = read_part(parts[1]);
  const Value* bound = body ? member(*body, kKind) : nullptr;
  if (bound == nullptr || text(member(*body, "iss")) != kIssuer) return broken();
  Claims claims{.space = std::string(text_at(*bound, "namespace")),
                .account = std::string(text_at(*bound, "serviceaccount.name")),
                .account_uid = std::string(text_at(*bound, "serviceaccount.uid")),
                .pod = std::string(text_at(*bound, "pod.name")),
                .pod_uid = std::string(text_at(*bound, "pod.uid")),
                .from = moment_at(*body, "nbf"),
                .until = moment_at(*body, "exp")};
  if (const Array* audiences = array_at(*body, "aud")) {
    for (const Value& one : *audiences) claims.audiences.emplace_back(text(&one));
  }
  if (claims.account.empty() || text(member(*body, "sub")) != claims.subject()) return broken();
  if (now < claims.from) return Error{Errc::denied, "the token is not yet good"};
  if (now >= claims.until) return Error{Errc::denied, "the token has expired"};
  return claims;
}

}  // namespace drover::kube
