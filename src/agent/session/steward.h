// The agent's judgement, without sockets: makes the node match the wanted set and reports what
// becomes of each attempt. Absence from a set ends nothing; an end is an explicit entry. An attempt
// is started at most once, however often it is wanted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/pod/pods.h"
#include "agent/runner/runner.h"
#include "agent/session/journal.h"
#include "domain/session.h"

namespace drover::agent {

class Steward {
 public:
  struct Ports {
    std::function<void(const FromAgent&)> send;
    std::function<void(const std::string&)> say;
  };
  // Without `pods` this node runs none.
  Steward(Ports ports, Runner& runner, Journal& journal, Pods* pods = nullptr);

  // What this node holds, for a Hello.
  [[nodiscard]] std::vector<HeldAttempt> held() const;
  [[nodiscard]] Heartbeat heartbeat(std::uint32_t load_centi, Bytes memory_free) const;

  // False: this controller must not be obeyed (another cluster, an older leader); close the session.
  [[nodiscard]] bool on_message(const ToAgent& message);
  // Whether a step is known to have ended here.
  [[nodiscard]] bool is_over(const std::string& key) const;
  void on_closed() { connected_ = false; }
  // Looks at what has become of the attempts. `now` is time since boot.
  void look(Duration now);

  // An attempt's script (and a node's hold on its share), or one of its steps. A job's steps come
  // before it, as their ends do.
  struct Key {
    JobId job;
    std::uint32_t attempt = 0;
    std::uint32_t step = kBatchStep;
    friend auto operator<=>(const Key&, const Key&) = default;
    [[nodiscard]] bool is_step() const { return step != kBatchStep; }
    [[nodiscard]] HeldAttempt held() const { return {.job = job, .attempt = attempt, .step = step}; }
  };

 private:
  bool on(const Welcome& welcome);
  bool on(const Wanted& wanted);
  bool on(const drover::SendSignal& order);
  bool on(const PayloadBody& body);
  bool on(const ReportsStored&) { return true; }  // ended records stay until the set says `gone`
  bool on(const Refuse& refuse);
  bool on(const PodBody& body);

  void apply(const WantedEntry& entry);
  void start(Key key, const Launch& launch);
  void start_step(Key key, const StepLaunch& launch);
  void start_pod(Key key, const Launch& launch);
  [[nodiscard]] bool is_pod(Key key) const;
  void pod_says(ReportBody body);
  void end(Key key, const WantedEntry& entry);
  void end_steps(Key job, const WantedEntry& entry);
  [[nodiscard]] std::vector<const Attempt*> running_steps(Key job) const;
  void step_over(Key key);
  void drop_records(Duration now);
  void signal(const Attempt& attempt, std::uint32_t number, SignalScope scope);
  void forget(Key key);
  void note(const Attempt& attempt);
  void report(Key key, const Attempt& attempt);
  template <class ReportKind>
  [[nodiscard]] static ReportKind filled(Key key, const Attempt& attempt);
  void send_report(ReportBody body);
  void report_unstarted(Key key, drover::Cause cause, std::string note);

  Ports ports_;
  Runner& runner_;
  Journal& journal_;
  Pods* pods_;
  bool connected_ = false;
  Revision revision_;
  std::uint64_t sequence_ = 0;
  std::map<Key, Attempt> known_;           // by the driver
  std::map<Key, drover::Cause> leaving_;   // of those the journal holds: to end once their steps have
  std::set<Key> fading_;                   // steps that the controller knows to be over; their clients may not
  Duration next_fade_{};
  std::set<Key> failed_;                   // could not be started; reported, wanted no more
  std::map<Key, bool> wanted_;             // true: to end
  std::map<PayloadHash, std::string> scripts_;
  std::map<PayloadHash, std::map<Key, Launch>> awaiting_;  // a script
};

[[nodiscard]] std::string key_text(const Steward::Key& key);  // "17.2", or "17.2.0" of a step
[[nodiscard]] std::optional<Steward::Key> parse_key(std::string_view text);

}  // namespace drover::agent
