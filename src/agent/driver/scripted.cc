#include "agent/driver/scripted.h"

#include <algorithm>
#include <csignal>

#include "base/overload.h"
#include "base/text.h"

namespace drover::agent {
namespace {

struct Suffix {
  std::string_view text;
  std::int64_t factor;
};
constexpr Suffix kTimes[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
constexpr Suffix kSizes[] = {{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"", 1}};

template <std::size_t N>
Result<std::int64_t> parse_amount(std::string_view text, const Suffix (&suffixes)[N]) {
  for (const Suffix& suffix : suffixes) {
    if (!text.ends_with(suffix.text)) continue;
    const auto number = parse_int(text.substr(0, text.size() - suffix.text.size()));
    if (number && *number >= 0) return *number * suffix.factor;
  }
  return Error{Errc::invalid, "not an amount: " + printable(text)};
}

Result<std::int32_t> parse_small(std::string_view text) {
  const auto number = parse_int(text);
  if (!number || *number < 0 || *number > 255) {
    return Error{Errc::invalid, "not a number of 0 to 255: " + printable(text)};
  }
  return static_cast<std::int32_t>(*number);
}

Status read_word(std::string_view text, Play& play) {
  const auto equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  if (name == "run-for") play.run_for = Duration(TRY(parse_amount(value, kTimes)));
  else if (name == "exit") play.exit_code = TRY(parse_small(value));
  else if (name == "signal") play.signal = TRY(parse_small(value));
  else if (name == "peak") play.peak_memory = TRY(parse_amount(value, kSizes));
  else if (name == "ignores-term") play.ignores_term = true;
  else if (name == "out-of-memory") play.out_of_memory = true;
  else if (name == "cannot-start") play.cannot_start = true;
  else return Error{Errc::invalid, "unknown word in a played job: " + printable(text)};
  return Done{};
}

}  // namespace

Result<Play> parse_play(std::string_view script) {
  Play play;
  for (const std::string_view line : split(script, '\n')) {
    if (trim(line).empty() || trim(line).starts_with('#')) continue;
    for (const std::string_view one : split(trim(line), ' ')) {
      if (!one.empty()) TRY(read_word(one, play));
    }
    return play;
  }
  return play;
}

Status ScriptedDriver::start(const std::string& key, const StartSpec& spec) {
  if (!is_safe_name(key)) return Error{Errc::invalid, "bad name of an attempt: " + printable(key)};
  if (parts_.contains(key)) return Error{Errc::conflict, "there is an attempt " + key + " already"};
  const auto play = parse_play(spec.script);
  Part part{.play = play ? *play : Play{.cannot_start = true}, .spec = spec, .attempt = {.key = key}};
  const Instant now = clock_();
  part.attempt.claim = Claim{.devices = spec.devices};
  if (part.play.cannot_start) {
    part.attempt.state = AttemptState::ended;
    part.attempt.ended = Ended{.cause = Cause::not_started, .exit_code = 1,
                               .message = play ? "played: cannot-start" : play.error().message, .at = now};
  } else {
    part.attempt.state = AttemptState::running;
    part.attempt.started = Started{.pid = 1, .at = now, .since_boot = now.time_since_epoch()};
    part.ends = now + part.play.run_for;
    if (spec.time_limit > Duration{}) part.limit = now + spec.time_limit;
  }
  changed_.insert_or_assign(key, part.attempt);
  parts_.emplace(key, std::move(part));
  return Done{};
}

Status ScriptedDriver::start_part(const std::string& key, const PartSpec& spec) {
  StartSpec played{.uid = spec.uid, .gid = spec.gid, .devices = spec.devices, .time_limit = spec.time_limit,
                   .grace = spec.grace};
  if (!spec.tasks.empty()) played.script = join(spec.tasks.front().argv, " ");
  return start(key, played);
}

void ScriptedDriver::end(Part& part, Instant at, std::int32_t exit_code, std::int32_t signal) {
  const bool oom = part.play.out_of_memory && !part.cause;
  part.attempt.state = AttemptState::ended;
  part.attempt.ended = Ended{.cause = part.cause.value_or(oom ? Cause::out_of_memory : Cause::exited),
                             .exit_code = signal == 0 && !oom ? exit_code : 0, .signal = oom ? SIGKILL : signal,
                             .reason = part.reason, .at = at, .since_boot = at.time_since_epoch(),
                             .peak_memory = part.play.peak_memory, .oom_kills = oom ? 1 : 0};
  changed_.insert_or_assign(part.attempt.key, part.attempt);
}

void ScriptedDriver::ask_to_end(Part& part, Cause cause, const std::string& reason, Duration grace, Instant now) {
  if (!part.cause) {
    part.cause = cause;
    part.reason = reason;
  }
  part.limit.reset();
  if (!part.play.ignores_term) return end(part, now, 0, SIGTERM);
  const Instant killed = now + std::max(grace, Duration{});
  part.killed = part.killed ? std::min(*part.killed, killed) : killed;
  turn(part, now);
}

// Plays one attempt up to `now`, in the order in which things happen.
void ScriptedDriver::turn(Part& part, Instant now) {
  if (part.attempt.state != AttemptState::running) return;
  const Instant first = std::min({part.ends, part.limit.value_or(part.ends), part.killed.value_or(part.ends)});
  if (first > now) return;
  if (first == part.ends) return end(part, first, part.play.exit_code, part.play.signal);
  if (part.killed == first) return end(part, first, 0, SIGKILL);
  ask_to_end(part, Cause::time_limit, "", part.spec.grace, first);
  turn(part, now);
}

Status ScriptedDriver::tell(const std::string& key, const Command& command) {
  const auto it = parts_.find(key);
  if (it == parts_.end()) return Error{Errc::not_found, "there is no attempt " + printable(key)};
  Part& part = it->second;
  const Instant now = clock_();
  turn(part, now);
  if (part.attempt.state != AttemptState::running) return Done{};
  std::visit(Overload{[&](const SendSignal& c) {
                        const bool deadly = c.signal == SIGKILL || (c.signal == SIGTERM && !part.play.ignores_term);
                        if (deadly && c.scope != SignalScope::all_but_main) end(part, now, 0, c.signal);
                      },
                      [&](const Terminate& c) { ask_to_end(part, Cause::terminated, c.reason, c.grace, now); },
                      [&](const SetTimeLimit& c) {
                        part.limit.reset();
                        if (c.limit > Duration{} && !part.cause) part.limit = part.attempt.started->at + c.limit;
                        turn(part, now);
                      }},
             command);
  return Done{};
}

Status ScriptedDriver::forget(const std::string& key) {
  const auto it = parts_.find(key);
  if (it == parts_.end()) return Done{};
  if (it->second.attempt.state != AttemptState::ended) {
    return Error{Errc::conflict, "attempt " + key + " hasn't ended"};
  }
  parts_.erase(it);
  changed_.erase(key);
  return Done{};
}

std::vector<Attempt> ScriptedDriver::list() {
  std::vector<Attempt> all;
  for (auto& [key, part] : parts_) {
    turn(part, clock_());
    all.push_back(part.attempt);
  }
  return all;
}

std::vector<Attempt> ScriptedDriver::changes() {
  for (auto& [key, part] : parts_) turn(part, clock_());
  std::vector<Attempt> result;
  for (auto& [key, attempt] : changed_) result.push_back(std::move(attempt));
  changed_.clear();
  return result;
}

std::optional<Instant> ScriptedDriver::next() const {
  std::optional<Instant> next;
  for (const auto& [key, part] : parts_) {
    if (part.attempt.state != AttemptState::running) continue;
    const Instant first = std::min({part.ends, part.limit.value_or(part.ends), part.killed.value_or(part.ends)});
    if (!next || first < *next) next = first;
  }
  return next;
}

}  // namespace drover::agent
