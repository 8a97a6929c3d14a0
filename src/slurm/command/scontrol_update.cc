// scontrol update.
#include <array>

#include "base/text.h"
#include "slurm/command/scontrol.h"
#include "slurm/exit.h"
#include "slurm/script/hostlist.h"

namespace drover::slurm {
namespace {

// Key=Value words; keys in lower case.
Result<std::map<std::string, std::string>> pairs_of(const ControlCall& control) {
  std::map<std::string, std::string> pairs;
  for (const std::string& word : control.words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      return Error{Errc::denied, error_line("scontrol", "Invalid input: " + printable(word) + ": write Key=Value")};
    }
    pairs[lower(word.substr(0, equals))] = word.substr(equals + 1);
  }
  return pairs;
}

Error unsupported(const std::string& key) {
  return {Errc::denied, error_line("scontrol", "Update of this parameter is not supported: " + printable(key))};
}

std::optional<NodeWish> wish_of(std::string_view state) {
  struct Word {
    std::string_view text;
    NodeWish wish;
  };
  constexpr std::array kWords{Word{"drain", NodeWish::drain},    Word{"down", NodeWish::down},
                              Word{"resume", NodeWish::resume},  Word{"idle", NodeWish::resume},
                              Word{"undrain", NodeWish::resume}, Word{"dead", NodeWish::confirm_dead}};
  for (const Word& word : kWords) {
    if (iequals(word.text, state)) return word.wish;
  }
  return std::nullopt;
}

Result<Command> node_command(const std::map<std::string, std::string>& pairs) {
  UpdateNode update;
  std::optional<NodeWish> wish;
  for (const auto& [key, value] : pairs) {
    if (key == "nodename" || key == "node") {
      auto hosts = expand_hostlist(value);
      if (!hosts) return Error{Errc::denied, error_line("scontrol", hosts.error().message)};
      update.nodes = std::move(hosts).value();
    } else if (key == "state") {
      wish = wish_of(value);
      if (!wish)
        return Error{Errc::denied, "Invalid input: State=" + printable(value) +
                                       "\nRequest aborted\nValid states are: DRAIN DOWN RESUME"};
    } else if (key == "reason") {
      update.reason = value;
    } else {
      return unsupported(key);
    }
  }
  if (!wish) return Error{Errc::denied, error_line("scontrol", "State= is missing")};
  update.wish = *wish;
  const bool needs_reason = update.wish == NodeWish::drain || update.wish == NodeWish::down;
  if (needs_reason && update.reason.empty()) {
    return Error{Errc::denied, std::string("You must specify a reason when ") +
                                   (update.wish == NodeWish::drain ? "DRAINING" : "DOWNING") +
                                   " a node. Request denied"};
  }
  return Command{update};
}

Result<Command> partition_command(const std::map<std::string, std::string>& pairs) {
  UpdatePartition update;
  for (const auto& [key, value] : pairs) {
    if (key == "partitionname" || key == "partition") {
      update.name = value;
    } else if (key == "state" && (iequals(value, "up") || iequals(value, "down"))) {
      update.up = iequals(value, "up");
    } else {
      return unsupported(key);
    }
  }
  return Command{update};
}

Status set_job_field(const Call& call, ModifyJob& update, const std::string& key, const std::string& value) {
  const auto invalid = [&] {
    return Error{Errc::denied, "Invalid input: " + printable(key) + "=" + printable(value)};
  };
  const auto number = parse_int(value);
  if (key == "jobname" || key == "name") {
    update.name = value;
  } else if (key == "partition") {
    update.partitions = value;
  } else if (key == "account") {
    update.account = value;
  } else if (key == "qos") {
    update.qos = value;
  } else if (key == "timelimit") {
    const auto limit = parse_time_limit(value);
    if (!limit) return Error{Errc::denied, "Invalid TimeLimit value\n" + limit.error().message};
    update.limit = limit.value() ? Duration(whole_minutes(*limit.value())) : Duration(0);
  } else if (key == "starttime") {
    const auto at = parse_when(value, call.now, call.zone);
    if (!at) return invalid();
    update.begin = Instant(seconds(at.value()));
  } else if (key == "priority") {
    if (!number || *number < 0) return invalid();
    update.priority = *number;
  } else if (key == "nice") {
    if (!number || *number < -2147483645 || *number > 2147483645) return invalid();
    update.nice = static_cast<std::int32_t>(*number);
  } else if (key == "requeue") {
    if (value != "0" && value != "1") return invalid();
    update.requeue = value == "1";
  } else if (key == "arraytaskthrottle") {
    if (!number || *number < 0 || *number > 0xffffffff) return invalid();
    update.throttle = static_cast<std::uint32_t>(*number);
  } else {
    return unsupported(key);
  }
  return Done{};
}

Result<Command> job_command(const Call& call, const std::map<std::string, std::string>& pairs) {
  ModifyJob update;
  bool any = false;
  for (const auto& [key, value] : pairs) {
    if (key == "jobid" || key == "job") {
      auto refs = domain_refs(value);
      if (!refs) return Error{Errc::denied, "slurm_update error: Invalid job id specified"};
      update.jobs.jobs = std::move(refs).value();
      continue;
    }
    TRY(set_job_field(call, update, key, value));
    any = true;
  }
  if (!any) return Error{Errc::denied, "No changes specified"};
  return Command{update};
}

}  // namespace

int control_update(ControlCall& control) {
  Call& call = control.call;
  const auto pairs = pairs_of(control);
  if (!pairs) return call.fail(pairs.error());
  Result<Command> command =
      Error{Errc::denied, error_line("scontrol", "update needs NodeName=, JobId= or PartitionName=")};
  if (pairs.value().contains("jobid") || pairs.value().contains("job")) {
    command = job_command(call, pairs.value());
  } else if (pairs.value().contains("nodename") || pairs.value().contains("node")) {
    command = node_command(pairs.value());
  } else if (pairs.value().contains("partitionname")) {
    command = partition_command(pairs.value());
  }
  if (!command) return call.fail(command.error());
  return control_wish(call, command.value());
}

}  // namespace drover::slurm
