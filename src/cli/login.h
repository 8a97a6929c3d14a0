// `drover login`, and `drover user`: how people reach a cluster from machines that don't belong to
// it.
#pragma once

#include <string>

namespace drover::cli {

struct LoginOptions {
  std::string to;  // HOST:PORT
  std::string token;
  std::string state;  // the folder; "": as commands look for it
};
[[nodiscard]] int login(const LoginOptions& options);
[[nodiscard]] int logout(const LoginOptions& options);

struct UserOptions {
  std::string state;
  std::string name;  // "": the caller
  std::string ttl = "15m";
};
[[nodiscard]] int user_token(const UserOptions& options);
[[nodiscard]] int user_list(const UserOptions& options);
[[nodiscard]] int user_revoke(const UserOptions& options);

}  // namespace drover::cli
