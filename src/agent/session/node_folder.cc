#include "agent/session/node_folder.h"

#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/cgroup/cgroup.h"
#include "native/discovery.h"
#include "os/file.h"
#include "os/random.h"

namespace drover::agent {
namespace {

// A start takes a dozen small files, and on a disk each costs its journal. Where /run is one, a new folder gets a
// tmpfs of its own; whoever may not mount goes on without.
void put_on_tmpfs(const std::string& folder) {
  struct statfs below{};
  if (::geteuid() != 0 || ::statfs(folder.c_str(), &below) != 0 || below.f_type == TMPFS_MAGIC) return;
  const auto names = list_folder(folder);
  if (!names || !names->empty()) return;  // notes of an earlier agent, which mustn't be hidden
  [[maybe_unused]] const int mounted = ::mount("drover", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0711");
}

}  // namespace

Result<NodeFolder> node_folder(const std::string& state_dir, const std::string& node) {
  if (!is_safe_name(node)) return Error{Errc::invalid, "the node's name can't be used as a file name"};
  if (const std::string mark = state_dir + "/mark"; !file_exists(mark)) {
    TRY(write_file_durably(mark, random_bytes(16), 0644));
  }
  const native::NodePaths paths = TRY(native::node_paths(native::Surroundings::here(), state_dir, node));
  TRY(make_folders(paths.folder.substr(0, paths.folder.rfind('/')), 0755));
  // Jobs' scripts stand below it, each in a folder that only its user can read: others may pass through.
  TRY(make_folders(paths.folder, 0711));
  put_on_tmpfs(paths.folder);
  return NodeFolder{.path = paths.folder, .cgroup_root = paths.cgroup_root};
}

}  // namespace drover::agent
