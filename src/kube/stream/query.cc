#include "kube/stream/query.h"

#include "base/text.h"
#include "kube/object/times.h"

namespace drover::kube {
namespace {

const std::string* first(const wire::Target& target, std::string_view name) {
  for (const auto& [key, value] : target.query) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string text_of(const wire::Target& target, std::string_view name) {
  const std::string* value = first(target, name);
  return value == nullptr ? std::string() : *value;
}

// As API machinery reads them: all but "false" and "0" is true.
bool flag(const wire::Target& target, std::string_view name) {
  const std::string* value = first(target, name);
  return value != nullptr && *value != "0" && !iequals(*value, "false");
}

Result<std::optional<std::int64_t>> number(const wire::Target& target, std::string_view name,
                                           std::int64_t least) {
  const std::string* value = first(target, name);
  if (value == nullptr || value->empty()) return std::optional<std::int64_t>();
  const auto n = parse_int(*value);
  if (!n)
    return Error{Errc::invalid, std::string(name) + ": Invalid value: \"" + printable(*value, 40) +
                                    "\": must be a number"};
  if (*n < least) {
    return Error{Errc::invalid, std::string(name) + ": Invalid value: " + std::to_string(*n) +
                                    ": must be greater than " +
                                    (least == 0 ? "or equal to 0" : "0")};
  }
  return std::optional(*n);
}

}  // namespace

Result<LogQuery> parse_log_query(const wire::Target& target) {
  LogQuery query{.container = text_of(target, "container"),
                 .follow = flag(target, "follow"),
                 .previous = flag(target, "previous"),
                 .timestamps = flag(target, "timestamps")};
  query.tail = TRY(number(target, "tailLines", 0)).value_or(-1);
  query.most = static_cast<std::uint64_t>(TRY(number(target, "limitBytes", 1)).value_or(0));
  if (const auto ago = TRY(number(target, "sinceSeconds", 1))) query.since_ago = seconds(*ago);
  if (const std::string since = text_of(target, "sinceTime"); !since.empty()) {
    query.since = time_of(since);
    if (!query.since) {
      return Error{Errc::invalid, "sinceTime: Invalid value: \"" + printable(since, 40) +
                                      "\": must be a time (RFC 3339)"};
    }
    if (query.since_ago) {
      return Error{
          Errc::invalid,
          "sinceSeconds: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"};
    }
  }
  return query;
}

Result<CommandQuery> parse_command_query(const wire::Target& target, bool needs_command) {
  CommandQuery query{.container = text_of(target, "container"),
                     .input = flag(target, "stdin"),
                     .output = flag(target, "stdout"),
                     .errors = flag(target, "stderr"),
                     .terminal = flag(target, "tty")};
  if (query.terminal) query.errors = false;
  if (!query.input && !query.output && !query.errors) {
    return Error{Errc::invalid, "you must specify at least 1 of stdin, stdout, stderr"};
  }
  if (!needs_command) return query;
  for (const auto& [name, value] : target.query) {
    if (name == "command") query.command.push_back(value);
  }
  if (query.command.empty())
    return Error{Errc::invalid, "you must specify at least one command for the container"};
  return query;
}

}  // namespace drover::kube
