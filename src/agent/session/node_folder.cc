#include "agent/session/node_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "agent/cgroup/cgroup.h"
#include "base/hash.h"
#include "os/file.h"

namespace drover::agent {

Result<NodeFolder> node_folder(const std::string& state_dir, const std::string& node) {
  if (!is_safe_name(node)) return Error{Errc::invalid, "the node's name can't be used as a file name"};
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::canonical(state_dir, failed);
  if (failed) return Error{Errc::not_found, fmt::format("{}: {}", state_dir, failed.message())};
  const std::string mark = fmt::format("{:08x}", fnv1a(whole.string()) & 0xffffffffU);
  std::string base = "/run/drover";
  if (::geteuid() != 0) {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    base = runtime != nullptr && *runtime == '/' ? fmt::format("{}/drover", runtime)
                                                 : fmt::format("/tmp/drover-{}", ::geteuid());
  }
  NodeFolder folder{.path = fmt::format("{}/{}-{}", base, mark, node),
                    .cgroup_root = fmt::format("drover/{}-{}", mark, node)};
  TRY(make_folders(base, ::geteuid() == 0 ? 0755 : 0700));
  // Jobs' scripts stand below it, each in a folder that only its user can read: others may pass through.
  TRY(make_folders(folder.path, 0711));
  return folder;
}

}  // namespace drover::agent
