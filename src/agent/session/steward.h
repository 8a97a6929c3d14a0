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
  Steward(Ports ports, Runner& runner, Journal& journal);

  // What this node holds, for a Hello.
  [[nodiscard]] std::vector<HeldAttempt> held() const;
  [[nodiscard]] Heartbeat heartbeat(std::uint32_t load_centi, Bytes memory_free) const;

  // False: this controller must not be obeyed (another cluster, an older leader); close the session.
  [[nodiscard]] bool on_message(const ToAgent& message);
  void on_closed() { connected_ = false; }
  // Looks at what has become of the attempts. `now` is time since boot.
  void look(Duration now);

 private:
  using Key = std::pair<JobId, std::uint32_t>;
  bool on(const Welcome& welcome);
  bool on(const Wanted& wanted);
  bool on(const drover::SendSignal& order);
  bool on(const PayloadBody& body);
  bool on(const ReportsStored&) { return true; }  // ended records stay until the set says `gone`
  bool on(const Refuse& refuse);

  void apply(const WantedEntry& entry);
  void start(Key key, const Launch& launch);
  void end(Key key, const WantedEntry& entry);
  void forget(Key key);
  void note(const Attempt& attempt);
  void report(const Attempt& attempt);
  void send_report(ReportBody body);
  void report_unstarted(Key key, drover::Cause cause, std::string note);

  Ports ports_;
  Runner& runner_;
  Journal& journal_;
  bool connected_ = false;
  Revision revision_;
  std::uint64_t sequence_ = 0;
  std::map<Key, Attempt> known_;           // by the driver
  std::set<Key> holding_;                  // the script runs on another node
  std::set<Key> failed_;                   // could not be started; reported, wanted no more
  std::map<Key, bool> wanted_;             // true: to end
  std::map<PayloadHash, std::string> scripts_;
  std::map<PayloadHash, std::map<Key, Launch>> awaiting_;  // a script
};

[[nodiscard]] std::string key_text(JobId job, std::uint32_t attempt);  // "17.2"
[[nodiscard]] std::optional<std::pair<JobId, std::uint32_t>> parse_key(std::string_view text);

}  // namespace drover::agent
