#include "os/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/text.h"

namespace drover {
namespace {

Errc code_of(int error_number) {
  switch (error_number) {
    case ENOENT: return Errc::not_found;
    case EACCES:
    case EPERM: return Errc::denied;
    case EEXIST: return Errc::conflict;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE: return Errc::exhausted;
    default: return Errc::unavailable;
  }
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status write_all(const Fd& file, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Done{};
}

Status write_new(const std::string& path, std::span<const std::string_view> parts, mode_t mode) {
  const Fd file = TRY(open_file(path, O_WRONLY | O_CREAT | O_TRUNC, mode));
  for (const std::string_view part : parts) TRY(write_all(file, part, path));
  return sync_data(file, path);
}

}  // namespace

Error system_error(int error_number, std::string_view what) {
  return Error{code_of(error_number), std::generic_category().message(error_number)}.under(what);
}

Result<Fd> open_file(const std::string& path, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return system_error(errno, path);
  return Fd(fd);
}

Result<std::string> read_file(const std::string& path) {
  const Fd file = TRY(open_file(path, O_RDONLY));
  std::string bytes;
  struct stat info {};
  if (::fstat(file.get(), &info) == 0 && info.st_size > 0) bytes.reserve(static_cast<std::size_t>(info.st_size));
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, path);
    if (n == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(n));
  }
}

bool file_exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

Result<std::string> read_at(const Fd& file, std::size_t size, std::uint64_t offset, std::string_view path) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(file.get(), bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, path);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

Status write_at(const Fd& file, std::string_view bytes, std::uint64_t offset, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return Done{};
}

Status sync_data(const Fd& file, std::string_view path) {
  if (::fdatasync(file.get()) != 0) return system_error(errno, path);
  return Done{};
}

Status write_file_durably(const std::string& path, std::span<const std::string_view> parts, mode_t mode) {
  const std::string temporary = path + ".tmp";
  Status written = write_new(temporary, parts, mode);
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error_number = errno;
    ::unlink(temporary.c_str());
    return system_error(error_number, path);
  }
  return sync_folder(folder_of(path));
}

Status write_file_durably(const std::string& path, std::string_view bytes, mode_t mode) {
  return write_file_durably(path, std::span(&bytes, 1), mode);
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0) return system_error(errno, path);
  return Done{};
}

Status sync_folder(const std::string& path) {
  const Fd folder = TRY(open_file(path, O_RDONLY | O_DIRECTORY));
  if (::fsync(folder.get()) != 0) return system_error(errno, path);
  return Done{};
}

Status make_folders(const std::string& path, mode_t mode) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), mode) != 0) {
      const int error_number = errno;
      struct stat info {};
      const bool folder = ::stat(part.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
      if (!folder) return system_error(error_number == EEXIST ? ENOTDIR : error_number, part);
    } else {
      TRY(sync_folder(folder_of(part)));
    }
    if (end == std::string::npos) return Done{};
  }
}

Result<std::vector<std::string>> list_folder(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) return system_error(errno, path);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return system_error(errno, path);
  std::sort(names.begin(), names.end());
  return names;
}

Result<DiskSpace> disk_space(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return system_error(errno, path);
  return DiskSpace{.free = std::uint64_t{info.f_bavail} * info.f_frsize,
                   .total = std::uint64_t{info.f_blocks} * info.f_frsize};
}

Status preallocate(const Fd& file, std::uint64_t size, std::string_view path) {
  const int error_number = ::posix_fallocate(file.get(), 0, static_cast<off_t>(size));
  if (error_number != 0) return system_error(error_number, path);
  return Done{};
}

Result<Fd> lock_file(const std::string& path) {
  Fd file = TRY(open_file(path, O_RDWR | O_CREAT));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error(errno, path);
    const auto holder = read_at(file, 32, 0, path);
    const std::string pid = holder ? printable(trim(*holder)) : std::string{};
    return Error{Errc::conflict, path + " is held by " + (pid.empty() ? "another process" : "process " + pid)};
  }
  if (::ftruncate(file.get(), 0) != 0) return system_error(errno, path);
  // On a full disk the lock still counts; only the pid in the message is missing then.
  static_cast<void>(write_at(file, std::to_string(::getpid()) + "\n", 0, path));
  return file;
}

}  // namespace drover
