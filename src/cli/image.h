// `drover image load|list`: the images that pods on this machine run. Each returns the exit code.
#pragma once

#include <string>
#include <vector>

namespace drover::cli {

struct ImageOptions {
  std::string state;               // "": as discovery finds it
  std::vector<std::string> files;  // archives, as `docker save` or skopeo (oci-archive) write them
};
int image_load(const ImageOptions& options);
int image_list(const ImageOptions& options);

}  // namespace drover::cli
