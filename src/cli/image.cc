#include "cli/image.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "cli/containerd.h"
#include "cli/table.h"
#include "os/fd.h"
#include "os/file.h"

namespace drover::cli {
namespace {

constexpr const char* kClient = "/usr/bin/ctr";

int fail(const std::string& message) {
  std::fputs(("drover: " + message + "\n").c_str(), stderr);
  return 1;
}

// containerd's own client, in the name space that pods use. What it prints comes back.
Result<std::string> ask_client(const std::string& socket, const std::vector<std::string>& words) {
  std::vector<std::string> argv{kClient, "-a", socket, "-n", "k8s.io"};
  argv.insert(argv.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : argv) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error(errno, "pipe");
  const Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return system_error(errno, "fork");
  if (child == 0) {
    ::dup2(to.get(), STDOUT_FILENO);
    ::execv(kClient, pointers.data());
    std::_Exit(127);
  }
  to.reset();
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t n = 0; (n = ::read(from.get(), piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  return Error{Errc::unavailable, "containerd didn't do it (see above)"};
}

Result<std::string> socket_for(const ImageOptions& options) {
  if (::geteuid() != 0) return Error{Errc::denied, "images of containers need root"};
  if (::access(kClient, X_OK) != 0) {
    return Error{Errc::not_found, "containerd isn't installed here (Debian's package is called containerd)"};
  }
  const auto place = place_of_running(options.state);
  if (place) return find_containerd(*place);
  if (file_exists(kMachinesContainerd)) return std::string(kMachinesContainerd);
  return Error{Errc::not_found, "no containerd runs here; start the cluster with `drover up --pods`"};
}

}  // namespace

int image_load(const ImageOptions& options) {
  const auto socket = socket_for(options);
  if (!socket) return fail(socket.error().message);
  for (const std::string& file : options.files) {
    if (!file_exists(file)) return fail(file + ": there is no such file");
  }
  for (const std::string& file : options.files) {
    const auto said = ask_client(*socket, {"images", "import", file});
    if (!said) return fail(file + ": " + said.error().message);
    // "unpacking NAME (sha256:...)...done"
    for (const std::string_view line : split(*said, '\n')) {
      const auto words = split(line, ' ');
      if (words.size() >= 2 && words[0] == "unpacking") std::printf("loaded %s\n", std::string(words[1]).c_str());
    }
  }
  return 0;
}

int image_list(const ImageOptions& options) {
  const auto socket = socket_for(options);
  if (!socket) return fail(socket.error().message);
  const auto said = ask_client(*socket, {"images", "list"});
  if (!said) return fail(said.error().message);
  std::vector<Row> rows{{"IMAGE", "SIZE"}};
  for (const std::string_view line : split(*said, '\n')) {
    std::vector<std::string> words;
    for (const std::string_view word : split(line, ' ')) {
      if (!word.empty()) words.emplace_back(word);
    }
    // REF TYPE DIGEST 1.2 MiB PLATFORMS; a name that is a digest is the same image once more.
    if (words.size() < 5 || words[0] == "REF" || words[0].starts_with("sha256:")) continue;
    rows.push_back({words[0], words[3] + " " + words[4]});
  }
  std::fputs(table(rows).c_str(), stdout);
  return 0;
}

}  // namespace drover::cli
