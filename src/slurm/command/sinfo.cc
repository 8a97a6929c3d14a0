// sinfo: partitions and nodes.
#include <array>

#include "base/text.h"
#include "slurm/command/call.h"
#include "slurm/exit.h"
#include "slurm/render/info.h"
#include "slurm/render/node_json.h"
#include "slurm/script/hostlist.h"

namespace drover::slurm {
namespace {

using enum Takes;
constexpr std::array kOptions{CommandOption{"all", 'a'},
                              CommandOption{"clusters", 'M', value},
                              CommandOption{"dead", 'd'},
                              CommandOption{"exact", 'e'},
                              CommandOption{"federation", 0},
                              CommandOption{"format", 'o', value},
                              CommandOption{"Format", 'O', value},
                              CommandOption{"help", 0},
                              CommandOption{"hide", 0},
                              CommandOption{"iterate", 'i', value, true},
                              CommandOption{"json", 0, maybe_value},
                              CommandOption{"list-reasons", 'R'},
                              CommandOption{"local", 0},
                              CommandOption{"long", 'l'},
                              CommandOption{"Node", 'N'},
                              CommandOption{"noconvert", 0},
                              CommandOption{"nodes", 'n', value},
                              CommandOption{"noheader", 'h'},
                              CommandOption{"partition", 'p', value},
                              CommandOption{"reservation", 'T', nothing, true},
                              CommandOption{"responding", 'r'},
                              CommandOption{"sort", 'S', value, true},
                              CommandOption{"states", 't', value},
                              CommandOption{"summarize", 's'},
                              CommandOption{"usage", 0},
                              CommandOption{"verbose", 'v'},
                              CommandOption{"version", 'V'},
                              CommandOption{"yaml", 0, maybe_value, true}};

constexpr std::string_view kUsage =
    "Usage: sinfo [-adehlNrRsV] [-n nodes] [-o format] [-O fields] [-p partitions] [-t states] "
    "[--json] [--noconvert]\n";

Result<Layout> wanted_layout(const Call& call, const Chosen& chosen) {
  if (chosen.has("json")) return node_layout(kInfoJson);
  if (chosen.has("Format")) return parse_names(chosen.get("Format"), node_field_by_name, call.program);
  if (chosen.has("format")) return node_layout(chosen.get("format"));
  if (chosen.has("summarize")) return node_layout(kInfoSummary);
  if (chosen.has("list-reasons")) return node_layout(kInfoReasons);
  if (chosen.has("Node")) return node_layout(chosen.has("long") ? kInfoNodesLong : kInfoNodes);
  if (chosen.has("long")) return node_layout(kInfoLong);
  return node_layout(call.variable("SINFO_FORMAT").value_or(std::string(kInfoFormat)));
}

Result<InfoWanted> wanted_rows(const Call& call, const Chosen& chosen) {
  InfoWanted wanted{.by_node = chosen.has("Node"),
                    .summary = chosen.has("summarize"),
                    .with_reason = chosen.has("list-reasons"),
                    .exact = chosen.has("exact") || chosen.has("json")};
  wanted.partitions =
      list_of(chosen.has("partition") ? chosen.get("partition") : call.variable("SINFO_PARTITION").value_or(""));
  if (chosen.has("nodes")) {
    auto hosts = expand_hostlist(chosen.get("nodes"));
    if (!hosts) return Error{Errc::denied, error_line(call.program, hosts.error().message)};
    wanted.nodes = std::move(hosts).value();
  }
  if (!iequals(chosen.get("states"), "all")) wanted.states = list_of(chosen.get("states"));
  for (const std::string& word : wanted.states) {
    if (!is_state_word(word))
      return Error{Errc::denied, error_line(call.program, "Bad state string: \"" + printable(word) + "\"")};
  }
  return wanted;
}

}  // namespace

int sinfo(Call& call) {
  const auto options = choose(call, kOptions);
  if (!options) return call.fail(options.error());
  const Chosen& chosen = options.value();
  if (chosen.has("version") || chosen.has("help") || chosen.has("usage")) {
    call.out += chosen.has("version") ? kVersionLine : kUsage;
    return 0;
  }
  const auto layout = wanted_layout(call, chosen);
  if (!layout) return call.fail(layout.error());
  const auto wanted = wanted_rows(call, chosen);
  if (!wanted) return call.fail(wanted.error());
  if (const auto known = check_cluster(call, chosen.get("clusters")); !known) return call.fail(known.error());

  std::vector<api::NodeView> nodes;
  std::vector<api::PartitionView> partitions;
  const auto header = call.controller->nodes([&](api::NodeView& node) {
    const bool lost = node.node.contact == Contact::lost;
    if ((chosen.has("responding") && lost) || (chosen.has("dead") && !lost)) return;
    nodes.push_back(std::move(node));
  });
  if (!header) return call.fail(not_reached("slurm_load_partitions", header.error()));
  const auto listed =
      call.controller->partitions([&](api::PartitionView& partition) { partitions.push_back(std::move(partition)); });
  if (!listed) return call.fail(not_reached("slurm_load_partitions", listed.error()));

  const Look look{.times = call.time_format(), .now = header.value().now, .convert = !chosen.has("noconvert")};
  const auto rows = info_rows(layout.value(), wanted.value(), partitions, nodes, look);
  if (chosen.has("json")) {
    call.out += info_json(rows);
    return 0;
  }
  for (const std::string& complaint : layout.value().complaints)
    call.err += error_line(call.program, complaint) + "\n";
  if (chosen.has("long")) call.out += look.times.heading() + "\n";
  if (chosen.has("clusters")) call.out += "CLUSTER: " + chosen.get("clusters") + "\n";
  call.out += info_table(layout.value(), rows, look, !chosen.has("noheader"));
  return 0;
}

}  // namespace drover::slurm
