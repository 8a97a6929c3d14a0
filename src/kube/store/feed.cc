#include "kube/store/feed.h"

#include <algorithm>

#include "base/overload.h"
#include "kube/json/parse.h"
#include "kube/object/node/node_object.h"
#include "kube/object/pod/slurm_pod.h"
#include "kube/object/pod/status.h"
#include "kube/object/pod/unschedulable.h"
#include "kube/object/uid.h"

namespace drover::kube {

namespace {
constexpr std::uint64_t kTurns = 20;  // of the tick, in which every node has its turn: about ten seconds
}

Feed::Feed(api::Service& service, Store& store, std::function<void(const Notice&)> notify,
           std::function<void(const std::vector<std::string>&)> heard)
    : service_(service), store_(store), notify_(std::move(notify)), heard_(std::move(heard)) {}

void Feed::begin() {
  cluster_id_ = service_.overview().cluster_id;
  service_.observe(*this, [this](const Cluster& cluster, Instant now) { restore(cluster, now); });
  live_ = true;
}

Value Feed::body_of(const PayloadHash& hash) const {
  const auto bytes = service_.payload(hash);
  if (!bytes) return Object{};
  auto parsed = parse(*bytes);
  return parsed && parsed->is_object() ? std::move(*parsed) : Value(Object{});
}

EntryPtr Feed::document_entry(const Cluster& cluster, const DocumentKey& key, const Document& document) {
  Value body = body_of(document.body);
  std::uint64_t version = document.version;
  if (key.kind == "pods") {
    const Job* job = cluster.job(document.job);
    if (job != nullptr) {
      version = std::max(version, job->version);
      const bool waits = job->phase == Phase::waiting && job->reason != Reason::none;
      render_pod(body, cluster, *job,
                 {.waits = waits ? waits_for(cluster, *job) : "", .waits_since = job->submitted});
    } else {
      render_pod_without_job(body, "NotFound", "nothing is known of its run any more");
    }
  }
  return make_entry({.space = key.space, .name = key.name}, version, document.made, std::move(body),
                    document.version);
}

EntryPtr Feed::slurm_entry(const Cluster& cluster, const Job& job) const {
  SlurmPodView view{.cluster = cluster_id_};
  // Its reason in a word: looking at every node for each of a hundred thousand jobs would hold up everybody.
  if (job.phase == Phase::waiting && job.reason != Reason::none) {
    view.pod = {.waits = std::string(word(job.reason)), .waits_since = job.submitted};
  }
  Value pod = pod_of_slurm_job(cluster, job, view);
  ObjectName name{.space = view.space, .name = slurm_pod_name(job)};
  return make_entry(std::move(name), job.version, job.version, std::move(pod));
}

// What is left to say of a job that nobody here has looked at, to who saw it before the start.
EntryPtr Feed::last_of(JobId id, const std::string& name, std::uint64_t version) const {
  Value pod = Object{{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata", Object{{"name", name},
                                         {"namespace", kSlurmSpace},
                                         {"uid", stable_uid(cluster_id_, "job/" + std::to_string(id.value()))}}}};
  return make_entry({.space = std::string(kSlurmSpace), .name = name}, version, version, std::move(pod));
}

EntryPtr Feed::node_entry(const Node& node, Instant now) const {
  const NodeView view{.cluster = cluster_id_, .heard = node.contact == Contact::up ? now : node.contact_since};
  return make_entry({.space = "", .name = node.name()}, node.version, node.version, node_object(node, view));
}

// Pods of one shape in the same partitions are refused alike, as long as nothing changes.
std::string Feed::waits_for(const Cluster& cluster, const Job& job) {
  if (job.run->avoid) return obstacles_of(cluster, job);
  const auto [place, fresh] = waits_.try_emplace({job.shape, job.partitions});
  if (fresh) place->second = obstacles_of(cluster, job);
  return place->second;
}

std::string Feed::obstacles_of(const Cluster& cluster, const Job& job) const {
  const api::Waits waits = service_.why_waiting(cluster, job.id);
  std::vector<NodesRefusal> refusals;
  for (const api::Obstacle& obstacle : waits.obstacles) {
    refusals.push_back({.refusal = obstacle.refusal, .nodes = obstacle.nodes});
  }
  return unschedulable_message(waits.nodes, refusals);
}

void Feed::restore(const Cluster& cluster, Instant now) {
  restore_tombstones(cluster);
  for (const auto& [key, document] : cluster.documents()) {
    store_.restore(key.kind, document_entry(cluster, key, document));
  }
  base_ = cluster.version();
  cluster.jobs().each([&](const Job& job) {
    if (!job.pod) stale_.emplace(job.id, slurm_pod_name(job));
  });
  for (const Node& node : cluster.nodes()) store_.restore("nodes", node_entry(node, now));
  store_.forget_before("pods", cluster.forgotten_jobs());
  store_.reached(std::max<std::uint64_t>(1, cluster.version()));
}

