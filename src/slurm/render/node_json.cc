#include "slurm/render/node_json.h"

#include <algorithm>

#include "base/text.h"
#include "slurm/render/json.h"

namespace drover::slurm {
namespace {

std::int64_t count(std::uint64_t n) { return static_cast<std::int64_t>(n); }
std::string bare(std::string text) { return text == "(null)" ? "" : text; }

// "MIXED+PLANNED" as a list.
std::vector<std::string> state_words(const NodeState& state) {
  std::vector<std::string> words;
  for (const std::string_view word : split(flags_state(state), '+')) words.emplace_back(word);
  return words;
}

std::string node_object(const api::NodeView& view) {
  const NodeInventory& about = view.node.inventory;
  const CpuCounts cpus = cpu_counts(view);
  const Drain drain = view.node.drain.value_or(Drain{});
  JsonObject m;
  m.text("name", about.name).text("hostname", about.host_name).text("address", about.address);
  m.text("architecture", about.arch).text("operating_system", about.os).text("version", about.version);
  m.words("state", state_words(node_state(view))).words("partitions", view.partitions);
  m.number("cpus", about.cpus).number("effective_cpus", about.cpus).number("boards", 1);
  m.number("sockets", about.sockets)
      .number("cores", about.cores_per_socket)
      .number("threads", about.threads_per_core);
  m.number("alloc_cpus", count(cpus.allocated)).number("alloc_idle_cpus", count(cpus.idle));
  m.number("cpu_load", view.load_centi);
  const std::int64_t free = mib(view.memory_free);
  m.number("real_memory", mib(about.memory)).number("alloc_memory", mib(view.memory_used));
  m.maybe("free_mem", free == 0 ? std::nullopt : std::optional(free)).number("temporary_disk", mib(about.disk));
  m.text("gres", bare(gres_text(view))).text("gres_used", bare(gres_used_text(view))).text("gres_drained", "N/A");
  m.text("tres", print_tres(configured_tres(view))).text("tres_used", print_tres(allocated_tres(view)));
  m.words("features", about.features).words("active_features", about.features).number("weight", 1);
  m.maybe("boot_time", time_of(about.booted)).maybe("slurmd_start_time", time_of(about.agent_started));
  m.maybe("last_busy", time_of(view.node.last_busy));
  m.text("reason", drain.reason).text("reason_set_by_user", drain.user);
  m.maybe("reason_changed_at", time_of(drain.since));
  return m.end();
}

std::optional<std::int64_t> limit_of(std::uint32_t number) {
  return number == 0 ? std::nullopt : std::optional<std::int64_t>(number);
}
std::optional<std::int64_t> minutes_of(Duration limit) {
  return limit.count() == 0 ? std::nullopt : std::optional(seconds_of(limit) / 60);
}

std::string partition_object(const api::PartitionView& view) {
  const Partition& p = view.partition;
  const std::string nodes = nodes_text(view.nodes);
  const Tres tres{.cpus = view.cpus,
                  .memory_mib = mib(view.memory),
                  .nodes = view.nodes.size(),
                  .billing = view.cpus,
                  .gpus = gpu_total(view.gpus)};
  const auto memory = [&p](MemoryRule rule) {
    return p.memory_rule == rule ? std::optional(mib(p.memory)) : std::nullopt;
  };
  JsonObject m;
  m.text("name", p.name).flag("default", p.is_default);
  m.raw("nodes", JsonObject()
                     .text("allowed_allocation", "")
                     .text("configured", nodes)
                     .number("total", count(view.nodes.size()))
                     .end());
  m.raw("cpus", JsonObject().number("total", view.cpus).end());
  m.raw("tres", JsonObject().text("configured", print_tres(tres)).end());
  m.raw("maximums", JsonObject()
                        .maybe("nodes", limit_of(p.max_nodes), p.max_nodes == 0)
                        .maybe("time", minutes_of(p.max_time), p.max_time.count() == 0)
                        .end());
  m.raw("minimums", JsonObject().number("nodes", p.min_nodes).end());
  m.raw("defaults", JsonObject()
                        .maybe("time", minutes_of(p.default_time))
                        .maybe("partition_memory_per_cpu", memory(MemoryRule::per_cpu))
                        .maybe("partition_memory_per_node", memory(MemoryRule::per_node))
                        .end());
  m.raw("priority", JsonObject().number("job_factor", 1).number("tier", p.tier).end());
  m.raw("partition", JsonObject().words("state", {p.up ? "UP" : "DOWN"}).end());
  return m.end();
}

// The least and the most of a group.
template <class Get>
JsonObject span_of(const NodeRow& row, const Get& get) {
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (const api::NodeView* node : row.nodes) {
    const auto value = static_cast<std::int64_t>(get(*node));
    low = node == row.nodes.front() ? value : std::min(low, value);
    high = std::max(high, value);
  }
  return JsonObject().number("minimum", low).number("maximum", high);
}

std::string counts_of(const NodeRow& row) {
  CpuCounts nodes;
  std::vector<std::string> names;
  std::vector<std::string> hosts;
  std::vector<std::string> addresses;
  for (const api::NodeView* node : row.nodes) {
    const bool used = row.state.base == NodeBase::allocated || row.state.base == NodeBase::mixed;
    ++(row.state.draining || row.state.lost ? nodes.other : used ? nodes.allocated : nodes.idle);
    ++nodes.total;
    names.push_back(node->node.name());
    hosts.push_back(node->node.inventory.host_name);
    addresses.push_back(node->node.inventory.address);
  }
  return JsonObject()
      .number("allocated", count(nodes.allocated))
      .number("idle", count(nodes.idle))
      .number("other", count(nodes.other))
      .number("total", count(nodes.total))
      .words("nodes", names)
      .words("hostnames", hosts)
      .words("addresses", addresses)
      .end();
}

std::string cpus_of(const NodeRow& row) {
  CpuCounts cpus;
  for (const api::NodeView* node : row.nodes) cpus += cpu_counts(*node);
  return span_of(row, [](const api::NodeView& n) { return n.node.inventory.cpus; })
      .number("allocated", count(cpus.allocated))
      .number("idle", count(cpus.idle))
      .number("other", count(cpus.other))
      .number("total", count(cpus.total))
      .raw("load", span_of(row, [](const api::NodeView& n) { return n.load_centi; }).end())
      .end();
}

std::string memory_of(const NodeRow& row) {
  std::int64_t allocated = 0;
  for (const api::NodeView* node : row.nodes) allocated += mib(node->memory_used);
  return span_of(row, [](const api::NodeView& n) { return mib(n.node.inventory.memory); })
      .raw("free", span_of(row, [](const api::NodeView& n) { return mib(n.memory_free); }).end())
      .number("allocated", allocated)
      .end();
}

std::string group_object(const NodeRow& row) {
  JsonObject m;
  const api::NodeView* first = row.nodes.empty() ? nullptr : row.nodes.front();
  m.raw("node",
        JsonObject().words("state", first == nullptr ? std::vector<std::string>{} : state_words(row.state)).end());
  m.raw("nodes", counts_of(row)).raw("cpus", cpus_of(row)).raw("memory", memory_of(row));
  m.raw("sockets", span_of(row, [](const api::NodeView& n) { return n.node.inventory.sockets; }).end());
  m.raw("cores", span_of(row, [](const api::NodeView& n) { return n.node.inventory.cores_per_socket; }).end());
  m.raw("threads", span_of(row, [](const api::NodeView& n) { return n.node.inventory.threads_per_core; }).end());
  m.raw("disk", span_of(row, [](const api::NodeView& n) { return mib(n.node.inventory.disk); }).end());
  const std::string features = first == nullptr ? "" : bare(features_text(*first));
  m.raw("features", JsonObject().text("total", features).text("active", features).end());
  m.raw("gres", JsonObject()
                    .text("total", first == nullptr ? "" : bare(gres_text(*first)))
                    .text("used", first == nullptr ? "" : bare(gres_used_text(*first)))
                    .end());
  const Drain drain = first == nullptr ? Drain{} : first->node.drain.value_or(Drain{});
  m.raw("reason", JsonObject()
                      .text("description", drain.reason)
                      .maybe("time", time_of(drain.since))
                      .text("user", drain.user)
                      .end());
  m.raw("partition", row.partition == nullptr ? "{}" : partition_object(*row.partition));
  return m.end();
}

}  // namespace

std::string nodes_json(const std::vector<api::NodeView>& nodes, const Look& look) {
  std::vector<std::string> items;
  for (const api::NodeView& node : nodes) items.push_back(node_object(node));
  return json_answer("nodes", items, unix_seconds(look.now));
}

std::string partitions_json(const std::vector<api::PartitionView>& partitions, const Look& look) {
  std::vector<std::string> items;
  for (const api::PartitionView& partition : partitions) items.push_back(partition_object(partition));
  return json_answer("partitions", items, unix_seconds(look.now));
}

std::string info_json(const std::vector<NodeRow>& rows) {
  std::vector<std::string> items;
  for (const NodeRow& row : rows) items.push_back(group_object(row));
  return json_answer("sinfo", items);
}

}  // namespace drover::slurm
