// A cluster as bytes and back. Only what can't be derived is written; the rest is rebuilt.
#include <algorithm>
#include <utility>

#include "base/proto.h"
#include "domain/cluster.h"

namespace drover {
namespace {

struct ReservationEntry {
  JobId job;
  Instant start;
  Symbol partition;
  Placement placement;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "start", self.start);
    visit(3, "partition", self.partition);
    visit(4, "placement", self.placement);
  }
};

struct KeyEntry {
  std::uint32_t uid = 0;
  std::string key;
  JobId job;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "uid", self.uid);
    visit(2, "key", self.key);
    visit(3, "job", self.job);
  }
};

struct StepsEntry {
  JobId job;
  std::uint32_t next = 0;
  ExitStatus highest;
  std::vector<Step> steps;
  std::vector<std::uint32_t> over;
  std::vector<StepKey> keys;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "next", self.next);
    visit(3, "highest", self.highest);
    visit(4, "steps", self.steps);
    visit(5, "over", self.over);
    visit(6, "keys", self.keys);
  }
};

struct FirstStepEntry {
  JobId job;
  StepWish wish;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "wish", self.wish);
  }
};

struct DocumentEntry {
  DocumentKey key;
  Document document;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "document", self.document);
  }
};

struct Snapshot {
  Config config;
  std::uint64_t next_job = 1;
  std::vector<std::string> symbols;
  std::vector<Request> shapes;
  std::vector<Node> nodes;
  std::vector<Job> jobs;
  std::vector<ReservationEntry> reservations;
  std::vector<KeyEntry> keys;
  std::vector<StepsEntry> steps;
  std::vector<FirstStepEntry> first_steps;
  std::uint64_t version = 0;
  std::vector<DocumentEntry> documents;
  std::vector<Tombstone> tombstones;
  std::uint64_t forgotten_tombstones = 0;
  std::uint64_t forgotten_jobs = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "config", self.config);
    visit(2, "next_job", self.next_job);
    visit(3, "symbols", self.symbols);
    visit(4, "shapes", self.shapes);
    visit(5, "nodes", self.nodes);
    visit(6, "jobs", self.jobs);
    visit(7, "reservations", self.reservations);
    visit(8, "keys", self.keys);
    visit(9, "steps", self.steps);
    visit(10, "first_steps", self.first_steps);
    visit(11, "version", self.version);
    visit(12, "documents", self.documents);
    visit(13, "tombstones", self.tombstones);
    visit(14, "forgotten_tombstones", self.forgotten_tombstones);
    visit(15, "forgotten_jobs", self.forgotten_jobs);
  }
};

}  // namespace

std::string Cluster::to_snapshot() const {
  Snapshot s;
  s.config = config_;
  s.next_job = next_job_;
  s.symbols = symbols_.texts();
  for (std::size_t i = 1; i <= shapes_.size(); ++i) s.shapes.push_back(shapes_.request(ShapeId(i)));
  s.nodes = nodes_;
  for (Node& node : s.nodes) {
    for (Device& device : node.devices) device.used = {};  // derived from the placements
  }
  jobs_.each([&](const Job& job) { s.jobs.push_back(job); });
  for (const auto& [job, r] : reservations_) {
    s.reservations.push_back({.job = job, .start = r.start, .partition = r.partition, .placement = r.placement});
  }
  for (const auto& [uid, window] : keys_) {
    for (const std::string& key : window.order) {
      s.keys.push_back({.uid = uid, .key = key, .job = window.jobs.at(key)});
    }
  }
  for (const auto& [job, of] : steps_) {
    StepsEntry entry{.job = job, .next = of.next, .highest = of.highest, .over = of.over, .keys = of.keys};
    for (const auto& [number, step] : of.steps) entry.steps.push_back(step);
    s.steps.push_back(std::move(entry));
  }
  for (const auto& [job, wish] : first_steps_) s.first_steps.push_back({.job = job, .wish = wish});
  s.version = version_;
  for (const auto& [key, document] : documents_) s.documents.push_back({.key = key, .document = document});
  s.tombstones.assign(tombstones_.begin(), tombstones_.end());
  s.forgotten_tombstones = forgotten_tombstones_;
  s.forgotten_jobs = forgotten_jobs_;
  return encode(s);
}

Result<Cluster> Cluster::from_snapshot(std::string_view bytes) {
  Snapshot s = TRY(decode<Snapshot>(bytes));
  Cluster cluster;
  cluster.config_ = std::move(s.config);
  cluster.next_job_ = s.next_job;
  for (const std::string& text : s.symbols) cluster.symbols_.intern(text);
  for (const Request& request : s.shapes) cluster.shapes_.intern(request);
  cluster.nodes_ = std::move(s.nodes);
  std::size_t devices = 0;
  for (const Node& node : cluster.nodes_) devices += node.devices.size();
  cluster.device_places_.resize(devices);
  for (const Node& node : cluster.nodes_) {
    cluster.node_names_.emplace(node.name(), node.id);
    for (std::uint32_t place = 0; place < node.devices.size(); ++place) {
      const Device& device = node.devices[place];
      if (device.id.value() == 0 || device.id.value() > devices) return Error{Errc::invalid, "snapshot: device id"};
      cluster.device_places_[device.id.value() - 1] = {node.id, place};
      DeviceId& newest = cluster.device_uuids_[device.info.uuid];
      newest = std::max(newest, device.id);
    }
  }
  for (Job& job : s.jobs) {
    const JobId id = job.id;
    job.run.trim();  // reading has set it, to nothing in a job that has only waited
    cluster.insert_job(std::move(job));
    const Job& held = cluster.jobs_.at(id);
    if (held.active()) cluster.hold_resources(held);
  }
  for (ReservationEntry& r : s.reservations) {
    cluster.reservations_[r.job] = {.start = r.start, .partition = r.partition, .placement = std::move(r.placement)};
  }
  for (StepsEntry& entry : s.steps) {
    JobSteps& of = cluster.steps_[entry.job];
    of = {.next = entry.next, .highest = entry.highest, .over = std::move(entry.over), .keys = std::move(entry.keys)};
    for (Step& step : entry.steps) of.steps.emplace(step.number, std::move(step));
  }
  for (FirstStepEntry& entry : s.first_steps) cluster.first_steps_.emplace(entry.job, std::move(entry.wish));
  cluster.version_ = s.version;
  for (DocumentEntry& entry : s.documents) {
    if (entry.document.job) cluster.documents_of_.emplace(entry.document.job, entry.key);
    cluster.documents_.emplace(std::move(entry.key), entry.document);
  }
  cluster.jobs_.each([&](const Job& job) {
    if (job.phase == Phase::ended) cluster.keep_pod(job);
  });
  cluster.tombstones_.assign(s.tombstones.begin(), s.tombstones.end());
  cluster.forgotten_tombstones_ = s.forgotten_tombstones;
  cluster.forgotten_jobs_ = s.forgotten_jobs;
  for (const KeyEntry& key : s.keys) cluster.remember_key(key.uid, key.key, key.job);
  return cluster;
}

}  // namespace drover
