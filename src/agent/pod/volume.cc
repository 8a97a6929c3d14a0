#include "agent/pod/volume.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr std::size_t kLongestPath = 4096;
constexpr mode_t kFileModes = 0777;

Result<Fd> open_at(int folder, const std::string& name, std::uint64_t flags, std::uint64_t resolve, mode_t mode = 0) {
  open_how how{.flags = flags | O_CLOEXEC, .mode = mode, .resolve = resolve};
  Fd opened(static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how)));
  if (!opened) return system_error(errno, name);
  return opened;
}

// Step by step, so that no link is followed; each folder that is missing is made.
Result<Fd> enter_folders(const Fd& root, const std::vector<std::string_view>& names, std::uint64_t resolve,
                         mode_t mode) {
  Fd at(::fcntl(root.get(), F_DUPFD_CLOEXEC, 0));
  for (const std::string_view name : names) {
    const std::string one(name);
    if (::mkdirat(at.get(), one.c_str(), mode) != 0 && errno != EEXIST) return system_error(errno, one);
    at = TRY(open_at(at.get(), one, O_PATH | O_DIRECTORY, resolve));
  }
  return at;
}

Status own(int file, const VolumeOwner& owner) {
  const auto group = owner.fs_group ? static_cast<gid_t>(*owner.fs_group) : static_cast<gid_t>(owner.group);
  if (::geteuid() != 0) return Done{};
  return ::fchown(file, owner.user, group) == 0 ? Status(Done{}) : Status(system_error(errno, "chown"));
}

Status write_one(const Fd& root, const PodFile& file, const VolumeOwner& owner) {
  if (!is_inner_path(file.path)) return Error{Errc::invalid, "bad path of a file: " + printable(file.path)};
  auto names = split(file.path, '/');
  const std::string last(names.back());
  names.pop_back();
  const Fd folder = TRY(enter_folders(root, names, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, 0755));
  const Fd written = TRY(open_at(folder.get(), last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                                 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, 0600));
  TRY(write_at(written, file.bytes, 0, file.path));
  TRY(own(written.get(), owner));
  // Whom the files are shared with can read them, as the owner can.
  const mode_t shared = owner.fs_group ? (file.mode & 0400U) >> 3U : 0U;
  if (::fchmod(written.get(), (file.mode & kFileModes) | shared) != 0) return system_error(errno, file.path);
  return Done{};
}

Status make_empty(const PodVolume& volume, const std::string& path, const VolumeOwner& owner) {
  struct stat info{};
  const bool there = ::lstat(path.c_str(), &info) == 0;
  if (there && !S_ISDIR(info.st_mode)) return Error{Errc::conflict, path + ": not a folder"};
  if (there) return Done{};
  TRY(make_folders(path, 0755));
  if (volume.kind == VolumeKind::memory) {
    const std::int64_t bytes = volume.size_limit.count();
    const std::string data = "mode=0777" + (bytes > 0 ? ",size=" + std::to_string(bytes) : std::string{});
    if (::mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, data.c_str()) != 0) {
      return system_error(errno, "mount tmpfs at " + path);
    }
  }
  const mode_t mode = owner.fs_group ? 02777 : 0777;
  if (owner.fs_group && ::chown(path.c_str(), 0, static_cast<gid_t>(*owner.fs_group)) != 0) {
    return system_error(errno, path);
  }
  return ::chmod(path.c_str(), mode) == 0 ? Status(Done{}) : Status(system_error(errno, path));
}

bool has_type(const struct stat& info, std::string_view type) {
  if (type == "Directory" || type == "DirectoryOrCreate") return S_ISDIR(info.st_mode);
  if (type == "File" || type == "FileOrCreate") return S_ISREG(info.st_mode);
  if (type == "Socket") return S_ISSOCK(info.st_mode);
  if (type == "CharDevice") return S_ISCHR(info.st_mode);
  return type == "BlockDevice" && S_ISBLK(info.st_mode);
}

Status check_host_path(const PodVolume& volume) {
  const std::string& path = volume.host_path;
  if (!path.starts_with('/') || path.size() > kLongestPath || path.find('\0') != std::string::npos) {
    return Error{Errc::invalid, "bad path of the machine: " + printable(path)};
  }
  const auto names = split(path, '/');
  if (std::ranges::find(names, "..") != names.end()) {
    return Error{Errc::invalid, "a path of the machine must not contain \"..\": " + printable(path)};
  }
  struct stat info{};
  bool there = ::stat(path.c_str(), &info) == 0;
  if (!there && volume.host_type == "DirectoryOrCreate") {
    TRY(make_folders(path, 0755));
    there = ::stat(path.c_str(), &info) == 0;
  }
  if (!there && volume.host_type == "FileOrCreate") {
    TRY(open_file(path, O_WRONLY | O_CREAT | O_NOCTTY, 0644));
    there = ::stat(path.c_str(), &info) == 0;
  }
  if (!there && volume.host_type.empty()) {
    TRY(make_folders(path, 0755));  // as container runtimes do
    return Done{};
  }
  if (!there) return Error{Errc::not_found, "hostPath type check failed: " + path + " isn't there"};
  if (volume.host_type.empty() || has_type(info, volume.host_type)) return Done{};
  return Error{Errc::invalid, "hostPath type check failed: " + path + " is not of type " + printable(volume.host_type)};
}

}  // namespace

