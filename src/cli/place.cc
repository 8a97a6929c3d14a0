#include "cli/place.h"

#include <sys/file.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.h"
#include "native/discovery.h"
#include "os/file.h"

namespace drover::cli {
namespace {

constexpr std::size_t kLongestState = 3000;  // sockets lie deeper, and a path has 4096 bytes

Result<Place> absolute(std::string path) {
  if (!path.starts_with('/')) {
    std::array<char, 4096> here{};
    if (::getcwd(here.data(), here.size()) == nullptr) return system_error(errno, "the working folder");
    path = std::string(here.data()) + "/" + path;
  }
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path == "/" || path.size() > kLongestState || path.find('\n') != std::string::npos) {
    return Error{Errc::invalid, "'" + printable(path) + "' can't be a state folder"};
  }
  return Place(std::move(path));
}

}  // namespace

Status Place::create() const {
  TRY(make_folders(state_, 0755));
  TRY(make_folders(logs(), 0750));
  return make_folders(state_ + "/nodes", 0755);
}

Result<Place> place_for_up(const std::string& named) {
  const auto at = native::Surroundings::here();
  return absolute(!named.empty() ? named : !at.chosen.empty() ? at.chosen : native::default_state_dir(at));
}

Result<Place> place_of_running(const std::string& named) {
  return absolute(named.empty() ? TRY(native::find_state_folder()) : named);
}

Result<pid_t> holder_of(const Place& place) {
  const Fd file(::open(place.lock().c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return 0;
  if (!file) return system_error(errno, place.lock());
  if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0) return 0;
  const std::string text = TRY(read_at(file, 32, 0, place.lock()));
  const auto pid = parse_int(trim(text));
  if (!pid || *pid <= 1) return Error{Errc::conflict, place.lock() + ": somebody holds it, but it names no process"};
  return static_cast<pid_t>(*pid);
}

}  // namespace drover::cli
