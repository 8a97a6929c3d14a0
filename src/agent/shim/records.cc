#include "agent/shim/records.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/proto.h"
#include "base/text.h"
#include "os/file.h"
#include "os/socket.h"

namespace drover::agent {
namespace {

constexpr std::size_t kStatusRoom = 4096;

Status write_whole(const Fd& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Done{};
}

template <class T>
std::optional<T> read_record(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return std::nullopt;
  auto value = decode<T>(*bytes);
  if (!value) return std::nullopt;
  return std::move(*value);
}

Status make_folder(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) return Done{};
  return system_error(errno, path);
}

}  // namespace

std::string Records::path(const std::string& key, const char* name) const {
  CHECK(is_safe_name(key));
  return jobs().append("/").append(key).append("/").append(name);
}

Status Records::create() const {
  TRY(make_folders(folder_, 0711));
  const Status made = make_folder(jobs(), 0711);
  return !made && made.error().code != Errc::conflict ? made : Status(Done{});
}

Status Records::add(const std::string& key) const {
  const std::string folder = path(key, "");
  TRY(make_folder(folder, 0711));
  const auto reserve = [&]() -> Status {
    const std::string at = path(key, "status.new");
    const Fd file = TRY(open_file(at, O_WRONLY | O_CREAT | O_EXCL));
    return preallocate(file, kStatusRoom, at);
  };
  const Status reserved = reserve();
  if (!reserved) [[maybe_unused]] const Status undone = forget(key);
  return reserved;
}

Status Records::put_bytes(const std::string& key, const char* name, std::string_view bytes) const {
  const std::string at = path(key, name);
  const std::string fresh = at + ".new";
  {
    const Fd file = TRY(open_file(fresh, O_WRONLY | O_CREAT));
    TRY(write_whole(file, bytes, fresh));
    if (::ftruncate(file.get(), static_cast<off_t>(bytes.size())) != 0) return system_error(errno, fresh);
  }
  if (::rename(fresh.c_str(), at.c_str()) != 0) return system_error(errno, at);
  return Done{};
}

Status Records::put(const std::string& key, const Claim& claim) const { return put_bytes(key, "claim", encode(claim)); }
Status Records::put(const std::string& key, const Started& started) const {
  return put_bytes(key, "started", encode(started));
}
Status Records::put(const std::string& key, const Ended& ended) const {
  return put_bytes(key, "status", encode(ended));
}

Status Records::add_tasks(const std::string& key, std::size_t count) const {
  const std::string at = path(key, "tasks");
  const Fd file = TRY(open_file(at, O_WRONLY | O_CREAT | O_EXCL));
  return preallocate(file, std::max<std::size_t>(count, 1) * sizeof(TaskEnd), at);
}

Status Records::put(const std::string& key, std::size_t index, const TaskEnd& end) const {
  const std::string at = path(key, "tasks");
  const Fd file = TRY(open_file(at, O_WRONLY));
  const std::string_view bytes(reinterpret_cast<const char*>(&end), sizeof end);
  return write_at(file, bytes, index * sizeof end, at);
}

std::vector<TaskEnd> Records::task_ends(const std::string& key) const {
  std::vector<TaskEnd> ends;
  const auto bytes = read_file(path(key, "tasks"));
  for (std::size_t at = 0; bytes && at + sizeof(TaskEnd) <= bytes->size(); at += sizeof(TaskEnd)) {
    TaskEnd end;
    std::memcpy(&end, bytes->data() + at, sizeof end);
    if (end.known == 1) ends.push_back(end);
  }
  return ends;
}

Status Records::put_script(const std::string& key, std::string_view text, uid_t uid, gid_t gid) const {
  const std::string at = script_path(key);
  const Fd file = TRY(open_file(at, O_WRONLY | O_CREAT | O_EXCL, 0700));
  TRY(write_whole(file, text, at));
  if (::geteuid() == 0 && ::fchown(file.get(), uid, gid) != 0) return system_error(errno, at);
  return Done{};
}

bool Records::has(const std::string& key) const { return file_exists(path(key, "")); }
bool Records::has_ended(const std::string& key) const { return file_exists(path(key, "status")); }

std::vector<std::string> Records::keys() const {
  std::vector<std::string> keys;
  const auto names = list_folder(jobs());
  if (!names) return keys;
  for (const std::string& name : *names) {
    if (is_safe_name(name)) keys.push_back(name);
  }
  return keys;
}

bool Records::shim_lives(const std::string& key) const { return has_listener(control_path(key)); }

Attempt Records::attempt(const std::string& key) const {
  Attempt attempt{.key = key};
  // Asked first: a shim that is gone has written its status before.
  const bool lives = shim_lives(key);
  attempt.claim = read_record<Claim>(path(key, "claim"));
  attempt.started = read_record<Started>(path(key, "started"));
  attempt.ended = read_record<Ended>(path(key, "status"));
  if (attempt.ended) {
    attempt.state = AttemptState::ended;
  } else if (!lives) {
    attempt.state = AttemptState::unknown;
  } else if (attempt.started) {
    attempt.state = AttemptState::running;
  }
  return attempt;
}

Status Records::forget(const std::string& key) const {
  const std::string folder = path(key, "");
  const auto names = list_folder(folder);
  if (!names) return names.error().code == Errc::not_found ? Status(Done{}) : Status(names.error());
  for (const std::string& name : *names) TRY(remove_file(folder + name));
  if (::rmdir(folder.c_str()) != 0 && errno != ENOENT) return system_error(errno, folder);
  return Done{};
}

}  // namespace drover::agent
