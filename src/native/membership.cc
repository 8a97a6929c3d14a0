#include "native/membership.h"

#include <utility>

#include "native/discovery.h"
#include "native/login.h"
#include "native/messages.h"
#include "native/rows.h"
#include "wire/http_client.h"

namespace drover::native {
namespace {

Result<std::string> ask(const std::string& state_folder, wire::ClientRequest request) {
  if (is_login(state_folder)) {
    return Error{Errc::denied, "that is to be asked on the controller's own machine"};
  }
  wire::HttpClient http(wire::Endpoint::unix_socket(socket_in(state_folder)));
  request.headers.push_back({"Accept", std::string(kProtoType)});
  if (request.method == "POST") request.content_type = kProtoType;
  wire::Response response = TRY(http.call(request));
  if (response.status == 200) return std::move(response.body);
  if (const auto body = decode<AnswerBody>(response.body); body && body->error) {
    return Error{errc_from_word(body->error->code), body->error->message};
  }
  return Error{Errc::unavailable, "the controller answered " + std::to_string(response.status)};
}

}  // namespace

Result<TokenAnswer> make_token(const std::string& state_folder, const TokenAsk& wish) {
  return decode<TokenAnswer>(TRY(
      ask(state_folder, {.method = "POST", .target = "/v1/members/token", .body = encode(wish)})));
}

Result<MemberList> list_members(const std::string& state_folder) {
  return decode<MemberList>(TRY(ask(state_folder, {.target = "/v1/members"})));
}

Status revoke_node(const std::string& state_folder, const std::string& node) {
  TRY(ask(state_folder,
          {.method = "POST", .target = "/v1/members/revoke", .body = encode(RevokeAsk{node})}));
  return Done{};
}

Result<TokenAnswer> make_user_token(const std::string& state_folder, const UserTokenAsk& wish) {
  return decode<TokenAnswer>(TRY(
      ask(state_folder, {.method = "POST", .target = "/v1/users/token", .body = encode(wish)})));
}

Result<MemberList> list_users(const std::string& state_folder) {
  return decode<MemberList>(TRY(ask(state_folder, {.target = "/v1/users"})));
}

Status revoke_user(const std::string& state_folder, const std::string& user) {
  TRY(ask(state_folder,
          {.method = "POST", .target = "/v1/users/revoke", .body = encode(RevokeUserAsk{user})}));
  return Done{};
}

Result<UserAnswer> user_credentials(const std::string& state_folder) {
  return decode<UserAnswer>(TRY(ask(state_folder, {.method = "POST", .target = "/v1/credentials", .body = {}})));
}

}  // namespace drover::native
