// The one inner door. Both front doors, the exporter and the page come in through it; live control
// and the simulator stand behind it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/query.h"
#include "api/views.h"
#include "base/result.h"
#include "domain/command.h"
#include "domain/history.h"

namespace drover::api {

// A wish with its bodies. For a Submit, `spec` is required, and for a step `step_spec`; the bodies are
// hashed and stored by the service, which fills in spec.script, spec.environment, Submit::spec and
// StepWish::spec.
struct Execute {
  Caller caller;
  std::string key;  // idempotency
  Command command;
  std::optional<JobSpec> spec;
  std::string script;
  std::string environment;  // NUL-separated NAME=value
  std::optional<StepSpec> step_spec;  // of a CreateStep, and of a Submit with a first step
  std::string document;               // of a PutDocument: the body
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "caller", self.caller);
    visit(2, "key", self.key);
    visit(3, "command", self.command);
    visit(4, "spec", self.spec);
    visit(5, "script", self.script);
    visit(6, "environment", self.environment);
    visit(7, "step_spec", self.step_spec);
    visit(8, "document", self.document);
  }
};

using Answer = std::variant<Reply, Refusal>;

// Sees every change of what readers may watch, in order, once it is durable.
class Observer {
 public:
  virtual ~Observer() = default;
  // In one thread, with the cluster as it is after all of `facts`; before anybody who caused one of them
  // is answered. What it does, everybody waits for.
  virtual void changed(const Cluster& cluster, Instant now, const std::vector<Event>& facts) = 0;
  // About twice a second, when nothing changes too.
  virtual void tick(const Cluster& cluster, Instant now) = 0;
  // What a node says of a pod for people to read; it is kept nowhere.
  virtual void noted(const Cluster& cluster, JobId job, const std::vector<PodNote>& notes) = 0;
};

class Service {
 public:
  virtual ~Service() = default;

  // Answers only once the facts are durable. `done` is called exactly once, from any thread.
  virtual void execute(Execute wish, std::function<void(Answer)> done) = 0;

  // Lists come from durable facts. They may be called from any thread; each row is consistent, and
  // includes every wish that was answered before the call. `visit` must not block.
  virtual ListHeader jobs(const JobQuery& query, const std::function<void(const JobView&)>& visit) = 0;
  virtual ListHeader steps(const StepQuery& query, const std::function<void(const StepView&)>& visit) = 0;
  virtual ListHeader nodes(const std::function<void(const NodeView&)>& visit) = 0;
  virtual ListHeader partitions(const std::function<void(const PartitionView&)>& visit) = 0;
  virtual Result<std::vector<HistoryRow>> history(const HistoryQuery& query) = 0;
  virtual Overview overview() = 0;
  virtual Result<std::string> payload(const PayloadHash& hash) = 0;

  // When and where would this start? Decides nothing.
  virtual std::variant<WouldStart, Refusal> would_start(const Execute& wish) = 0;

  // Calls `done` once, when the job (an array: all its tasks) has ended, or is unknown, or after
  // `patience`, whichever is first; with the views of all that it comprises.
  virtual void wait_ended(JobId job, Duration patience, std::function<void(std::vector<JobView>)> done) = 0;
  // The same, already once it runs.
  virtual void wait_started(JobId job, Duration patience, std::function<void(std::vector<JobView>)> done) = 0;

  // From now on `observer` is told; first, in this call, `begin` sees the cluster as it was a while ago and
  // `observer` what has changed since, as far as is known. One observer lives as long as the service.
  virtual void observe(Observer& observer, const std::function<void(const Cluster&, Instant)>& begin) = 0;
  // Reads the cluster while nothing changes; keep it short.
  virtual void read(const std::function<void(const Cluster&, Instant)>& visit) = 0;

  // For a reader that holds a cluster: why this job of it waits.
  [[nodiscard]] virtual Waits why_waiting(const Cluster& cluster, JobId job) = 0;

  // The client that an allocation was made for is still there. One that isn't heard of for a minute
  // loses it. Nothing: noted, until the next time.
  virtual std::optional<Refusal> keep(const Caller& caller, JobId job) = 0;
};

}  // namespace drover::api
