// A pod's volumes on its node's file systems. A pod's manifest names paths, and a pod's containers put links
// into its folders: no name leads out of the volume that it is looked up in.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "agent/pod/folder.h"
#include "base/result.h"
#include "domain/pod.h"
#include "os/fd.h"

namespace drover::agent {

struct VolumeOwner {
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::optional<std::int64_t> fs_group;  // shares all of the pod's own volumes
};

// Makes all volumes, or says which can't be. May be called again.
[[nodiscard]] Status make_volumes(const std::vector<PodVolume>& volumes, const PodFolder& folder,
                                  const VolumeOwner& owner);
// The folder (or file) of a volume.
[[nodiscard]] std::string volume_path(const PodVolume& volume, const PodFolder& folder);

// What a mount of a part of a volume has as its source: bound to `target`, so that nobody can exchange it
// between our look and the runtime's. Makes the part as a folder where it isn't there.
[[nodiscard]] Status bind_part(const std::string& volume, const std::string& part, const std::string& target);

// "a/b": relative, without ".", ".." and empty names.
[[nodiscard]] bool is_inner_path(std::string_view path);

// Writes files into a new folder that takes the place of `path` as a whole.
[[nodiscard]] Status write_files(const std::vector<PodFile>& files, const std::string& path, const VolumeOwner& owner);

}  // namespace drover::agent
