#include "slurm/render/node_fields.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"

namespace drover::slurm {
namespace {

using Row = const NodeRow&;
using Lk = const Look&;

std::string number(std::uint64_t n) { return std::to_string(n); }

// The smallest of the group, with "+" where others have more.
template <class Get>
std::string least(Row row, const Get& get) {
  std::uint64_t low = UINT64_MAX;
  std::uint64_t high = 0;
  for (const api::NodeView* node : row.nodes) {
    const auto value = static_cast<std::uint64_t>(get(*node));
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (row.nodes.empty()) return "0";
  return number(low) + (high > low ? "+" : "");
}

std::string cpus(Row row, Lk) {
  return least(row, [](const api::NodeView& n) { return n.node.inventory.cpus; });
}
std::string memory(Row row, Lk) {
  return least(row, [](const api::NodeView& n) { return mib(n.node.inventory.memory); });
}
std::string disk(Row row, Lk) {
  return least(row, [](const api::NodeView& n) { return mib(n.node.inventory.disk); });
}
std::string alloc_memory(Row row, Lk) {
  return least(row, [](const api::NodeView& n) { return mib(n.memory_used); });
}
std::string sockets(Row row, Lk) {
  return least(row, [](const api::NodeView& n) { return n.node.inventory.sockets; });
}
std::string cores(Row row, Lk) {
  return least(row, [](const api::NodeView& n) { return n.node.inventory.cores_per_socket; });
}
std::string threads(Row row, Lk) {
  return least(row, [](const api::NodeView& n) { return n.node.inventory.threads_per_core; });
}
std::string sct(Row row, Lk look) { return sockets(row, look) + ":" + cores(row, look) + ":" + threads(row, look); }

// Of the first node: for fields that separate rows.
template <class Get>
std::string first(Row row, const Get& get, std::string_view none) {
  return row.nodes.empty() ? std::string(none) : get(*row.nodes.front());
}

std::string free_memory(Row row, Lk) {
  return first(
      row,
      [](const api::NodeView& n) {
        return n.memory_free.count() == 0 ? std::string("N/A") : std::to_string(mib(n.memory_free));
      },
      "N/A");
}
std::string load(Row row, Lk) {
  return first(
      row, [](const api::NodeView& n) { return load_text(n.load_centi); }, "N/A");
}
std::string reason(Row row, Lk) {
  return first(
      row,
      [](const api::NodeView& n) {
        return n.node.drain ? printable(n.node.drain->reason, 1024) : std::string("none");
      },
      "none");
}
std::string reason_user(Row row, Lk) {
  return first(
      row, [](const api::NodeView& n) { return n.node.drain ? n.node.drain->user : std::string("Unknown"); },
      "Unknown");
}
std::string reason_user_long(Row row, Lk) {
  return first(
      row,
      [](const api::NodeView& n) {
        return n.node.drain ? n.node.drain->user + "(" + number(n.node.drain->uid) + ")" : std::string("Unknown");
      },
      "Unknown");
}
std::string reason_time(Row row, Lk look) {
  if (row.nodes.empty() || !row.nodes.front()->node.drain) return "Unknown";
  return look.times.print(time_of(row.nodes.front()->node.drain->since), "Unknown");
}
std::string features(Row row, Lk) {
  return first(
      row, [](const api::NodeView& n) { return features_text(n); }, "(null)");
}
std::string gres(Row row, Lk) {
  return first(
      row, [](const api::NodeView& n) { return gres_text(n); }, "(null)");
}
std::string gres_used(Row row, Lk) {
  return first(
      row, [](const api::NodeView& n) { return gres_used_text(n); }, "(null)");
}
std::string address(Row row, Lk) {
  return first(
      row, [](const api::NodeView& n) { return n.node.inventory.address; }, "");
}
std::string host(Row row, Lk) {
  return first(
      row, [](const api::NodeView& n) { return n.node.name(); }, "");
}
std::string version(Row row, Lk) {
  return first(
      row, [](const api::NodeView& n) { return n.node.inventory.version; }, "");
}

std::string node_list(Row row, Lk) {
  std::vector<std::string> names;
  for (const api::NodeView* node : row.nodes) names.push_back(node->node.name());
  return nodes_text(names);
}
std::string node_count(Row row, Lk) { return number(row.nodes.size()); }

struct NodeCounts {
  std::size_t allocated = 0, idle = 0, other = 0;
};
NodeCounts counts(Row row) {
  NodeCounts n;
  for (const api::NodeView* node : row.nodes) {
    const NodeState state = node_state(*node);
    if (state.busy && state.base != NodeBase::down) {
      ++n.allocated;
    } else if (state.base == NodeBase::idle && !state.draining) {
      ++n.idle;
    } else {
      ++n.other;
    }
  }
  return n;
}
std::string allocated_idle(Row row, Lk) { return number(counts(row).allocated) + "/" + number(counts(row).idle); }
std::string allocated_idle_other(Row row, Lk) {
  const NodeCounts n = counts(row);
  return number(n.allocated) + "/" + number(n.idle) + "/" + number(n.other) + "/" + number(row.nodes.size());
}
std::string cpus_state(Row row, Lk) {
  CpuCounts sum;
  for (const api::NodeView* node : row.nodes) sum += cpu_counts(*node);
  return sum.text();
}

std::string partition_name(Row row, bool star) {
  if (row.partition == nullptr) return "";
  return row.partition->partition.name + (star && row.partition->partition.is_default ? "*" : "");
}
std::string available(Row row, Lk) { return row.partition == nullptr || row.partition->partition.up ? "up" : "down"; }
std::string limit_of(Duration limit) { return limit.count() == 0 ? "infinite" : short_duration(seconds_of(limit)); }
std::string time_limit(Row row, Lk) {
  return row.partition == nullptr ? "" : limit_of(row.partition->partition.max_time);
}
std::string default_time(Row row, Lk) {
  if (row.partition == nullptr) return "";
  const Duration time = row.partition->partition.default_time;
  return time.count() == 0 ? "n/a" : short_duration(seconds_of(time));
}
std::string job_size(Row row, Lk) {
  if (row.partition == nullptr) return "";
  const Partition& partition = row.partition->partition;
  const std::string low = number(std::max(partition.min_nodes, 1U));
  if (partition.max_nodes == 0) return low + "-infinite";
  return partition.max_nodes == std::max(partition.min_nodes, 1U) ? low : low + "-" + number(partition.max_nodes);
}
std::string tier(Row row, Lk) { return row.partition == nullptr ? "" : number(row.partition->partition.tier); }
template <char... Text>
std::string says(Row, Lk) {
  return {Text...};
}
constexpr auto kNo = says<'N', 'O'>;
constexpr auto kLowNo = says<'n', 'o'>;
constexpr auto kAll = says<'a', 'l', 'l'>;
constexpr auto kOne = says<'1'>;
constexpr auto kBlank = says<>;

constexpr std::array kFields{
    NodeField{'a', "available", "AVAIL", available, false, true},
    NodeField{'A', "nodeai", "NODES(A/I)", allocated_idle},
    NodeField{'b', "features_act", "ACTIVE_FEATURES", features, true},
    NodeField{'B', "maxcpuspernode", "MAX_CPUS_PER_NODE", [](Row, Lk) { return std::string("UNLIMITED"); }, false,
              true},
    NodeField{'c', "cpus", "CPUS", cpus},
    NodeField{'C', "cpusstate", "CPUS(A/I/O/T)", cpus_state},
    NodeField{'d', "disk", "TMP_DISK", disk},
    NodeField{'D', "nodes", "NODES", node_count},
    NodeField{'e', "freemem", "FREE_MEM", free_memory, true},
    NodeField{'E', "reason", "REASON", reason, true},
    NodeField{'f', "features", "AVAIL_FEATURES", features, true},
    NodeField{'F', "nodeaiot", "NODES(A/I/O/T)", allocated_idle_other},
    NodeField{'g', "groups", "GROUPS", kAll, false, true},
    NodeField{'G', "gres", "GRES", gres, true},
    NodeField{'h', "oversubscribe", "OVERSUBSCRIBE", kNo, false, true},
    NodeField{'H', "timestamp", "TIMESTAMP", reason_time, true},
    NodeField{'i', "reservation", "RESERVATION", kBlank},
    NodeField{'I', "priorityjobfactor", "PRIO_JOB_FACTOR", kOne, false, true},
    NodeField{'l', "time", "TIMELIMIT", time_limit, false, true},
    NodeField{'L', "defaulttime", "DEFAULTTIME", default_time, false, true},
    NodeField{'m', "memory", "MEMORY", memory},
    NodeField{'M', "preemptmode", "PREEMPT_MODE", [](Row, Lk) { return std::string("OFF"); }, false, true},
    NodeField{'n', "nodehost", "HOSTNAMES", host, true},
    NodeField{'N', "nodelist", "NODELIST", node_list},
    NodeField{'o', "nodeaddr", "NODE_ADDR", address, true},
    NodeField{'O', "cpusload", "CPU_LOAD", load, true},
    NodeField{'p', "prioritytier", "PRIO_TIER", tier, false, true},
    NodeField{'P', "partition", "PARTITION", [](Row row, Lk) { return partition_name(row, true); }, false, true},
    NodeField{'r', "root", "ROOT", kLowNo, false, true},
    NodeField{'R', "partitionname", "PARTITION", [](Row row, Lk) { return partition_name(row, false); }, false, true},
    NodeField{'s', "size", "JOB_SIZE", job_size, false, true},
    NodeField{'S', "allocnodes", "ALLOCNODES", kAll, false, true},
    NodeField{'t', "statecompact", "STATE",
              [](Row row, Lk) { return row.nodes.empty() ? std::string("n/a") : short_state(row.state); }, true},
    NodeField{'T', "statelong", "STATE",
              [](Row row, Lk) { return row.nodes.empty() ? std::string("n/a") : long_state(row.state); }, true},
    NodeField{'u', "user", "USER", reason_user, true},
    NodeField{'U', "userlong", "USER", reason_user_long, true},
    NodeField{'v', "version", "VERSION", version, true},
    NodeField{'V', "cluster", "CLUSTER", [](Row, Lk) { return std::string("N/A"); }},
    NodeField{'w', "weight", "WEIGHT", kOne},
    NodeField{'X', "sockets", "SOCKETS", sockets},
    NodeField{'Y', "cores", "CORES", cores},
    NodeField{'z', "socketcorethread", "S:C:T", sct},
    NodeField{'Z', "threads", "THREADS", threads},
    NodeField{0, "allocmem", "ALLOCMEM", alloc_memory},
    NodeField{0, "comment", "COMMENT", [](Row, Lk) { return std::string("(null)"); }},
    NodeField{0, "extra", "EXTRA", [](Row, Lk) { return std::string("(null)"); }},
    NodeField{0, "gresused", "GRES_USED", gres_used, true},
    NodeField{0, "port", "PORT", says<'0'>},
    NodeField{0, "statecomplete", "STATECOMPLETE",
              [](Row row, Lk) { return row.nodes.empty() ? std::string("n/a") : lower(flags_state(row.state)); },
              true},
    NodeField{0, "cpuload", "CPU_LOAD", load, true},
};

}  // namespace

std::span<const NodeField> node_fields() { return kFields; }

std::optional<std::size_t> node_field_by_letter(char letter) {
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if (kFields[i].letter != 0 && kFields[i].letter == letter) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> node_field_by_name(std::string_view name) {
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if (iequals(kFields[i].name, name)) return i;
  }
  return std::nullopt;
}

}  // namespace drover::slurm
