#include "cli/ask.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "native/client.h"
#include "native/to_json.h"

namespace drover::cli {
namespace {

// n2 before n10: by what stands before the last digits, then by length.
bool by_name(const api::NodeView& a, const api::NodeView& b) {
  const auto key = [](const api::NodeView& view) {
    const std::string& name = view.node.name();
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    return std::tuple(name.substr(0, digits), name.size(), name);
  };
  return key(a) < key(b);
}

// A person waits, or a loop that will ask again.
native::Client client_of(const Place& place) {
  return native::Client(place.state(), {.connect_patience = Duration(200), .answer_patience = seconds(5)});
}

Status wish(native::Client& client, Command command) {
  const auto answer = TRY(client.execute({.command = std::move(command)}));
  if (const auto* refusal = std::get_if<Refusal>(&answer)) {
    return Error{native::errc_of(refusal->code), native::refusal_text(*refusal)};
  }
  return Done{};
}

}  // namespace

Result<ClusterView> look(const Place& place) {
  native::Client client = client_of(place);
  ClusterView view;
  view.overview = TRY(client.overview());
  TRY(client.nodes([&](api::NodeView& node) { view.nodes.push_back(std::move(node)); }));
  std::ranges::sort(view.nodes, by_name);
  return view;
}

std::string view_json(const ClusterView& view) {
  std::string text = "{\"overview\":" + native::to_json(view.overview) + ",\"nodes\":[";
  for (const api::NodeView& node : view.nodes) {
    if (&node != &view.nodes.front()) text += ',';
    text += native::to_json(node);
  }
  return text + "]}\n";
}

Status end_running_jobs(const Place& place) {
  native::Client client = client_of(place);
  std::vector<std::string> partitions;
  TRY(client.partitions([&](api::PartitionView& view) { partitions.push_back(view.partition.name); }));
  for (const std::string& name : partitions) TRY(wish(client, UpdatePartition{.name = name, .up = false}));
  return wish(client, Cancel{.jobs = {.phases = {Phase::placed, Phase::running}}});
}

}  // namespace drover::cli
