// Feeds the read model from the cluster: documents as they are, pods with what their jobs and nodes say,
// Slurm's jobs as pods of a namespace of their own, nodes. In the log's order, from durable facts alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "api/service.h"
#include "kube/store/store.h"

namespace drover::kube {

// What people read in `kubectl describe`: made by the feed, kept by whoever takes it.
struct Notice {
  std::string resource;  // "pods", "nodes"
  EntryPtr about;
  std::string reason;
  std::string message;
  std::string component;  // "drover-scheduler", "drover-agent"
  std::string host;
  std::string container;
  bool warning = false;
};

class Feed final : public api::Observer {
 public:
  // `heard` is told twice a second of some nodes that are heard of: of each about every ten seconds.
  Feed(api::Service& service, Store& store, std::function<void(const Notice&)> notify,
       std::function<void(const std::vector<std::string>& nodes)> heard);
  // Fills the store and follows from then on.
  void begin();

  // The pods of Slurm's jobs are rendered when somebody looks at them: of a hundred thousand jobs that come and go
  // most are never asked for. Before their table is read; from any thread.
  void refresh();
  // Whoever wants to be told of them from now on, or no more (-1).
  void follow(int by) { followers_ += by; }

  void changed(const Cluster& cluster, Instant now, const std::vector<Event>& facts) override;
  void tick(const Cluster& cluster, Instant now) override;
  void noted(const Cluster& cluster, JobId job, const std::vector<PodNote>& notes) override;

 private:
  struct Touched {
    std::set<DocumentKey> documents;
    std::set<JobId> jobs;
    std::set<NodeId> nodes;
    std::set<JobId> forgotten;
  };
  // One object that is to be put or removed, at a version.
  struct Step {
    std::uint64_t version = 0;
    std::string resource;
    ObjectName name;
    EntryPtr entry;  // null: it is no more
    bool unseen = false;  // it is no more either, and was never put
  };
  [[nodiscard]] static Touched touched_by(const Cluster& cluster, const std::vector<Event>& facts);
  void render(const Cluster& cluster, Instant now, const std::vector<Event>& facts);
  void restore(const Cluster& cluster, Instant now);
  void restore_tombstones(const Cluster& cluster);
  [[nodiscard]] EntryPtr document_entry(const Cluster& cluster, const DocumentKey& key, const Document& document);
  void add_stale(const Cluster& cluster, std::uint64_t until, std::vector<Step>& steps);
  void put(std::vector<Step> steps);
  [[nodiscard]] EntryPtr last_of(JobId id, const std::string& name, std::uint64_t version) const;
  [[nodiscard]] EntryPtr slurm_entry(const Cluster& cluster, const Job& job) const;
  [[nodiscard]] EntryPtr node_entry(const Node& node, Instant now) const;
  [[nodiscard]] Value body_of(const PayloadHash& hash) const;
  [[nodiscard]] std::string waits_for(const Cluster& cluster, const Job& job);
  [[nodiscard]] std::string obstacles_of(const Cluster& cluster, const Job& job) const;
  void tell_about_pod(const Cluster& cluster, const Event& fact);
  void tell(const Cluster& cluster, JobId job, std::string reason, std::string message, bool warning);

  api::Service& service_;
  Store& store_;
  const std::function<void(const Notice&)> notify_;
  const std::function<void(const std::vector<std::string>&)> heard_;
  std::atomic<bool> live_ = false;  // what is told happens now
  std::uint64_t turn_ = 0;
  std::string cluster_id_;
  std::atomic<int> followers_ = 0;
  std::mutex mutex_;                        // of what follows, and of the order in which pods are put
  std::map<JobId, ObjectName> slurm_pods_;  // that are in the store
  std::map<JobId, std::string> stale_;      // have changed since, or were never put there; with their names
  std::uint64_t base_ = 0;                  // the version that it began with
  std::map<JobId, std::string> told_;       // why a pod waits, as it was last said
  std::map<std::pair<ShapeId, Symbol>, std::string> waits_;  // by shape and partitions, of one state
};

}  // namespace drover::kube