void Feed::restore_tombstones(const Cluster& cluster) {
  for (const Tombstone& tombstone : cluster.tombstones()) {
    Value body = body_of(tombstone.body);
    store_.restore_removed(tombstone.key.kind,
                           std::make_shared<const Change>(
                               Change{.version = tombstone.version,
                                      .kind = ChangeKind::removed,
                                      .now = make_entry({.space = tombstone.key.space, .name = tombstone.key.name},
                                                        tombstone.version, tombstone.version, body),
                                      .before = nullptr}));
    store_.forget_before(tombstone.key.kind, cluster.forgotten_tombstones());
  }
}

Feed::Touched Feed::touched_by(const Cluster& cluster, const std::vector<Event>& facts) {
  Touched touched;
  const auto node_and_its_jobs = [&](NodeId id) {
    touched.nodes.insert(id);
    const auto& jobs = cluster.node(id).jobs;
    touched.jobs.insert(jobs.begin(), jobs.end());
  };
  for (const Event& fact : facts) {
    std::visit(Overload{
                   [&](const DocumentStored& e) { touched.documents.insert(e.key); },
                   [&](const DocumentRemoved& e) { touched.documents.insert(e.key); },
                   [&](const NodeRegistered& e) { node_and_its_jobs(e.node); },
                   [&](const NodeContactChanged& e) { node_and_its_jobs(e.node); },
                   [&](const NodeDrainChanged& e) { touched.nodes.insert(e.node); },
                   [&](const NodeMarked& e) { touched.nodes.insert(e.node); },
                   [&](const ReasonsNoted& e) {
                     for (const JobReason& note : e.reasons) touched.jobs.insert(note.job);
                   },
                   [&](const JobsForgotten& e) { touched.forgotten.insert(e.jobs.begin(), e.jobs.end()); },
                   [&](const ArrayTaskSplit& e) {
                     touched.jobs.insert({e.array, e.job});
                   },
                   [](const StepPlaced&) {},
                   [](const StepEnding&) {},
                   [](const StepShareEnded&) {},
                   [](const StepEnded&) {},
                   [](const Configured&) {},
                   [](const PartitionChanged&) {},
                   [](const ClockJumped&) {},
                   [](const JobReserved&) {},
                   [&](const auto& e) { touched.jobs.insert(e.job); },
               },
               fact);
  }
  return touched;
}

void Feed::changed(const Cluster& cluster, Instant now, const std::vector<Event>& facts) {
  render(cluster, now, facts);
  if (!live_) return;  // who followed a pod before the start has its events already
  for (const Event& fact : facts) tell_about_pod(cluster, fact);
}

void Feed::render(const Cluster& cluster, Instant now, const std::vector<Event>& facts) {
  const std::lock_guard lock(mutex_);
  waits_.clear();
  Touched touched = touched_by(cluster, facts);
  for (const JobId id : touched.jobs) {
    const Job* job = cluster.job(id);
    if (const DocumentKey* key = cluster.document_of(id)) touched.documents.insert(*key);
    if (job != nullptr && !job->pod) stale_.insert_or_assign(id, slurm_pod_name(*job));
  }
  std::vector<Step> steps;
  // A table's changes are in the order of their versions, so theirs come first.
  const bool pods = !touched.forgotten.empty() ||
                    std::ranges::any_of(touched.documents, [](const DocumentKey& key) { return key.kind == "pods"; });
  if (followers_ > 0 || pods) add_stale(cluster, cluster.version(), steps);
  for (const DocumentKey& key : touched.documents) {
    Step step{.resource = key.kind, .name = {.space = key.space, .name = key.name}};
    if (const Document* document = cluster.document(key)) {
      step.entry = document_entry(cluster, key, *document);
      step.version = step.entry->version;
    } else {
      const auto& graves = cluster.tombstones();
      const auto last =
          std::find_if(graves.rbegin(), graves.rend(), [&](const Tombstone& t) { return t.key == key; });
      step.version = last == graves.rend() ? cluster.version() : last->version;
    }
    steps.push_back(std::move(step));
  }
  for (const NodeId id : touched.nodes) {
    EntryPtr entry = node_entry(cluster.node(id), now);
    steps.push_back({.version = entry->version, .resource = "nodes", .name = entry->name, .entry = entry});
  }
  std::uint64_t version = cluster.forgotten_jobs() - touched.forgotten.size();
  for (const JobId id : touched.forgotten) {
    ++version;
    const auto unseen = stale_.find(id);
    const auto found = slurm_pods_.find(id);
    if (found != slurm_pods_.end()) {
      steps.push_back({.version = version, .resource = "pods", .name = found->second, .entry = nullptr});
      slurm_pods_.erase(found);
    } else if (unseen != stale_.end()) {
      steps.push_back({.version = version, .resource = "pods", .entry = last_of(id, unseen->second, version)});
      steps.back().unseen = true;
    }
    if (unseen != stale_.end()) stale_.erase(unseen);
  }
  put(std::move(steps));
  store_.reached(cluster.version());
}

