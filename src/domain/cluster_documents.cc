// The fold of documents, of what people write on nodes and of what nodes say of pods; and the versions of
// all that readers watch.
#include "base/check.h"
#include "base/overload.h"
#include "domain/cluster.h"

namespace drover {

namespace {
// So many documents that are no more are remembered, for readers who come back after a while.
constexpr std::size_t kTombstones = 8192;

const Labels& labels_in(const Document& document) {
  static const Labels kNone;
  return document.labels ? *document.labels : kNone;
}
}  // namespace

bool operator==(const Document& a, const Document& b) {
  return a.body == b.body && a.made == b.made && a.version == b.version && a.job == b.job &&
         labels_in(a) == labels_in(b);
}

const Document* Cluster::document(const DocumentKey& key) const {
  const auto found = documents_.find(key);
  return found == documents_.end() ? nullptr : &found->second;
}

const DocumentKey* Cluster::document_of(JobId job) const {
  const auto found = documents_of_.find(job);
  return found == documents_of_.end() ? nullptr : &found->second;
}

PodIdentity Cluster::pod_identity(JobId job) const {
  const DocumentKey* key = document_of(job);
  return {.key = key, .labels = key == nullptr ? nullptr : &labels_in(documents_.at(*key))};
}

const std::set<JobId>& Cluster::kept_pods(NodeId node) const {
  static const std::set<JobId> kNone;
  const auto found = kept_pods_.find(node);
  return found == kept_pods_.end() ? kNone : found->second;
}

void Cluster::changed(JobId id) {
  if (Job* job = jobs_.find(id)) job->version = ++version_;
}

void Cluster::note_change(const Event& event) {
  std::visit(Overload{
                 [&](const NodeRegistered& e) { node_at(e.node).version = ++version_; },
                 [&](const NodeContactChanged& e) { node_at(e.node).version = ++version_; },
                 [&](const NodeDrainChanged& e) { node_at(e.node).version = ++version_; },
                 [&](const NodeMarked& e) { node_at(e.node).version = ++version_; },
                 [&](const ArrayTaskSplit& e) {
                   if (e.array == e.job) ++version_;  // of its end under the array's name
                   changed(e.job);
                   if (e.array != e.job) changed(e.array);
                 },
                 // Steps aren't watched; documents, reasons and lost nodes have taken theirs.
                 [](const StepPlaced&) {},
                 [](const StepEnding&) {},
                 [](const StepShareEnded&) {},
                 [](const StepEnded&) {},
                 [](const DocumentStored&) {},
                 [](const DocumentRemoved&) {},
                 [](const ReasonsNoted&) {},
                 [&](const JobsForgotten& e) { forgotten_jobs_ = version_ += e.jobs.size(); },
                 [](const Configured&) {},
                 [](const PartitionChanged&) {},
                 [](const ClockJumped&) {},
                 [](const JobReserved&) {},
                 [&](const auto& e) { changed(e.job); },
             },
             event);
}

void Cluster::on(const DocumentStored& e) {
  const auto [place, fresh] = documents_.try_emplace(e.key);
  Document& document = place->second;
  document.body = e.body;
  document.version = ++version_;
  if (fresh) document.made = document.version;
  if (labels_in(document) != e.labels) document.labels = std::make_shared<const Labels>(e.labels);
  if (!e.job) return;
  document.job = e.job;
  documents_of_.emplace(e.job, e.key);
}

void Cluster::keep_pod(const Job& job) {
  if (!job.pod || !job.run->placement || !documents_of_.contains(job.id)) return;
  kept_pods_[job.run->placement->shares.front().node].insert(job.id);
}

void Cluster::let_pod_go(const Job& job) {
  if (!job.run->placement) return;
  const auto kept = kept_pods_.find(job.run->placement->shares.front().node);
  if (kept == kept_pods_.end()) return;
  kept->second.erase(job.id);
  if (kept->second.empty()) kept_pods_.erase(kept);
}

void Cluster::on(const DocumentRemoved& e) {
  const auto found = documents_.find(e.key);
  CHECK(found != documents_.end());
  tombstones_.push_back({.key = e.key, .body = found->second.body, .version = ++version_});
  while (tombstones_.size() > kTombstones) {
    forgotten_tombstones_ = tombstones_.front().version;
    tombstones_.pop_front();
  }
  if (const Job* job = jobs_.find(found->second.job)) let_pod_go(*job);
  documents_of_.erase(found->second.job);
  documents_.erase(found);
}

void Cluster::on(const NodeMarked& e) { node_at(e.node).marks = e.marks; }

void Cluster::on(const PodReported& e) {
  Job& job = jobs_.at(e.job);
  CHECK(job.run->attempt == e.attempt);
  job.run.edit().pod = std::make_shared<const PodStatus>(e.status);
}

}  // namespace drover
