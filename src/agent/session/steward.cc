#include "agent/session/steward.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/session/start_spec.h"
#include "agent/shim/outcome.h"
#include "base/text.h"

namespace drover::agent {
namespace {

constexpr Duration kFadeEvery = seconds(1);
constexpr std::size_t kScripts = 256;  // kept, so that the tasks of an array need their script once

}  // namespace

std::string key_text(const Steward::Key& key) {
  const std::string job = fmt::format("{}.{}", key.job.value(), key.attempt);
  return key.is_step() ? fmt::format("{}.{}", job, key.step) : job;
}

std::optional<Steward::Key> parse_key(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  const auto job = parse_uint(parts[0]);
  const auto attempt = parse_uint(parts[1]);
  if (!job || !attempt || *attempt > 0xFFFFFFFF) return std::nullopt;
  Steward::Key key{.job = JobId(*job), .attempt = static_cast<std::uint32_t>(*attempt)};
  if (parts.size() == 2) return key;
  const auto step = parse_uint(parts[2]);
  if (!step || *step >= kBatchStep) return std::nullopt;
  key.step = static_cast<std::uint32_t>(*step);
  return key;
}

Steward::Steward(Ports ports, Runner& runner, Journal& journal, Pods* pods)
    : ports_(std::move(ports)), runner_(runner), journal_(journal), pods_(pods) {
  for (const Attempt& attempt : runner_.list()) note(attempt);
  if (pods_ == nullptr) return;
  for (const auto& [key, uuids] : pods_->devices()) {
    if (const auto claimed = runner_.claim(key, uuids); !claimed) ports_.say(claimed.error().message);
  }
  pods_->start({.need = [this](const NeedPod& wish) { ports_.send(wish); },
                .report = [this](ReportBody body) { pod_says(std::move(body)); },
                .note = [this](const PodNotes& notes) { ports_.send(notes); },
                .say = ports_.say});
}

// A pod holds its devices until it is over, as any job.
void Steward::pod_says(ReportBody body) {
  if (const auto* ended = std::get_if<ReportEnded>(&body)) runner_.release(key_text({ended->job, ended->attempt}));
  send_report(std::move(body));
}

bool Steward::is_pod(Key key) const { return pods_ != nullptr && !key.is_step() && pods_->has(key_text(key)); }

std::vector<HeldAttempt> Steward::held() const {
  std::vector<HeldAttempt> held;
  for (const auto& [key, attempt] : known_) held.push_back(key.held());
  const auto& holds = journal_.seen().holds;
  held.insert(held.end(), holds.begin(), holds.end());
  const auto pods = pods_ != nullptr ? pods_->held() : std::vector<HeldAttempt>{};
  held.insert(held.end(), pods.begin(), pods.end());
  return held;
}

Heartbeat Steward::heartbeat(std::uint32_t load_centi, Bytes memory_free) const {
  Heartbeat beat{.revision = revision_, .load_centi = load_centi, .memory_free = memory_free};
  for (const auto& [key, end] : wanted_) beat.digest += digest_of(key.job, key.attempt, key.step, end);
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
  for (const auto& [key, attempt] : known_) report(key, attempt);
  if (pods_ != nullptr) pods_->report_all();
  return true;
}

bool Steward::on(const Wanted& wanted) {
  if (wanted.epoch < journal_.seen().epoch || (!wanted.full && wanted.revision <= revision_)) return true;
  revision_ = wanted.revision;
  if (const auto saved = journal_.saw(wanted.epoch, wanted.head); !saved) ports_.say(saved.error().message);
  if (wanted.full) wanted_.clear();
  for (const WantedEntry& entry : wanted.entries) apply(entry);
  for (const HeldAttempt& gone : wanted.gone) forget({gone.job, gone.attempt, gone.step});
  if (!wanted.full) return true;
  // What has ended and isn't wanted any more is known to the controller; what runs is left alone.
  std::vector<Key> over;
  for (const auto& [key, attempt] : known_) {
    if (!wanted_.contains(key) && attempt.state == AttemptState::ended) over.push_back(key);
  }
  for (const HeldAttempt& hold : journal_.seen().holds) {
    const Key key{hold.job, hold.attempt, hold.step};
    if (!wanted_.contains(key)) over.push_back(key);
  }
  for (const HeldAttempt& pod : pods_ != nullptr ? pods_->held() : std::vector<HeldAttempt>{}) {
    const Key key{pod.job, pod.attempt};
    if (!wanted_.contains(key) && pods_->is_over(key_text(key))) over.push_back(key);
  }
  for (const Key& key : over) forget(key);
  return true;
}

void Steward::apply(const WantedEntry& entry) {
  const Key key{entry.job, entry.attempt, entry.step};
  wanted_[key] = entry.end;
  if (entry.end) {
    end(key, entry);
    return;
  }
  if (known_.contains(key) || fading_.contains(key) || failed_.contains(key) || journal_.holds(key.held())) return;
  if (is_pod(key)) return;
  if (entry.step_launch && key.is_step()) start_step(key, *entry.step_launch);
  if (entry.launch && !key.is_step()) start(key, *entry.launch);
}

void Steward::start_step(Key key, const StepLaunch& launch) {
  const std::string name = key_text(key);
  if (const auto started = runner_.start_part(name, part_spec(launch)); !started) {
    report_unstarted(key, drover::Cause::launch_failed, started.error().message);
    return;
  }
  known_.emplace(key, Attempt{.key = name});
}

void Steward::start(Key key, const Launch& launch) {
  if (!launch.run) {
    if (const auto saved = journal_.hold(key.held()); !saved) ports_.say(saved.error().message);
    return;
  }
  if (launch.pod) return start_pod(key, launch);
  const auto script = scripts_.find(launch.script);
  if (launch.script && script == scripts_.end()) {
    awaiting_[launch.script].insert_or_assign(key, launch);
    ports_.send(NeedPayload{launch.script});
    return;
  }
  const StartSpec spec = start_spec(launch, launch.script ? script->second : std::string{});
  const std::string name = key_text(key);
  if (const auto started = runner_.start(name, spec); !started) {
    report_unstarted(key, drover::Cause::launch_failed, started.error().message);
    return;
  }
  known_.emplace(key, Attempt{.key = name});
}

void Steward::start_pod(Key key, const Launch& launch) {
  const std::string name = key_text(key);
  const Status claimed = pods_ != nullptr ? runner_.claim(name, launch.device_uuids)
                                          : Status(Error{Errc::unavailable, "this node runs no pods"});
  if (!claimed) return report_unstarted(key, drover::Cause::launch_failed, claimed.error().message);
  pods_->want(key.job, key.attempt, launch);
}

void Steward::end(Key key, const WantedEntry& entry) {
  if (is_pod(key)) return pods_->end(key_text(key), entry.end_cause, entry.grace);
  for (auto& [script, waiting] : awaiting_) waiting.erase(key);
  if (!key.is_step()) end_steps(key, entry);
  const auto known = known_.find(key);
  if (known == known_.end()) {
    // It never started here and never will: say so, or the end would wait for ever.
    if (!key.is_step() && !running_steps(key).empty()) {
      leaving_.emplace(key, entry.end_cause);
    } else {
      report_unstarted(key, entry.end_cause, {});
    }
    return;
  }
  if (known->second.state == AttemptState::ended) {
    report(key, known->second);
    return;
  }
  const auto told = runner_.tell(known->second.key, Terminate{.grace = entry.grace,
                                                              .reason = std::string(word(entry.end_cause))});
  if (!told) ports_.say(fmt::format("end of {}: {}", known->second.key, told.error().message));
}

std::vector<const Attempt*> Steward::running_steps(Key job) const {
  std::vector<const Attempt*> steps;
  const Key first{job.job, job.attempt, 0};
  for (auto it = known_.lower_bound(first); it != known_.end() && it->first < job; ++it) {
    if (it->second.state != AttemptState::ended) steps.push_back(&it->second);
  }
  return steps;
}

void Steward::end_steps(Key job, const WantedEntry& entry) {
  const Terminate order{.grace = entry.grace, .reason = std::string(word(entry.end_cause))};
  for (const Attempt* step : running_steps(job)) {
    if (const auto told = runner_.tell(step->key, order); !told) {
      ports_.say(fmt::format("end of {}: {}", step->key, told.error().message));
    }
  }
}

// A job's own end is told after those of its steps.
void Steward::step_over(Key key) {
  const Key job{key.job, key.attempt};
  if (!running_steps(job).empty()) return;
  if (const auto known = known_.find(job); known != known_.end() && known->second.state == AttemptState::ended) {
    report(job, known->second);
  }
  if (const auto leaving = leaving_.extract(job)) report_unstarted(job, leaving.mapped(), {});
}

bool Steward::is_over(const std::string& name) const {
  const auto key = parse_key(name);
  if (!key) return true;
  const auto known = known_.find(*key);
  return failed_.contains(*key) || fading_.contains(*key) ||
         (known != known_.end() && known->second.state == AttemptState::ended);
}

void Steward::forget(Key key) {
  wanted_.erase(key);
  failed_.erase(key);
  leaving_.erase(key);
  if (const auto saved = journal_.release(key.held()); !saved) ports_.say(saved.error().message);
  if (is_pod(key)) {
    if (const auto forgotten = pods_->forget(key_text(key)); !forgotten) ports_.say(forgotten.error().message);
  }
  const auto known = known_.find(key);
  if (known == known_.end()) return;
  const auto forgotten = runner_.forget(known->second.key);
  if (!forgotten && forgotten.error().code == Errc::unavailable && key.is_step()) {
    fading_.insert(key);
  } else if (!forgotten) {
    ports_.say(fmt::format("records of {} stay: {}", known->second.key, forgotten.error().message));
    return;
  }
  known_.erase(known);
}

void Steward::drop_records(Duration now) {
  if (fading_.empty() || now < next_fade_) return;
  next_fade_ = now + kFadeEvery;
  std::erase_if(fading_, [this](const Key& key) { return runner_.forget(key_text(key)).has_value(); });
}

bool Steward::on(const drover::SendSignal& order) {
  const Key key{order.job, order.attempt, order.step};
  const auto known = known_.find(key);
  const bool here = known != known_.end();
  if (here) signal(known->second, order.signal, key.is_step() ? SignalScope::all : scope_of(order.target));
  if (key.is_step() || order.target == SignalTarget::batch) return true;
  // The processes of a job are those of its steps too, where the kernel keeps them together.
  if (here && runner_.keeps_together()) return true;
  for (const Attempt* step : running_steps(key)) signal(*step, order.signal, SignalScope::all);
  return true;
}

void Steward::signal(const Attempt& attempt, std::uint32_t number, SignalScope scope) {
  const auto told = runner_.tell(attempt.key, SendSignal{.signal = static_cast<std::int32_t>(number), .scope = scope});
  if (!told) ports_.say(fmt::format("signal to {}: {}", attempt.key, told.error().message));
}

bool Steward::on(const PayloadBody& body) {
  if (scripts_.size() >= kScripts) scripts_.erase(scripts_.begin());
  scripts_.insert_or_assign(body.hash, body.bytes);
  auto waiting = awaiting_.extract(body.hash);
  if (waiting.empty()) return true;
  for (const auto& [key, launch] : waiting.mapped()) start(key, launch);
  return true;
}

bool Steward::on(const PodBody& body) {
  if (pods_ != nullptr) pods_->on_body(body);
  return true;
}

bool Steward::on(const Refuse& refuse) {
  ports_.say(fmt::format("the controller refuses this node: {}", printable(refuse.reason)));
  return false;
}

void Steward::look(Duration now) {
  for (const Attempt& attempt : runner_.poll(now)) note(attempt);
  drop_records(now);
  if (pods_ != nullptr) pods_->turn();
}

void Steward::note(const Attempt& attempt) {
  const auto key = parse_key(attempt.key);
  if (!key && pods_ != nullptr) pods_->on_attempt(attempt);
  if (!key || fading_.contains(*key)) return;
  auto [known, fresh] = known_.try_emplace(*key, attempt);
  const bool moved = fresh || known->second.state != attempt.state;
  known->second = attempt;
  if (attempt.state == AttemptState::unknown) {
    // Nobody can say how it ended. What is left of it is killed, and it is reported as such.
    [[maybe_unused]] const auto told = runner_.tell(attempt.key, Terminate{.grace = {}, .reason = "unknown"});
  } else if (moved && connected_) {
    report(*key, known->second);
    if (key->is_step() && attempt.ended) step_over(*key);
  }
}

template <class ReportKind>
ReportKind Steward::filled(Key key, const Attempt& attempt) {
  const Ended& ended = *attempt.ended;
  ReportKind report{.job = key.job, .attempt = key.attempt};
  report.cause = cause_of(ended);
  report.note = ended.message;
  report.exit = {.code = ended.exit_code, .signal = ended.signal};
  report.usage = {.user_cpu = Duration(ended.user_us / 1000),
                  .system_cpu = Duration(ended.system_us / 1000),
                  .peak_memory = Bytes::of(ended.peak_memory)};
  if (attempt.started) report.ran = ended.since_boot - attempt.started->since_boot;
  report.leftover = ended.leftover;
  return report;
}

void Steward::report(Key key, const Attempt& attempt) {
  if (key.is_step()) {
    if (!attempt.ended) return;
    auto report = filled<ReportStepEnded>(key, attempt);
    report.step = key.step;
    send_report(std::move(report));
    return;
  }
  if (attempt.started) send_report(ReportStarted{.job = key.job, .attempt = key.attempt, .at = attempt.started->at});
  if (attempt.ended && running_steps(key).empty()) send_report(filled<ReportEnded>(key, attempt));
}

void Steward::report_unstarted(Key key, drover::Cause cause, std::string note) {
  failed_.insert(key);
  if (key.is_step()) {
    const std::int32_t code = cause == drover::Cause::launch_failed ? 1 : 0;
    send_report(ReportStepEnded{.job = key.job, .attempt = key.attempt, .step = key.step, .cause = cause,
                                .exit = {.code = code}, .note = std::move(note)});
  } else {
    send_report(ReportEnded{.job = key.job, .attempt = key.attempt, .cause = cause, .note = std::move(note)});
  }
}

void Steward::send_report(ReportBody body) {
  if (connected_) ports_.send(Report{.sequence = ++sequence_, .body = std::move(body)});
}

}  // namespace drover::agent
