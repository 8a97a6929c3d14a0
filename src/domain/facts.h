// Facts applied as they are decided: what is decided next already sees them. It notes what they
// touched, for the indexes and for the orders to agents.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/overload.h"
#include "domain/cluster.h"

namespace drover {

class Facts {
 public:
  explicit Facts(Cluster& cluster) : cluster_(cluster) {}
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const std::vector<Event>& list() const { return list_; }
  [[nodiscard]] std::vector<Event> take() { return std::exchange(list_, {}); }

  void add(Event event) {
    note(event);
    cluster_.apply(event);
    if (const auto* placed = std::get_if<JobPlaced>(&event)) note_nodes(placed->placement, true);
    list_.push_back(std::move(event));
  }

  // Since they were last taken: whose wanted set changed, whose room or description did, which jobs did.
  std::set<NodeId> wanted;
  std::set<NodeId> rooms;
  std::set<NodeId> described;
  std::set<JobId> jobs;
  bool configured = false;  // partitions or settings changed

 private:
  void note(const Event& event) {
    std::visit(Overload{
                   [&](const Configured&) { configured = true; },
                   [&](const PartitionChanged&) { configured = true; },
                   [&](const NodeRegistered& e) { described.insert(e.node), wanted.insert(e.node); },
                   [&](const NodeContactChanged& e) { rooms.insert(e.node); },
                   [&](const NodeDrainChanged& e) { rooms.insert(e.node); },
                   [&](const ArrayTaskSplit& e) { jobs.insert(e.array), jobs.insert(e.job); },
                   [&](const JobEnding& e) { ending(e.job, false); },
                   [&](const JobEnded& e) { ending(e.job, true); },
                   [&](const ShareEnded& e) { jobs.insert(e.job), rooms.insert(e.node), wanted.insert(e.node); },
                   [&](const JobModified& e) {
                     if (e.limit) ending(e.job, false);
                     jobs.insert(e.job);
                     if (e.throttle) note_array(e.job);
                   },
                   [&](const StepPlaced& e) { note_step(e.step); },
                   [&](const StepEnding& e) { note_step(*cluster_.step(e.job, e.step)); },
                   [&](const StepShareEnded& e) { wanted.insert(e.node); },
                   [&](const StepEnded& e) { note_step(*cluster_.step(e.job, e.step)); },
                   [&](const DocumentStored& e) { note_stored(e); },
                   [&](const DocumentRemoved& e) {
                     note_document(e.job);
                     const Job* job = e.job ? cluster_.job(e.job) : nullptr;
                     if (job != nullptr && job->run->placement) note_nodes(*job->run->placement, false);
                   },
                   [&](const NodeMarked& e) { described.insert(e.node), rooms.insert(e.node); },
                   [&](const PodReported&) {},
                   [&](const ReasonsNoted&) {},
                   [&](const JobsForgotten& e) { jobs.insert(e.jobs.begin(), e.jobs.end()); },
                   [&](const ClockJumped&) {},
                   [&](const JobReserved&) {},
                   [&](const auto& e) { jobs.insert(e.job); },
               },
               event);
  }
  void ending(JobId id, bool freed) {
    jobs.insert(id);
    const Job& job = *cluster_.job(id);
    if (job.active()) note_nodes(*job.run->placement, freed || (job.pod && terms_look()));
  }
  void note_nodes(const Placement& placement, bool room) {
    for (const NodeShare& share : placement.shares) {
      wanted.insert(share.node);
      if (room) rooms.insert(share.node);
    }
  }
  void note_step(const Step& step) {
    for (const StepShare& share : step.shares) wanted.insert(share.share.node);
  }
  // Terms of waiting pods may see another cluster: a room stands for who is in it too.
  [[nodiscard]] bool terms_look() const { return cluster_.selectors().size() > 0; }
  void note_stored(const DocumentStored& e) {
    note_document(e.job);
    const Document* known = cluster_.document(e.key);
    const Labels before = known != nullptr && known->labels ? *known->labels : Labels{};
    if (before == e.labels || !terms_look()) return;
    // Rare, and any pod in it may count elsewhere.
    if (e.key.kind == kSpaceKind && cluster_.selectors().by_space_labels()) configured = true;
    const Job* job = known == nullptr ? nullptr : cluster_.job(known->job);
    if (job == nullptr) return;
    jobs.insert(job->id);
    if (job->active()) note_nodes(*job->run->placement, true);
  }
  void note_document(JobId job) {  // with one, a job that is over isn't forgotten
    if (job) jobs.insert(job);
  }
  void note_array(JobId id) {
    const Job& job = *cluster_.job(id);
    const auto& members = cluster_.array_members(job.array);
    jobs.insert(members.begin(), members.end());
  }

  Cluster& cluster_;
  std::vector<Event> list_;
};

}  // namespace drover
