#include "agent/session/node_folder.h"

#include <unistd.h>

#include "agent/cgroup/cgroup.h"
#include "native/discovery.h"
#include "os/file.h"
#include "os/random.h"

namespace drover::agent {

Result<NodeFolder> node_folder(const std::string& state_dir, const std::string& node) {
  if (!is_safe_name(node)) return Error{Errc::invalid, "the node's name can't be used as a file name"};
  if (const std::string mark = state_dir + "/mark"; !file_exists(mark)) {
    TRY(write_file_durably(mark, random_bytes(16), 0644));
  }
  const native::NodePaths paths = TRY(native::node_paths(native::Surroundings::here(), state_dir, node));
  TRY(make_folders(paths.folder.substr(0, paths.folder.rfind('/')), 0755));
  // Jobs' scripts stand below it, each in a folder that only its user can read: others may pass through.
  TRY(make_folders(paths.folder, 0711));
  return NodeFolder{.path = paths.folder, .cgroup_root = paths.cgroup_root};
}

}  // namespace drover::agent