bool is_inner_path(std::string_view path) {
  if (path.empty() || path.size() > kLongestPath || path.find('\0') != std::string_view::npos) return false;
  const auto names = split(path, '/');
  return std::ranges::none_of(names,
                              [](std::string_view name) { return name.empty() || name == "." || name == ".."; });
}

std::string volume_path(const PodVolume& volume, const PodFolder& folder) {
  switch (volume.kind) {
    case VolumeKind::empty:
    case VolumeKind::memory: return folder.volumes() + "/" + volume.name;
    case VolumeKind::files: return folder.files() + "/" + volume.name;
    case VolumeKind::host_path: return volume.host_path;
  }
  return {};
}

Status write_files(const std::vector<PodFile>& files, const std::string& path, const VolumeOwner& owner) {
  const std::string fresh = path + ".new";
  std::error_code ignored;
  std::filesystem::remove_all(fresh, ignored);
  TRY(make_folders(fresh, 0755));
  const Fd root = TRY(open_file(fresh, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  for (const PodFile& file : files) TRY(write_one(root, file, owner));
  if (::chmod(fresh.c_str(), 0755) != 0) return system_error(errno, fresh);
  std::filesystem::remove_all(path, ignored);
  return std::rename(fresh.c_str(), path.c_str()) == 0 ? Status(Done{}) : Status(system_error(errno, path));
}

Status make_volumes(const std::vector<PodVolume>& volumes, const PodFolder& folder, const VolumeOwner& owner) {
  for (const PodVolume& volume : volumes) {
    const auto made = [&]() -> Status {
      if (!is_inner_path(volume.name) || volume.name.find('/') != std::string::npos) {
        return Error{Errc::invalid, "bad name"};
      }
      const std::string path = volume_path(volume, folder);
      if (volume.kind == VolumeKind::host_path) return check_host_path(volume);
      if (volume.kind != VolumeKind::files) return make_empty(volume, path, owner);
      return file_exists(path) ? Status(Done{}) : write_files(volume.files, path, owner);
    }();
    if (!made) return Error(made.error()).under("volume " + printable(volume.name));
  }
  return Done{};
}

Status bind_part(const std::string& volume, const std::string& part, const std::string& target) {
  if (!is_inner_path(part)) return Error{Errc::invalid, "bad part of a volume: " + printable(part)};
  const Fd root = TRY(open_file(volume, O_PATH | O_DIRECTORY));
  constexpr std::uint64_t kInside = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  auto found = open_at(root.get(), part, O_PATH, kInside);
  if (!found && errno == ENOENT) found = enter_folders(root, split(part, '/'), kInside, 0755);
  if (!found) return std::move(found).error().under("part of a volume");
  struct stat info{};
  if (::fstat(found->get(), &info) != 0) return system_error(errno, part);
  TRY(make_folders(target.substr(0, target.rfind('/')), 0755));
  if (S_ISDIR(info.st_mode)) {
    TRY(make_folders(target, 0755));
  } else {
    TRY(open_file(target, O_WRONLY | O_CREAT, 0644));
  }
  const std::string source = "/proc/self/fd/" + std::to_string(found->get());
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return system_error(errno, "bind " + part);
  }
  return Done{};
}

namespace {

// A path as the table of mounts writes it: blanks are octal.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 3 >= text.size()) {
      result += text[i];
      continue;
    }
    result += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return result;
}

std::vector<std::string> mounts_below(const std::string& path) {
  std::vector<std::string> found;
  const auto table = read_file("/proc/self/mounts");
  if (!table) return found;
  for (const std::string_view line : split(*table, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() < 2) continue;
    std::string at = unescaped(fields[1]);
    if (at == path || at.starts_with(path + "/")) found.push_back(std::move(at));
  }
  return found;
}

}  // namespace

Status remove_with_mounts(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return errno == ENOENT ? Status(Done{}) : Status(system_error(errno, path));
  const std::string at(real);
  std::free(real);  // NOLINT(cppcoreguidelines-no-malloc)
  auto mounts = mounts_below(at);
  for (auto mount = mounts.rbegin(); mount != mounts.rend(); ++mount) ::umount2(mount->c_str(), UMOUNT_NOFOLLOW);
  if (mounts = mounts_below(at); !mounts.empty()) return Error{Errc::conflict, mounts.front() + " is still mounted"};
  std::error_code failed;
  std::filesystem::remove_all(at, failed);
  return failed ? Status(Error{Errc::unavailable, at + ": " + failed.message()}) : Status(Done{});
}

}  // namespace drover::agent
