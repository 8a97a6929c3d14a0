#include "native/login.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "native/discovery.h"
#include "native/messages.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"

namespace drover::native {
namespace {

Result<Fd> start(const std::string& folder, const char* what) {
  return spawn_connected({program_folder() + "/drover-connect", folder, what});
}

// One byte at a time: what follows the line is the caller's.
Result<std::string> read_line(int fd, Duration end) {
  std::string line;
  for (;;) {
    char c = 0;
    const ssize_t n = ::recv(fd, &c, 1, 0);
    if (n > 0 && c == '\n') return line;
    if (n > 0 && line.size() < kLongestWord) {
      line += c;
      continue;
    }
    if (n >= 0) return Error{Errc::unavailable, "drover-connect ended without a word"};
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return system_error(errno, "drover-connect");
    pollfd watched{fd, POLLIN, 0};
    const auto left = std::clamp<std::int64_t>((end - since_boot()).count(), 0, 1 << 30);
    if (::poll(&watched, 1, static_cast<int>(left)) == 0)
      return Error{Errc::unavailable, "the controller does not answer"};
  }
}

}  // namespace

bool is_login(const std::string& folder) { return file_exists(login_in(folder)); }

std::optional<LoggedIn> logged_in(const std::string& folder) {
  constexpr std::string_view kUser = "\nuser: ";
  const auto text = read_file(login_in(folder));
  if (!text) return std::nullopt;
  const std::size_t at = text->find(kUser);
  if (at == std::string::npos) return std::nullopt;
  std::string_view line = std::string_view(*text).substr(at + kUser.size());
  line = line.substr(0, line.find('\n'));
  const std::size_t colon = line.find(':');
  const auto uid = parse_uint(line.substr(0, colon));
  if (!uid || *uid > 0xFFFFFFFFU || colon == std::string_view::npos) return std::nullopt;
  return LoggedIn{.uid = static_cast<std::uint32_t>(*uid),
                  .user = std::string(line.substr(colon + 1))};
}

Result<Fd> dial_api(const std::string& folder, Duration patience) {
  Fd fd = TRY(start(folder, "api"));
  const std::string line = TRY(read_line(fd.get(), since_boot() + patience + seconds(1)));
  if (line == kReady) return fd;
  const std::size_t space = line.find(' ');
  return Error{errc_from_word(line.substr(0, space)),
               space == std::string::npos ? line : line.substr(space + 1)};
}

Result<Fd> dial_stream(const std::string& folder) { return start(folder, "stream"); }

}  // namespace drover::native
