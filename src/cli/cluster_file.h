// The cluster file (YAML, docs/cluster-file.md): the nodes, partitions and settings of a cluster,
// written by people. Mistakes are one line with file and line number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/config.h"
#include "domain/node.h"

namespace drover::cli {

struct NodeDeclaration {
  // What the file says. 0 CPUs, memory or disk: what the machine has.
  NodeInventory declared;
  bool joins = false;        // it is another machine, whose agent joins by token
  bool submit = false;        // any user may ask the controller from there, also without a job
  bool probe_devices = true;  // the file says nothing of GPUs: take those of the machine
};

struct ClusterFile {
  Config config;
  std::string listen;                  // "host:port" for nodes on other machines; "": none
  std::string kubernetes;              // "host:port" of that door, "off", or "": not said
  bool pods = false;                   // this machine's nodes run containers: with a containerd, if need be our own
  std::vector<NodeDeclaration> nodes;  // in the order written
  [[nodiscard]] const NodeDeclaration* node(std::string_view name) const;
};

[[nodiscard]] Result<ClusterFile> read_cluster_file(const std::string& path);
// `file` is only used in messages.
[[nodiscard]] Result<ClusterFile> parse_cluster_file(const std::string& text, const std::string& file);

// The cluster that `drover up` starts when no file is named.
[[nodiscard]] std::string_view default_cluster();

}  // namespace drover::cli
