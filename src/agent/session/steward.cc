#include "agent/session/steward.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/session/start_spec.h"
#include "base/text.h"

namespace drover::agent {
namespace {

constexpr std::size_t kScripts = 256;  // kept, so that the tasks of an array need their script once

drover::Cause cause_of(const Ended& ended) {
  switch (ended.cause) {
    case Cause::exited:
      return ended.exit_code == 0 && ended.signal == 0 ? drover::Cause::completed : drover::Cause::failed;
    case Cause::time_limit: return drover::Cause::time_limit;
    case Cause::terminated: return from_word<drover::Cause>(ended.reason).value_or(drover::Cause::cancelled);
    case Cause::out_of_memory: return drover::Cause::out_of_memory;
    case Cause::not_started: return ended.own_fault ? drover::Cause::failed : drover::Cause::launch_failed;
    case Cause::lost: return drover::Cause::unknown;
  }
  return drover::Cause::unknown;
}

}  // namespace

std::string key_text(JobId job, std::uint32_t attempt) { return fmt::format("{}.{}", job.value(), attempt); }

std::optional<std::pair<JobId, std::uint32_t>> parse_key(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto job = parse_uint(text.substr(0, dot));
  const auto attempt = parse_uint(text.substr(dot + 1));
  if (!job || !attempt || *attempt > 0xFFFFFFFF) return std::nullopt;
  return std::pair(JobId(*job), static_cast<std::uint32_t>(*attempt));
}

Steward::Steward(Ports ports, Runner& runner, Journal& journal)
    : ports_(std::move(ports)), runner_(runner), journal_(journal) {
  for (const Attempt& attempt : runner_.list()) note(attempt);
}

std::vector<HeldAttempt> Steward::held() const {
  std::vector<HeldAttempt> held;
  for (const auto& [key, attempt] : known_) held.push_back({.job = key.first, .attempt = key.second});
  for (const Key& key : holding_) held.push_back({.job = key.first, .attempt = key.second});
  return held;
}

Heartbeat Steward::heartbeat(std::uint32_t load_centi, Bytes memory_free) const {
  Heartbeat beat{.revision = revision_, .load_centi = load_centi, .memory_free = memory_free};
  for (const auto& [key, end] : wanted_) beat.digest += digest_of(key.first, key.second, kBatchStep, end);
  return beat;
}

bool Steward::on_message(const ToAgent& message) {
  return std::visit([this](const auto& m) { return on(m); }, message);
}

bool Steward::on(const Welcome& welcome) {
  const Remembered& seen = journal_.seen();
  if (!seen.cluster_id.empty() && seen.cluster_id != welcome.cluster_id) {
    ports_.say(fmt::format("a controller of cluster {} was refused, this node belongs to {}", welcome.cluster_id,
                           seen.cluster_id));
    return false;
  }
  if (welcome.epoch < seen.epoch) {
    ports_.say(fmt::format("a controller of epoch {} was refused, {} was seen", welcome.epoch.value(),
                           seen.epoch.value()));
    return false;
  }
  if (const auto saved = journal_.welcomed(welcome.cluster_id, welcome.epoch); !saved) {
    ports_.say(saved.error().message);
  }
  connected_ = true;
  failed_.clear();  // told to nobody, perhaps: what is still wanted is tried again
  revision_ = Revision{};
  sequence_ = 0;
  for (const auto& [key, attempt] : known_) report(attempt);
  return true;
}

bool Steward::on(const Wanted& wanted) {
  if (wanted.epoch < journal_.seen().epoch || (!wanted.full && wanted.revision <= revision_)) return true;
  revision_ = wanted.revision;
  if (const auto saved = journal_.saw(wanted.epoch, wanted.head); !saved) ports_.say(saved.error().message);
  if (wanted.full) wanted_.clear();
  for (const WantedEntry& entry : wanted.entries) apply(entry);
  for (const HeldAttempt& gone : wanted.gone) forget({gone.job, gone.attempt});
  if (!wanted.full) return true;
  // What has ended and isn't wanted any more is known to the controller; what runs is left alone.
  std::vector<Key> over;
  for (const auto& [key, attempt] : known_) {
    if (!wanted_.contains(key) && attempt.state == AttemptState::ended) over.push_back(key);
  }
  for (const Key& key : holding_) {
    if (!wanted_.contains(key)) over.push_back(key);
  }
  for (const Key& key : over) forget(key);
  return true;
}

void Steward::apply(const WantedEntry& entry) {
  const Key key{entry.job, entry.attempt};
  wanted_[key] = entry.end;
  if (entry.end) {
    end(key, entry);
  } else if (entry.launch && !known_.contains(key) && !holding_.contains(key) && !failed_.contains(key)) {
    start(key, *entry.launch);
  }
}

void Steward::start(Key key, const Launch& launch) {
  if (!launch.run) {
    holding_.insert(key);
    return;
  }
  const auto script = scripts_.find(launch.script);
  if (launch.script && script == scripts_.end()) {
    awaiting_[launch.script].insert_or_assign(key, launch);
    ports_.send(NeedPayload{launch.script});
    return;
  }
  const StartSpec spec = start_spec(launch, launch.script ? script->second : std::string{});
  const std::string name = key_text(key.first, key.second);
  if (const auto started = runner_.start(name, spec); !started) {
    report_unstarted(key, drover::Cause::launch_failed, started.error().message);
    return;
  }
  known_.emplace(key, Attempt{.key = name});
}

void Steward::end(Key key, const WantedEntry& entry) {
  for (auto& [script, waiting] : awaiting_) waiting.erase(key);
  const auto known = known_.find(key);
  if (known == known_.end()) {
    // It never started here and never will: say so, or the end would wait for ever.
    holding_.erase(key);
    report_unstarted(key, entry.end_cause, {});
    return;
  }
  if (known->second.state == AttemptState::ended) {
    report(known->second);
    return;
  }
  const auto told = runner_.tell(known->second.key, Terminate{.grace = entry.grace,
                                                              .reason = std::string(word(entry.end_cause))});
  if (!told) ports_.say(fmt::format("end of {}: {}", known->second.key, told.error().message));
}

void Steward::forget(Key key) {
  wanted_.erase(key);
  holding_.erase(key);
  failed_.erase(key);
  const auto known = known_.find(key);
  if (known == known_.end()) return;
  if (const auto forgotten = runner_.forget(known->second.key); !forgotten) {
    ports_.say(fmt::format("records of {} stay: {}", known->second.key, forgotten.error().message));
    return;
  }
  known_.erase(known);
}

bool Steward::on(const drover::SendSignal& order) {
  const auto known = known_.find({order.job, order.attempt});
  if (known == known_.end()) return true;
  const auto told = runner_.tell(known->second.key, SendSignal{.signal = static_cast<std::int32_t>(order.signal),
                                                               .scope = scope_of(order.target)});
  if (!told) ports_.say(fmt::format("signal to {}: {}", known->second.key, told.error().message));
  return true;
}

bool Steward::on(const PayloadBody& body) {
  if (scripts_.size() >= kScripts) scripts_.erase(scripts_.begin());
  scripts_.insert_or_assign(body.hash, body.bytes);
  auto waiting = awaiting_.extract(body.hash);
  if (waiting.empty()) return true;
  for (const auto& [key, launch] : waiting.mapped()) start(key, launch);
  return true;
}

bool Steward::on(const Refuse& refuse) {
  ports_.say(fmt::format("the controller refuses this node: {}", printable(refuse.reason)));
  return false;
}

void Steward::look(Duration now) {
  for (const Attempt& attempt : runner_.poll(now)) note(attempt);
}

void Steward::note(const Attempt& attempt) {
  const auto key = parse_key(attempt.key);
  if (!key) return;
  auto [known, fresh] = known_.try_emplace(*key, attempt);
  const bool moved = fresh || known->second.state != attempt.state;
  known->second = attempt;
  if (attempt.state == AttemptState::unknown) {
    // Nobody can say how it ended. What is left of it is killed, and it is reported as such.
    [[maybe_unused]] const auto told = runner_.tell(attempt.key, Terminate{.grace = {}, .reason = "unknown"});
  } else if (moved && connected_) {
    report(attempt);
  }
}

void Steward::report(const Attempt& attempt) {
  const auto key = parse_key(attempt.key);
  if (!key) return;
  if (attempt.started) {
    send_report(ReportStarted{.job = key->first, .attempt = key->second, .at = attempt.started->at});
  }
  if (!attempt.ended) return;
  const Ended& ended = *attempt.ended;
  ReportEnded report{.job = key->first, .attempt = key->second, .cause = cause_of(ended), .note = ended.message};
  report.exit = {.code = ended.exit_code, .signal = ended.signal};
  report.usage = {.user_cpu = Duration(ended.user_us / 1000),
                  .system_cpu = Duration(ended.system_us / 1000),
                  .peak_memory = Bytes::of(ended.peak_memory)};
  if (attempt.started) report.ran = ended.since_boot - attempt.started->since_boot;
  report.leftover = ended.leftover;
  send_report(std::move(report));
}

void Steward::report_unstarted(Key key, drover::Cause cause, std::string note) {
  failed_.insert(key);
  send_report(ReportEnded{.job = key.first, .attempt = key.second, .cause = cause, .note = std::move(note)});
}

void Steward::send_report(ReportBody body) {
  if (connected_) ports_.send(Report{.sequence = ++sequence_, .body = std::move(body)});
}

}  // namespace drover::agent
