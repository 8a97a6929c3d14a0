// The cluster file: whatever the text, an answer or one line of complaint that names the file.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "cli/cluster_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);  // NOLINT
  const auto file = drover::cli::parse_cluster_file(text, "f.yaml");
  if (!file) {
    CHECK(file.error().message.starts_with("f.yaml:"));
    CHECK(file.error().message.find('\n') == std::string::npos);
    return 0;
  }
  CHECK(!file->nodes.empty());
  CHECK(!file->config.partitions.empty());
  for (const auto& node : file->nodes) CHECK(file->node(node.declared.name) == &node);
  return 0;
}