// What was there at the beginning is restored, what has come since is put in its place. Jobs that have changed after
// `until` wait for the call that tells of it.
void Feed::add_stale(const Cluster& cluster, std::uint64_t until, std::vector<Step>& steps) {
  for (auto at = stale_.begin(); at != stale_.end();) {
    const JobId id = at->first;
    const Job* job = cluster.job(id);
    if (job != nullptr && job->version > until) {
      ++at;
      continue;
    }
    if (job != nullptr) {
      EntryPtr entry = slurm_entry(cluster, *job);
      ObjectName& known = slurm_pods_[id];
      if (known.name.empty() && entry->version <= base_) {
        known = entry->name;
        store_.restore("pods", std::move(entry));
      } else {
        // The last task of an array goes on under the array's id, and has a name of its own from then on.
        if (!known.name.empty() && known != entry->name) {
          steps.push_back({.version = entry->version - 1, .resource = "pods", .name = known, .entry = nullptr});
        }
        known = entry->name;
        steps.push_back({.version = entry->version, .resource = "pods", .name = entry->name, .entry = entry});
      }
    }
    at = stale_.erase(at);
  }
}

void Feed::put(std::vector<Step> steps) {
  std::ranges::stable_sort(steps, {}, &Step::version);
  for (Step& step : steps) {
    if (step.unseen)
      store_.remove_unseen(step.resource, std::move(step.entry));
    else if (step.entry)
      store_.put(step.resource, std::move(step.entry));
    else
      store_.remove(step.resource, step.name, step.version);
  }
}

void Feed::refresh() {
  service_.read([&](const Cluster& cluster, Instant) {
    const std::lock_guard lock(mutex_);
    std::vector<Step> steps;
    add_stale(cluster, store_.version("pods"), steps);
    put(std::move(steps));
  });
}

void Feed::tick(const Cluster& cluster, Instant) {
  turn_ = (turn_ + 1) % kTurns;
  std::vector<std::string> nodes;
  for (const Node& node : cluster.nodes()) {
    if (node.contact == Contact::up && node.id.value() % kTurns == turn_) nodes.push_back(node.name());
  }
  heard_(nodes);
}

void Feed::tell(const Cluster& cluster, JobId job, std::string reason, std::string message, bool warning) {
  const DocumentKey* key = cluster.document_of(job);
  if (key == nullptr) return;
  EntryPtr pod = store_.get("pods", {.space = key->space, .name = key->name});
  if (!pod) return;
  notify_({.resource = "pods",
           .about = std::move(pod),
           .reason = std::move(reason),
           .message = std::move(message),
           .component = "drover-scheduler",
           .warning = warning});
}

void Feed::tell_about_pod(const Cluster& cluster, const Event& fact) {
  if (const auto* placed = std::get_if<JobPlaced>(&fact)) {
    told_.erase(placed->job);
    const DocumentKey* key = cluster.document_of(placed->job);
    if (key == nullptr) return;
    tell(cluster, placed->job, "Scheduled",
         "Successfully assigned " + key->space + "/" + key->name + " to " +
             cluster.node(placed->placement.shares.front().node).name(),
         false);
  } else if (const auto* noted = std::get_if<ReasonsNoted>(&fact)) {
    for (const JobReason& note : noted->reasons) {
      const Job* job = cluster.job(note.job);
      if (job == nullptr || !job->pod || job->phase != Phase::waiting || job->reason == Reason::none) continue;
      std::string message = waits_for(cluster, *job);
      if (told_[note.job] == message) continue;
      told_[note.job] = message;
      tell(cluster, note.job, "FailedScheduling", std::move(message), true);
    }
  } else if (const auto* ended = std::get_if<JobEnded>(&fact)) {
    told_.erase(ended->job);
  }
}

void Feed::noted(const Cluster& cluster, JobId id, const std::vector<PodNote>& notes) {
  const DocumentKey* key = cluster.document_of(id);
  const Job* job = cluster.job(id);
  if (key == nullptr || job == nullptr || !job->run->placement) return;
  const EntryPtr pod = store_.get("pods", {.space = key->space, .name = key->name});
  if (!pod) return;
  const std::string& host = cluster.node(job->run->placement->shares.front().node).name();
  for (const PodNote& note : notes) {
    notify_({.resource = "pods",
             .about = pod,
             .reason = note.reason,
             .message = note.message,
             .component = "drover-agent",
             .host = host,
             .container = note.container,
             .warning = note.warning});
  }
}

}  // namespace drover::kube
