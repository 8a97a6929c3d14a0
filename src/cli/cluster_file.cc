#include "cli/cluster_file.h"

#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "cli/amounts.h"
#include "cli/cluster_part.h"
#include "cli/yaml_value.h"
#include "os/file.h"
#include "wire/socket.h"

namespace drover::cli {
namespace {

constexpr std::string_view kTopKeys[] = {"cluster", "kubernetes", "listen", "nodes",
                                         "partitions", "pods", "settings"};

constexpr std::string_view kDefaultCluster = R"(# The cluster that `drover up` starts by default.
# Its GPUs are declared: scheduled and granted like real ones, but there is no card behind them.
cluster: drover
nodes:
  - name: n1
    sockets: 2
    cores: 32
    memory: 512000M
    features: [a100, nvlink]
    gpus: {model: a100, count: 8, memory: 80GB, nvlink: true}
  - name: n2
    cpus: 32
    memory: 128000M
    features: [t4]
    gpus: {model: t4, count: 4}
  - name: n3
    cpus: 16
    memory: 64000M
    features: [cpu]
    gpus: none
partitions:
  - {name: main, default: true, nodes: all, max_time: 7d}
)";

Status read_nodes(ClusterFile& file, const YamlValue& list) {
  std::map<std::string, int, std::less<>> lines;
  constexpr std::size_t kMostNodes = 16'384;
  for (const YamlValue& item : TRY(list.items())) {
    for (NodeDeclaration& node : TRY(read_node(item))) {
      const auto [first, fresh] = lines.emplace(node.declared.name, item.line());
      if (!fresh) {
        return item.error("node " + node.declared.name + " is declared twice; the first time in line " +
                          std::to_string(first->second));
      }
      file.nodes.push_back(std::move(node));
      if (file.nodes.size() > kMostNodes) return item.error("a cluster has at most 16384 nodes");
    }
  }
  if (file.nodes.empty()) return list.error("a cluster needs at least one node");
  return Done{};
}

Status nodes_exist(const ClusterFile& file, const Partition& partition, const YamlValue& where) {
  std::vector<std::string_view> names;
  for (const NodeDeclaration& node : file.nodes) names.emplace_back(node.declared.name);
  for (const std::string& name : partition.nodes) {
    if (file.node(name) != nullptr) continue;
    const std::string_view meant = nearest_word(name, names);
    return where.error("partition " + partition.name + " names node '" + printable(name, 63) +
                       "', which isn't declared" +
                       (meant.empty() ? "" : "; did you mean '" + std::string(meant) + "'?"));
  }
  return Done{};
}

Status read_partitions(ClusterFile& file, const YamlValue& list) {
  std::map<std::string, int, std::less<>> lines;
  int default_line = 0;
  for (const YamlValue& item : TRY(list.items())) {
    Partition partition = TRY(read_partition(item));
    const auto [first, fresh] = lines.emplace(partition.name, item.line());
    if (!fresh) {
      return item.error("partition " + partition.name + " stands here twice; the first is in line " +
                        std::to_string(first->second));
    }
    if (partition.is_default && std::exchange(default_line, item.line()) != 0) {
      return item.error("only one partition can be the default");
    }
    TRY(nodes_exist(file, partition, item));
    file.config.partitions.push_back(std::move(partition));
  }
  if (file.config.partitions.empty()) return list.error("a cluster needs at least one partition");
  if (file.config.partitions.size() == 1) file.config.partitions[0].is_default = true;
  return Done{};
}

}  // namespace

const NodeDeclaration* ClusterFile::node(std::string_view name) const {
  for (const NodeDeclaration& node : nodes) {
    if (node.declared.name == name) return &node;
  }
  return nullptr;
}

Result<ClusterFile> parse_cluster_file(const std::string& text, const std::string& file_name) {
  const YamlValue top = TRY(YamlValue::parse(text, file_name));
  const YamlFields fields = TRY(top.fields(kTopKeys));
  ClusterFile file;
  if (const YamlValue* settings = fields.find("settings")) file.config.settings = TRY(read_settings(*settings));
  if (const YamlValue* name = fields.find("cluster")) {
    const auto names = expand_names(TRY(name->text()));
    if (!names || names->size() != 1) return name->error("a cluster name is letters, digits, '-', '_' and '.'");
    file.config.settings.cluster_name = names->front();
  }
  if (const YamlValue* listen = fields.find("listen")) {
    file.listen = TRY(listen->text());
    const auto at = wire::Endpoint::parse(file.listen);
    if (!at || !at->path.empty()) return listen->error("listen: is HOST:PORT, as in 10.0.0.1:7411");
  }
  if (const YamlValue* kubernetes = fields.find("kubernetes")) {
    file.kubernetes = TRY(kubernetes->text());
    const auto at = wire::Endpoint::parse(file.kubernetes);
    if (file.kubernetes != "off" && (!at || !at->path.empty())) {
      return kubernetes->error("kubernetes: is HOST:PORT, as in 10.0.0.1:6443, or off");
    }
  }
  if (const YamlValue* pods = fields.find("pods")) file.pods = TRY(pods->flag());
  const YamlValue* nodes = fields.find("nodes");
  if (nodes == nullptr) return top.error("'nodes:' is missing: a cluster needs at least one node");
  TRY(read_nodes(file, *nodes));
  if (const YamlValue* partitions = fields.find("partitions")) {
    TRY(read_partitions(file, *partitions));
  } else {
    file.config.partitions.push_back({.name = "main", .is_default = true});
  }
  return file;
}

Result<ClusterFile> read_cluster_file(const std::string& path) {
  return parse_cluster_file(TRY(read_file(path)), path);
}

std::string_view default_cluster() { return kDefaultCluster; }

}  // namespace drover::cli
