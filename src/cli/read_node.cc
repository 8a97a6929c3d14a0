#include <utility>

#include "base/text.h"
#include "cli/amounts.h"
#include "cli/cluster_part.h"

namespace drover::cli {
namespace {

constexpr std::string_view kNodeKeys[] = {"name",   "address", "cpus",     "sockets", "cores", "threads",
                                          "memory", "disk",    "features", "labels",  "gpus",  "submit",  "joins"};
constexpr std::uint32_t kMostCpus = 65'536;
constexpr std::size_t kMostGpus = 100'000;  // of one entry

Result<std::uint32_t> positive(const YamlFields& fields, std::string_view key, std::uint32_t otherwise) {
  const YamlValue* value = fields.find(key);
  if (value == nullptr) return otherwise;
  const std::uint32_t number = TRY(value->number());
  if (number == 0 || number > kMostCpus) return value->error(std::string(key) + " is 1 to 65536");
  return number;
}

Result<Bytes> size_of(const YamlFields& fields, std::string_view key) {
  const YamlValue* value = fields.find(key);
  if (value == nullptr) return Bytes{};
  const auto size = parse_size(TRY(value->text()));
  if (!size) return value->error(size.error().message);
  return *size;
}

Status read_cpus(NodeInventory& node, const YamlValue& entry, const YamlFields& fields) {
  const bool shaped = fields.find("sockets") != nullptr || fields.find("cores") != nullptr;
  node.cpus = TRY(positive(fields, "cpus", 0));
  node.sockets = TRY(positive(fields, "sockets", 1));
  node.threads_per_core = TRY(positive(fields, "threads", 1));
  const std::uint64_t around = std::uint64_t{node.sockets} * node.threads_per_core;
  if (fields.find("cores") == nullptr && node.cpus != 0) {
    if (node.cpus % around != 0) {
      return entry.error(std::to_string(node.cpus) + " CPUs don't divide into " + std::to_string(node.sockets) +
                         " sockets of " + std::to_string(node.threads_per_core) + " threads a core");
    }
    node.cores_per_socket = static_cast<std::uint32_t>(node.cpus / around);
    return Done{};
  }
  if (!shaped) return Done{};  // as the machine has
  if (fields.find("cores") == nullptr) return entry.error("sockets: without cores: or cpus: says too little");
  node.cores_per_socket = TRY(positive(fields, "cores", 1));
  const std::uint64_t product = around * node.cores_per_socket;
  if (product > kMostCpus) return entry.error("a node has at most 65536 CPUs");
  if (node.cpus != 0 && node.cpus != product) {
    return entry.error(std::to_string(node.cpus) + " CPUs, but sockets x cores x threads is " +
                       std::to_string(product));
  }
  node.cpus = static_cast<std::uint32_t>(product);
  return Done{};
}

Status read_features(NodeInventory& node, const YamlValue& value) {
  node.features = TRY(value.texts());
  for (const std::string& feature : node.features) {
    if (feature.find_first_of("&|,()[]*! \t") == std::string::npos) continue;
    return value.error("'" + printable(feature, 60) + "' can't be a feature: " +
                       "it is typed as --constraint=FEATURE&FEATURE; list features as [a, b]");
  }
  return Done{};
}

}  // namespace

Result<std::vector<NodeDeclaration>> read_node(const YamlValue& entry) {
  const YamlFields fields = TRY(entry.fields(kNodeKeys));
  const YamlValue* name = fields.find("name");
  if (name == nullptr) return entry.error("'name:' of the node is missing");
  const auto names = expand_names(TRY(name->text()));
  if (!names) return name->error(names.error().message);

  NodeDeclaration node;
  TRY(read_cpus(node.declared, entry, fields));
  node.declared.memory = TRY(size_of(fields, "memory"));
  node.declared.disk = TRY(size_of(fields, "disk"));
  if (const YamlValue* address = fields.find("address")) node.declared.address = TRY(address->text());
  if (const YamlValue* features = fields.find("features")) TRY(read_features(node.declared, *features));
  if (const YamlValue* labels = fields.find("labels")) node.declared.labels = TRY(labels->pairs());
  if (const YamlValue* joins = fields.find("joins")) node.joins = TRY(joins->flag());
  if (const YamlValue* submit = fields.find("submit")) node.submit = TRY(submit->flag());
  const YamlValue* gpus = fields.find("gpus");
  node.probe_devices = gpus == nullptr;

  std::vector<NodeDeclaration> nodes;
  for (const std::string& each : *names) {
    node.declared.name = each;
    if (gpus != nullptr) node.declared.devices = TRY(read_gpus(*gpus, each));
    if (names->size() * node.declared.devices.size() > kMostGpus) return gpus->error("these are more than 100000 GPUs");
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace drover::cli
