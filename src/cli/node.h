// `drover node token|list|revoke`: which machines belong to the cluster. Each returns the exit
// code.
#pragma once

#include <string>

namespace drover::cli {

struct NodeOptions {
  std::string state;  // "": as discovery finds it
  std::string name;   // of the node; "" for a token: any
  std::string ttl = "15m";
};
int node_token(const NodeOptions& options);
int node_list(const NodeOptions& options);
int node_revoke(const NodeOptions& options);

}  // namespace drover::cli
