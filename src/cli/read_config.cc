#include <pwd.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"
#include "cli/amounts.h"
#include "cli/cluster_part.h"

namespace drover::cli {
namespace {

constexpr std::string_view kPartitionKeys[] = {"name",      "default",   "nodes", "state", "max_time", "default_time",
                                               "max_nodes", "min_nodes", "tier",  "memory"};
constexpr std::string_view kSettingKeys[] = {
    "min_job_age", "kill_grace",      "requeue_delay",   "node_timeout", "max_array_size", "max_jobs",
    "pass_budget", "launch_failures", "keys_per_client", "no_new_privs", "admins",
    "mail_program"};
constexpr std::string_view kMemoryKeys[] = {"per_node", "per_cpu", "per_gpu"};

// Where `key` is absent, `into` stays as it is.
Status read_time(const YamlFields& fields, std::string_view key, Duration& into) {
  const YamlValue* value = fields.find(key);
  if (value == nullptr) return Done{};
  const auto time = parse_duration(TRY(value->text()));
  if (!time) return value->error(time.error().message);
  into = *time;
  return Done{};
}

struct Range {
  std::uint32_t least = 0;
  std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
};

Status read_number(const YamlFields& fields, std::string_view key, std::uint32_t& into, Range range = {}) {
  const YamlValue* value = fields.find(key);
  if (value == nullptr) return Done{};
  const std::uint32_t number = TRY(value->number());
  if (number < range.least || number > range.most) {
    return value->error(std::string(key) + " is " + std::to_string(range.least) + " to " + std::to_string(range.most));
  }
  into = number;
  return Done{};
}

// `unlimited` is 0, which is how a partition says it.
Status read_limit(const YamlFields& fields, std::string_view key, Duration& into) {
  const YamlValue* value = fields.find(key);
  if (value != nullptr && value->is_text() && lower(TRY(value->text())) == "unlimited") return Done{};
  return read_time(fields, key, into);
}

Status read_partition_nodes(Partition& partition, const YamlValue& value) {
  const std::vector<std::string> texts = TRY(value.texts());
  if (texts.size() == 1 && lower(texts[0]) == "all") return Done{};
  for (const std::string& text : texts) {
    auto names = expand_names(text);
    if (!names) return value.error(names.error().message);
    for (std::string& name : *names) partition.nodes.push_back(std::move(name));
  }
  if (partition.nodes.empty()) return value.error("nodes: is all, or a list of node names");
  return Done{};
}

// `memory: proportional` or {per_cpu: 1000M}: for jobs that ask for none.
Status read_memory(Partition& partition, const YamlValue& value) {
  if (value.is_text() && lower(TRY(value.text())) == "proportional") return Done{};
  const YamlFields fields = TRY(value.fields(kMemoryKeys));
  constexpr std::array kRules{MemoryRule::per_node, MemoryRule::per_cpu, MemoryRule::per_gpu};
  int found = 0;
  for (const MemoryRule rule : kRules) {
    const YamlValue* amount = fields.find(word(rule));
    if (amount == nullptr) continue;
    const auto size = parse_size(TRY(amount->text()));
    if (!size) return amount->error(size.error().message);
    partition.memory_rule = rule;
    partition.memory = *size;
    ++found;
  }
  if (found != 1) return value.error("memory: is proportional, or one of per_node, per_cpu and per_gpu");
  return Done{};
}

std::optional<std::uint32_t> uid_of(const std::string& user) {
  if (const auto number = parse_uint(user)) {
    if (*number >= std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
  }
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16'384> buffer{};
  ::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return std::nullopt;
  return found->pw_uid;
}

}  // namespace

Result<Partition> read_partition(const YamlValue& entry) {
  const YamlFields fields = TRY(entry.fields(kPartitionKeys));
  Partition partition;
  const YamlValue* name = fields.find("name");
  if (name == nullptr) return entry.error("'name:' of the partition is missing");
  const auto names = expand_names(TRY(name->text()));
  if (!names || names->size() != 1) return name->error("a partition name is letters, digits, '-', '_' and '.'");
  partition.name = names->front();
  if (const YamlValue* value = fields.find("default")) partition.is_default = TRY(value->flag());
  if (const YamlValue* value = fields.find("nodes")) TRY(read_partition_nodes(partition, *value));
  if (const YamlValue* value = fields.find("state")) {
    const std::string state = lower(TRY(value->text()));
    if (state != "up" && state != "down") return value->error("state: is up or down");
    partition.up = state == "up";
  }
  TRY(read_limit(fields, "max_time", partition.max_time));
  TRY(read_time(fields, "default_time", partition.default_time));
  TRY(read_number(fields, "max_nodes", partition.max_nodes));
  TRY(read_number(fields, "min_nodes", partition.min_nodes));
  TRY(read_number(fields, "tier", partition.tier, {.least = 1, .most = 65'533}));
  if (const YamlValue* value = fields.find("memory")) TRY(read_memory(partition, *value));
  if (partition.max_time != Duration{0} && partition.default_time > partition.max_time) {
    return entry.error("default_time is longer than max_time");
  }
  if (partition.max_nodes != 0 && partition.min_nodes > partition.max_nodes) {
    return entry.error("min_nodes is more than max_nodes");
  }
  return partition;
}

Result<Settings> read_settings(const YamlValue& entry) {
  const YamlFields fields = TRY(entry.fields(kSettingKeys));
  Settings settings;
  TRY(read_time(fields, "min_job_age", settings.min_job_age));
  TRY(read_time(fields, "kill_grace", settings.kill_grace));
  TRY(read_time(fields, "requeue_delay", settings.requeue_delay));
  TRY(read_time(fields, "node_timeout", settings.node_timeout));
  TRY(read_number(fields, "max_array_size", settings.max_array_size, {.least = 1, .most = 4'000'001}));
  TRY(read_number(fields, "max_jobs", settings.max_jobs, {.least = 1, .most = 10'000'000}));
  TRY(read_number(fields, "launch_failures", settings.launch_failures, {.least = 1, .most = 1000}));
  TRY(read_number(fields, "keys_per_client", settings.keys_per_client, {.least = 1, .most = 1'000'000}));
  TRY(read_number(fields, "pass_budget", settings.pass_budget, {.least = 1, .most = 1'000'000}));
  if (const YamlValue* value = fields.find("no_new_privs")) settings.no_new_privs = TRY(value->flag());
  if (const YamlValue* value = fields.find("mail_program")) {
    settings.mail_program = TRY(value->text());
    if (!settings.mail_program.starts_with('/')) return value->error("mail_program is a full path");
  }
  if (settings.node_timeout < seconds(5)) return entry.error("node_timeout is at least 5s");
  const YamlValue* admins = fields.find("admins");
  if (admins == nullptr) return settings;
  for (const std::string& user : TRY(admins->texts())) {
    const auto uid = uid_of(user);
    if (!uid) return admins->error("'" + printable(user, 60) + "' is not a user of this machine, nor a uid");
    settings.admins.push_back(*uid);
  }
  return settings;
}

}  // namespace drover::cli
