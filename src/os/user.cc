#include "os/user.h"

#include <grp.h>
#include <pwd.h>

#include <algorithm>

#include "os/file.h"

namespace drover {
namespace {

constexpr std::size_t kBufferLimit = 1U << 20;

// The re-entrant calls want a buffer and say ERANGE until it is large enough.
template <class Entry, class Call>
Result<Entry*> look_up(Entry& entry, std::vector<char>& buffer, const std::string& what, Call call) {
  Entry* found = nullptr;
  for (buffer.resize(1024); buffer.size() <= kBufferLimit; buffer.resize(buffer.size() * 2)) {
    const int error = call(&entry, buffer.data(), buffer.size(), &found);
    if (error == ERANGE) continue;
    if (found != nullptr) return found;
    // Several back ends say one of these for "no such entry".
    if (error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM) {
      return Error{Errc::not_found, "no such " + what};
    }
    return system_error(error, "look up " + what);
  }
  return Error{Errc::exhausted, "entry of " + what + " is larger than 1 MiB"};
}

User user_from(const passwd& entry) {
  return {.name = entry.pw_name, .uid = entry.pw_uid, .gid = entry.pw_gid,
          .home = entry.pw_dir, .shell = entry.pw_shell};
}

}  // namespace

Result<User> user_by_id(uid_t uid) {
  passwd entry{};
  std::vector<char> buffer;
  return user_from(*TRY(look_up(entry, buffer, "user id " + std::to_string(uid),
                                [&](auto... args) { return ::getpwuid_r(uid, args...); })));
}

Result<User> user_by_name(const std::string& name) {
  passwd entry{};
  std::vector<char> buffer;
  return user_from(*TRY(look_up(entry, buffer, "user " + name,
                                [&](auto... args) { return ::getpwnam_r(name.c_str(), args...); })));
}

Result<gid_t> group_by_name(const std::string& name) {
  group entry{};
  std::vector<char> buffer;
  return TRY(look_up(entry, buffer, "group " + name,
                     [&](auto... args) { return ::getgrnam_r(name.c_str(), args...); }))->gr_gid;
}

Result<std::string> group_name(gid_t gid) {
  group entry{};
  std::vector<char> buffer;
  return std::string(TRY(look_up(entry, buffer, "group id " + std::to_string(gid),
                                 [&](auto... args) { return ::getgrgid_r(gid, args...); }))->gr_name);
}

Result<std::vector<gid_t>> groups_of(const User& user) {
  std::vector<gid_t> groups(32);
  for (;;) {
    int count = static_cast<int>(groups.size());
    const int had = ::getgrouplist(user.name.c_str(), user.gid, groups.data(), &count);
    if (had >= 0) {
      groups.resize(static_cast<std::size_t>(count));
      return groups;
    }
    if (groups.size() > 65536) return Error{Errc::exhausted, user.name + " is in more than 65536 groups"};
    groups.resize(std::max(static_cast<std::size_t>(count), groups.size() * 2));
  }
}

}  // namespace drover
