#include "cli/node.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <tuple>

#include "cli/amounts.h"
#include "cli/place.h"
#include "native/membership.h"

namespace drover::cli {
namespace {

std::string time_text(Instant at) {
  const std::time_t moment = unix_seconds(at);
  std::tm parts{};
  std::array<char, 32> text{};
  ::localtime_r(&moment, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts)};
}

int told(const Status& status) {
  if (status) return 0;
  std::fprintf(stderr, "drover: %s\n", status.error().message.c_str());
  return 1;
}

Status print_token(const NodeOptions& options) {
  const Place place = TRY(place_of_running(options.state));
  auto life = parse_duration(options.ttl);
  if (!life) return std::move(life).error().under("--ttl");
  const auto made = TRY(native::make_token(place.state(), {.node = options.name, .life = *life}));
  const std::string name = options.name.empty() ? "" : " --node " + options.name;
  std::printf("drover-agent --join %s --token %s%s\n", made.controller.c_str(), made.token.c_str(),
              name.c_str());
  std::fprintf(stderr, "To be run on the node, once, before %s; see drover-agent --help.\n",
               time_text(made.until).c_str());
  return Done{};
}

Status print_list(const NodeOptions& options) {
  const Place place = TRY(place_of_running(options.state));
  native::MemberList list = TRY(native::list_members(place.state()));
  std::ranges::sort(list.members, [](const native::Member& a, const native::Member& b) {
    return std::tie(a.name, a.from) < std::tie(b.name, b.from);
  });
  std::printf("%-16s %-32s %-19s  %-19s  %s\n", "NODE", "CERTIFICATE", "SINCE", "UNTIL", "STATE");
  for (const native::Member& member : list.members) {
    std::printf("%-16s %-32s %s  %s  %s\n", member.name.c_str(), member.serial.c_str(),
                time_text(member.from).c_str(), time_text(member.until).c_str(),
                member.revoked ? "revoked" : "valid");
  }
  return Done{};
}

}  // namespace

int node_token(const NodeOptions& options) { return told(print_token(options)); }
int node_list(const NodeOptions& options) { return told(print_list(options)); }

int node_revoke(const NodeOptions& options) {
  const auto place = place_of_running(options.state);
  return told(place ? native::revoke_node(place->state(), options.name) : Status(place.error()));
}

}  // namespace drover::cli
