// The machine's user database.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace drover {

struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home;
  std::string shell;
};

[[nodiscard]] Result<User> user_by_id(uid_t uid);
[[nodiscard]] Result<User> user_by_name(const std::string& name);
[[nodiscard]] Result<gid_t> group_by_name(const std::string& name);
[[nodiscard]] Result<std::string> group_name(gid_t gid);
// Every group of the user, the primary one first.
[[nodiscard]] Result<std::vector<gid_t>> groups_of(const User& user);

}  // namespace drover
