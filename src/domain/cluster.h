// The whole cluster as one value: the fold of its facts. `apply` is the only writer; living,
// restarting, following and simulating all go through it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id_table.h"
#include "base/result.h"
#include "domain/config.h"
#include "domain/document.h"
#include "domain/event.h"
#include "domain/ids.h"
#include "domain/job.h"
#include "domain/node.h"
#include "domain/selectors.h"
#include "domain/step.h"

namespace drover {

// Texts as small numbers, in the order in which the log first named them.
class Symbols {
 public:
  Symbol intern(std::string_view text);
  [[nodiscard]] const std::string& text(Symbol symbol) const { return texts_[symbol.index()]; }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  friend bool operator==(const Symbols& a, const Symbols& b) { return a.texts_ == b.texts_; }

 private:
  std::map<std::string, std::uint32_t, std::less<>> index_{{"", 0}};
  std::vector<std::string> texts_{""};
};

class Shapes {
 public:
  ShapeId intern(const Request& request);
  [[nodiscard]] const Request& request(ShapeId id) const { return requests_[id.value() - 1]; }
  [[nodiscard]] std::size_t size() const { return requests_.size(); }
  [[nodiscard]] const Selectors& selectors() const { return selectors_; }
  friend bool operator==(const Shapes& a, const Shapes& b) { return a.requests_ == b.requests_; }

 private:
  std::map<std::string, std::uint64_t> index_;  // by encoding
  std::deque<Request> requests_;                // stable addresses
  Selectors selectors_;
};

// What terms about pods see of a job. Of one that is no pod: nothing, and no term means it.
struct PodIdentity {
  const DocumentKey* key = nullptr;
  const Labels* labels = nullptr;  // never nullptr with a key
};

struct Reservation {
  Instant start;
  Symbol partition;
  Placement placement;
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

// The submit keys of one user, oldest first, so that a retry finds its job again.
struct KeyWindow {
  std::deque<std::string> order;
  std::map<std::string, JobId> jobs;
  friend bool operator==(const KeyWindow&, const KeyWindow&) = default;
};

class Cluster {
 public:
  void apply(const Event& event);

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const IdTable<JobId, Job>& jobs() const { return jobs_; }
  [[nodiscard]] const Job* job(JobId id) const { return jobs_.find(id); }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }  // nodes()[i] has id i + 1
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_.at(id.value() - 1); }
  [[nodiscard]] const Node* node(std::string_view name) const;
  [[nodiscard]] const Device& device(DeviceId id) const;
  [[nodiscard]] NodeId node_of(DeviceId id) const { return device_places_.at(id.value() - 1).first; }
  [[nodiscard]] std::size_t device_count() const { return device_places_.size(); }
  [[nodiscard]] DeviceId device_id(std::string_view uuid) const;  // none: DeviceId{}
  [[nodiscard]] const Partition* partition(std::string_view name) const;
  [[nodiscard]] const Partition* default_partition() const;
  [[nodiscard]] const std::string& text(Symbol symbol) const { return symbols_.text(symbol); }
  [[nodiscard]] const Symbols& symbols() const { return symbols_; }
  [[nodiscard]] const Request& request(const Job& job) const { return shapes_.request(job.shape); }
  [[nodiscard]] const Shapes& shapes() const { return shapes_; }
  [[nodiscard]] const std::map<JobId, Reservation>& reservations() const { return reservations_; }
  // All records of an array, the array's own among them; empty for a plain job.
  [[nodiscard]] const std::set<JobId>& array_members(JobId array) const;
  // The record of one task: its own, or the array's while it waits there. nullptr: no such task.
  [[nodiscard]] const Job* array_task(JobId array, std::uint32_t task) const;
  // The jobs whose dependency names `job`.
  [[nodiscard]] const std::set<JobId>& dependents(JobId job) const;
  // The steps of a job; none for one that never had any.
  [[nodiscard]] const JobSteps& steps(JobId job) const;
  [[nodiscard]] const Step* step(JobId job, std::uint32_t number) const;
  [[nodiscard]] const std::map<JobId, JobSteps>& all_steps() const { return steps_; }
  // What an allocation is to run first, until it is placed. nullptr: nothing.
  [[nodiscard]] const StepWish* first_step(JobId job) const;
  [[nodiscard]] const std::map<JobId, StepWish>& first_steps() const { return first_steps_; }
  // Ended jobs by end time, for forgetting them.
  [[nodiscard]] const std::set<std::pair<Instant, JobId>>& ended() const { return ended_; }
  // How often an object that readers watch (a job, a node, a document) has changed. Each change takes the
  // next number, and the object keeps it.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] const std::map<DocumentKey, Document>& documents() const { return documents_; }
  [[nodiscard]] const Document* document(const DocumentKey& key) const;
  [[nodiscard]] const DocumentKey* document_of(JobId job) const;  // nullptr: the job has none
  [[nodiscard]] PodIdentity pod_identity(JobId job) const;
  [[nodiscard]] const Selectors& selectors() const { return shapes_.selectors(); }  // of all its requests
  // Pods that are over, on the node that ran them, while their document is there: their logs may be asked for.
  [[nodiscard]] const std::set<JobId>& kept_pods(NodeId node) const;
  // Documents that are no more, oldest first; those before `forgotten_tombstones` are unknown.
  [[nodiscard]] const std::deque<Tombstone>& tombstones() const { return tombstones_; }
  [[nodiscard]] std::uint64_t forgotten_tombstones() const { return forgotten_tombstones_; }
  // Version at which jobs were last forgotten, the last of as many as jobs: they leave no tombstones.
  [[nodiscard]] std::uint64_t forgotten_jobs() const { return forgotten_jobs_; }
  [[nodiscard]] JobId job_of_key(std::uint32_t uid, const std::string& key) const;
  [[nodiscard]] JobId next_job() const { return JobId(next_job_); }

