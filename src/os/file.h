// Files that must survive: whole reads, durable replacement, locks, free space. Every error names
// its file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace drover {

// The error of a failed system call: "what: No such file or directory".
[[nodiscard]] Error system_error(int error_number, std::string_view what);

// open(2) with O_CLOEXEC.
Result<Fd> open_file(const std::string& path, int flags, mode_t mode = 0600);
// Errc::not_found when there is no such file.
Result<std::string> read_file(const std::string& path);
[[nodiscard]] bool file_exists(const std::string& path);
// At most `size` bytes from `offset`; fewer only at the end of the file.
Result<std::string> read_at(const Fd& file, std::size_t size, std::uint64_t offset, std::string_view path);
Status write_at(const Fd& file, std::string_view bytes, std::uint64_t offset, std::string_view path);
Status sync_data(const Fd& file, std::string_view path);

// After success the file holds exactly these parts, one after the other, whatever crashes; after
// failure it holds what it held before. (Temporary file, fdatasync, rename, fsync of the folder.)
Status write_file_durably(const std::string& path, std::span<const std::string_view> parts, mode_t mode = 0600);
Status write_file_durably(const std::string& path, std::string_view bytes, mode_t mode = 0600);
Status remove_file(const std::string& path);
Status sync_folder(const std::string& path);
Status make_folders(const std::string& path, mode_t mode = 0700);
// Names of the entries, sorted, without "." and "..".
Result<std::vector<std::string>> list_folder(const std::string& path);

struct DiskSpace {
  std::uint64_t free = 0;  // to a process without privileges
  std::uint64_t total = 0;
};
Result<DiskSpace> disk_space(const std::string& path);
// Gives `file` `size` bytes of real disk, or fails.
Status preallocate(const Fd& file, std::uint64_t size, std::string_view path);

// Holds the lock for as long as the Fd lives, and writes the pid into the file. A second holder is
// refused with Errc::conflict and the pid of the first.
Result<Fd> lock_file(const std::string& path);

}  // namespace drover
