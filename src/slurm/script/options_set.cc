#include "slurm/script/options_set.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "slurm/exit.h"
#include "slurm/script/hostlist.h"
#include "slurm/script/memory.h"
#include "slurm/script/request.h"

namespace drover::slurm::setters {
namespace {

std::string line(const Setting& setting, std::string_view text) { return error_line(setting.context->program, text); }

Error with_hint(const Setting& setting, Errc code, std::string message, std::string_view hint) {
  if (!hint.empty()) message += "\n" + line(setting, hint);
  return {code, std::move(message)};
}

// Values that Slurm leaves to its controller are refused in the controller's words.
Error failed_submission(const Setting& setting, std::string_view why, std::string_view hint) {
  return with_hint(setting, Errc::denied,
                   line(setting, std::string(failed_words(setting.context->program)) + std::string(why)), hint);
}

std::string_view value_of(const Setting& setting) { return setting.value.value_or(""); }

}  // namespace

Error invalid_specification(const Setting& setting, std::string_view hint) {
  return with_hint(setting, Errc::invalid, line(setting, "Invalid --" + std::string(setting.name) + " specification"),
                   hint);
}

Result<std::uint32_t> positive(const Setting& setting) {
  const auto number = parse_uint(value_of(setting));
  if (number && *number > 0 && *number <= 0x7fffffff) return static_cast<std::uint32_t>(*number);
  return Error{Errc::invalid, line(setting, "Invalid numeric value \"" + printable(value_of(setting)) + "\" for --" +
                                                std::string(setting.name) + ".")};
}

Result<std::int64_t> memory(const Setting& setting) {
  const auto size = parse_memory_mib(value_of(setting));
  if (!size) return invalid_specification(setting);
  return size.value();
}

Result<std::vector<Gres>> gpu_list(const Setting& setting) {
  auto list = parse_gpus(value_of(setting));
  if (!list) {
    return failed_submission(setting, "Invalid generic resource (gres) specification", list.error().message);
  }
  return list;
}

Result<std::vector<std::string>> host_names(const Setting& setting) {
  if (value_of(setting).find('/') != std::string_view::npos) {
    return invalid_specification(setting, "names are expected here, not a file: write for example n[1-3]");
  }
  auto list = expand_hostlist(value_of(setting));
  if (!list) return failed_submission(setting, "Invalid node name specified", list.error().message);
  return list;
}

Status nodes(SbatchOptions& options, const Setting& setting) {
  const std::string_view text = value_of(setting);
  const std::size_t dash = text.find('-');
  const auto number = [](std::string_view part) -> std::uint32_t {
    std::uint64_t factor = 1;
    if (part.ends_with('k') || part.ends_with('K')) factor = 1024;
    if (part.ends_with('m') || part.ends_with('M')) factor = 1024 * 1024;
    if (factor > 1) part.remove_suffix(1);
    const auto count = parse_uint(part);
    return count && *count <= 0x7fffffff / factor ? static_cast<std::uint32_t>(*count * factor) : 0;
  };
  const std::uint32_t least = number(text.substr(0, dash));
  const std::uint32_t most = dash == std::string_view::npos ? least : number(text.substr(dash + 1));
  if (least == 0 || most < least) {
    return Error{Errc::invalid, line(setting, "\"" + printable(text) + "\" is not a valid node count")};
  }
  options.nodes = NodeRange{least, most};
  return Done{};
}

Status time(SbatchOptions& options, const Setting& setting) {
  const auto limit = parse_time_limit(value_of(setting));
  if (!limit) return invalid_specification(setting);
  options.time_set = true;
  options.time_limit = limit.value() ? std::optional(whole_minutes(*limit.value())) : std::nullopt;
  return Done{};
}

Status time_min(SbatchOptions& options, const Setting& setting) {
  const auto limit = parse_time_limit(value_of(setting));
  if (!limit || !limit.value()) return invalid_specification(setting);
  options.time_min = whole_minutes(*limit.value());
  return Done{};
}

Status deadline(SbatchOptions& options, const Setting& setting) {
  const auto at = parse_when(value_of(setting), setting.context->now, setting.context->zone);
  if (!at) return invalid_specification(setting, at.error().message);
  options.deadline = at.value();
  return Done{};
}

Status begin(SbatchOptions& options, const Setting& setting) {
  const auto at = parse_when(value_of(setting), setting.context->now, setting.context->zone);
  if (!at) return invalid_specification(setting, at.error().message);
  options.begin = at.value();
  return Done{};
}

Status gres(SbatchOptions& options, const Setting& setting) {
  auto list = parse_gres(value_of(setting));
  if (!list) {
    return failed_submission(setting, "Invalid generic resource (gres) specification", list.error().message);
  }
  options.gres = std::move(list).value();
  return Done{};
}

Status exclusive(SbatchOptions& options, const Setting& setting) {
  const std::string_view mode = value_of(setting);
  if (mode.empty() || iequals(mode, "yes") || iequals(mode, "exclusive") || iequals(mode, "no")) {
    options.exclusive = !iequals(mode, "no");
    return Done{};
  }
  return refused(*setting.context, "--exclusive=" + printable(mode), "use --exclusive for whole nodes");
}

Status hint(SbatchOptions& options, const Setting& setting) {
  constexpr std::array<std::string_view, 5> kWords{"", "compute_bound", "memory_bound", "multithread",
                                                   "nomultithread"};
  const auto found = std::ranges::find(kWords, lower(value_of(setting)));
  if (found == kWords.end() || found->empty()) {
    return with_hint(setting, Errc::invalid,
                     line(setting, "unrecognized --hint argument \"" + printable(value_of(setting)) + "\""),
                     "write compute_bound, memory_bound, multithread or nomultithread");
  }
  options.hint = static_cast<Hint>(found - kWords.begin());
  return Done{};
}

Status nice(SbatchOptions& options, const Setting& setting) {
  constexpr std::int64_t kMost = 2147483645;
  const auto adjustment = setting.value ? parse_int(*setting.value) : std::optional<std::int64_t>(100);
  if (!adjustment || *adjustment > kMost || *adjustment < -kMost) {
    return invalid_specification(setting, "write a whole number, larger for less urgent");
  }
  options.nice = *adjustment;
  return Done{};
}

Status priority(SbatchOptions& options, const Setting& setting) {
  const auto number = parse_uint(value_of(setting));
  if (!number || *number >= 0xffffffff) return invalid_specification(setting, "write a whole number");
  options.priority = static_cast<std::uint32_t>(*number);
  return Done{};
}

Status array(SbatchOptions& options, const Setting& setting) {
  auto spec = parse_array(value_of(setting));
  if (!spec) return failed_submission(setting, "Invalid job array specification", spec.error().message);
  options.array = std::move(spec).value();
  return Done{};
}

Status dependency(SbatchOptions& options, const Setting& setting) {
  options.dependency_text = value_of(setting);
  if (value_of(setting).empty()) {
    options.dependency.reset();
    return Done{};
  }
  auto list = parse_dependencies(value_of(setting));
  if (!list) return failed_submission(setting, "Job dependency problem", list.error().message);
  options.dependency = std::move(list).value();
  return Done{};
}

Status kill_on_invalid_dep(SbatchOptions& options, const Setting& setting) {
  if (!iequals(value_of(setting), "yes") && !iequals(value_of(setting), "no")) {
    return invalid_specification(setting, "write yes or no");
  }
  options.kill_on_invalid_dep = iequals(value_of(setting), "yes");
  return Done{};
}

Status requeue(SbatchOptions& options, const Setting& setting) {
  if (setting.value && setting.source != Source::environment) {
    return refused(*setting.context, "--requeue=" + printable(*setting.value), "use --requeue");
  }
  options.requeue = true;
  return Done{};
}

Status no_requeue(SbatchOptions& options, const Setting&) {
  options.requeue = false;
  return Done{};
}

Status signal(SbatchOptions& options, const Setting& setting) {
  const auto spec = parse_signal(value_of(setting));
  if (!spec) return invalid_specification(setting, spec.error().message);
  if (spec.value().with_reservation) {
    return refused(*setting.context, "--signal=R:", "there are no reservations: leave the R out");
  }
  options.signal = spec.value();
  return Done{};
}

Status wait_all_nodes(SbatchOptions& options, const Setting& setting) {
  if (value_of(setting) != "0" && value_of(setting) != "1") return invalid_specification(setting, "write 0 or 1");
  options.wait_all_nodes = value_of(setting) == "1";
  return Done{};
}

Status open_mode(SbatchOptions& options, const Setting& setting) {
  const std::string mode = lower(value_of(setting));
  if (mode != "a" && mode != "append" && mode != "t" && mode != "truncate") {
    return invalid_specification(setting, "write append or truncate");
  }
  options.open_mode = mode.front() == 'a' ? OpenMode::append : OpenMode::truncate;
  return Done{};
}

Status mail_type(SbatchOptions& options, const Setting& setting) {
  constexpr std::string_view kKnown[] = {"NONE",    "BEGIN",      "END",         "FAIL",
                                         "REQUEUE", "TIME_LIMIT", "ARRAY_TASKS", "ALL"};
  constexpr std::string_view kHint = "write NONE, BEGIN, END, FAIL, REQUEUE, TIME_LIMIT, ARRAY_TASKS or ALL";
  options.mail_types.clear();
  for (const std::string_view word : split(value_of(setting), ',')) {
    const auto known = std::ranges::find_if(kKnown, [&](std::string_view name) { return iequals(name, word); });
    if (known == std::end(kKnown)) return invalid_specification(setting, kHint);
    options.mail_types.emplace_back(*known);
  }
  if (options.mail_types.empty()) return invalid_specification(setting, kHint);
  return Done{};
}

Status verbose(SbatchOptions& options, const Setting&) {
  ++options.verbose;
  return Done{};
}

Status get_user_env(SbatchOptions& options, const Setting&) {
  options.get_user_env = true;  // its value, a time-out and a mode, changes nothing about the result
  return Done{};
}

// #PBS lines are never read, so there is nothing to switch off.
Status ignored_pbs(SbatchOptions&, const Setting&) { return Done{}; }

}  // namespace drover::slurm::setters
