#include "agent/session/node_folder.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/cgroup/cgroup.h"
#include "native/discovery.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/random.h"

namespace drover::agent {
namespace {

// A start takes a dozen small files, and on a disk each costs its journal. Where /run is one, all nodes' folders get
// a tmpfs; whoever may not mount goes on without. It is one for all of them and stays, since the keepers of this
// machine live in copies of its mounts: what is mounted after a copy was made isn't seen there.
void put_on_tmpfs(const std::string& parent) {
  const Fd below(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (::geteuid() != 0 || !below || ::flock(below.get(), LOCK_EX) != 0) return;  // one agent at a time
  struct statfs now{};
  if (::statfs(parent.c_str(), &now) != 0 || now.f_type == TMPFS_MAGIC) return;
  const auto names = list_folder(parent);
  if (!names || !names->empty()) return;  // notes of earlier agents, which mustn't be hidden
  [[maybe_unused]] const int mounted = ::mount("drover", parent.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
}

}  // namespace

Result<NodeFolder> node_folder(const std::string& state_dir, const std::string& node) {
  if (!is_safe_name(node)) return Error{Errc::invalid, "the node's name can't be used as a file name"};
  if (const std::string mark = state_dir + "/mark"; !file_exists(mark)) {
    TRY(write_file_durably(mark, random_bytes(16), 0644));
  }
  const native::NodePaths paths = TRY(native::node_paths(native::Surroundings::here(), state_dir, node));
  const std::string parent = paths.folder.substr(0, paths.folder.rfind('/'));
  TRY(make_folders(parent, 0755));
  put_on_tmpfs(parent);
  // Jobs' scripts stand below it, each in a folder that only its user can read: others may pass through.
  TRY(make_folders(paths.folder, 0711));
  return NodeFolder{.path = paths.folder, .cgroup_root = paths.cgroup_root};
}

}  // namespace drover::agent