  // A snapshot holds what can't be derived; reading one gives an equal cluster.
  [[nodiscard]] std::string to_snapshot() const;
  [[nodiscard]] static Result<Cluster> from_snapshot(std::string_view bytes);

  friend bool operator==(const Cluster&, const Cluster&) = default;

 private:
  void on(const Configured& e);
  void on(const NodeRegistered& e);
  void on(const NodeContactChanged& e);
  void on(const NodeDrainChanged& e);
  void on(const JobSubmitted& e);
  void on(const ArrayTaskSplit& e);
  void on(const JobPlaced& e);
  void on(const JobReserved& e);
  void on(const JobStarted& e);
  void on(const JobEnding& e);
  void on(const JobEnded& e);
  void on(const JobRequeued& e);
  void on(const JobHoldChanged& e);
  void on(const JobModified& e);
  void on(const DependencyChanged& e);
  void on(const JobEligible& e);
  void on(const ReasonsNoted& e);
  void on(const JobsForgotten& e);
  void on(const ClockJumped& e);
  void on(const PartitionChanged& e);
  void on(const ShareEnded& e);
  void on(const StepPlaced& e);
  void on(const StepEnding& e);
  void on(const StepShareEnded& e);
  void on(const StepEnded& e);
  void on(const DocumentStored& e);
  void on(const DocumentRemoved& e);
  void on(const NodeMarked& e);
  void on(const PodReported& e);

  void note_change(const Event& event);
  void changed(JobId job);
  void keep_pod(const Job& job);  // once it is over
  void let_pod_go(const Job& job);
  Node& node_at(NodeId id) { return nodes_.at(id.value() - 1); }
  Device& device_at(DeviceId id);
  void hold_resources(const Job& job);
  void free_resources(const Job& job, Instant now);
  void free_share(const Job& job, const NodeShare& share, Instant now);
  void note_lost_nodes(const Node& node_changed);
  void set_throttle(JobId array, std::uint32_t throttle);
  void set_dependency(Job& job, const Dependency& dependency);
  void remember_key(std::uint32_t uid, const std::string& key, JobId job);
  void forget_steps(JobId job, std::size_t keep);  // of those that are over
  void insert_job(Job job);  // with its entries in the derived tables

  Config config_;
  IdTable<JobId, Job> jobs_;
  std::vector<Node> nodes_;
  Symbols symbols_;
  Shapes shapes_;
  std::map<JobId, Reservation> reservations_;
  std::map<std::uint32_t, KeyWindow> keys_;
  std::map<JobId, JobSteps> steps_;         // beside the jobs, most of which have none
  std::map<JobId, StepWish> first_steps_;
  std::uint64_t next_job_ = 1;
  std::uint64_t version_ = 0;
  std::map<DocumentKey, Document> documents_;
  std::deque<Tombstone> tombstones_;
  std::uint64_t forgotten_tombstones_ = 0;  // version of the newest that is
  std::uint64_t forgotten_jobs_ = 0;

  // Derived from the above.
  std::map<std::string, NodeId, std::less<>> node_names_;
  std::vector<std::pair<NodeId, std::uint32_t>> device_places_;  // by DeviceId: node, place in devices
  std::map<std::string, DeviceId, std::less<>> device_uuids_;
  std::map<JobId, std::set<JobId>> arrays_;
  std::map<JobId, std::set<JobId>> dependents_;
  std::set<std::pair<Instant, JobId>> ended_;
  std::map<JobId, DocumentKey> documents_of_;
  std::map<NodeId, std::set<JobId>> kept_pods_;
};

}  // namespace drover
