#include "domain/cluster.h"

#include <algorithm>
#include <variant>

#include "base/check.h"
#include "base/proto.h"

namespace drover {

constexpr std::size_t kStepsOfEndedJob = 8;  // of those that are over, until the job is forgotten

// ---- look-ups ----

Symbol Symbols::intern(std::string_view text) {
  const auto found = index_.find(text);
  if (found != index_.end()) return Symbol(found->second);
  const auto number = static_cast<std::uint32_t>(texts_.size());
  index_.emplace(std::string(text), number);
  texts_.emplace_back(text);
  return Symbol(number);
}

ShapeId Shapes::intern(const Request& request) {
  const auto [place, fresh] = index_.try_emplace(encode(request), requests_.size() + 1);
  if (fresh) requests_.push_back(request);
  if (fresh && request.looks_around()) selectors_.add(ShapeId(place->second), request);
  return ShapeId(place->second);
}

const Node* Cluster::node(std::string_view name) const {
  const auto found = node_names_.find(name);
  return found == node_names_.end() ? nullptr : &node(found->second);
}

const Device& Cluster::device(DeviceId id) const {
  const auto [node_id, place] = device_places_.at(id.value() - 1);
  return node(node_id).devices.at(place);
}

Device& Cluster::device_at(DeviceId id) {
  const auto [node_id, place] = device_places_.at(id.value() - 1);
  return node_at(node_id).devices.at(place);
}

DeviceId Cluster::device_id(std::string_view uuid) const {
  const auto found = device_uuids_.find(uuid);
  return found == device_uuids_.end() ? DeviceId{} : found->second;
}

const Partition* Cluster::partition(std::string_view name) const {
  const auto found = std::ranges::find(config_.partitions, name, &Partition::name);
  return found == config_.partitions.end() ? nullptr : &*found;
}

const Partition* Cluster::default_partition() const {
  const auto found = std::ranges::find(config_.partitions, true, &Partition::is_default);
  return found == config_.partitions.end() ? nullptr : &*found;
}

namespace {
const std::set<JobId> kNoJobs;
}

const std::set<JobId>& Cluster::array_members(JobId array) const {
  const auto found = arrays_.find(array);
  return found == arrays_.end() ? kNoJobs : found->second;
}

const Job* Cluster::array_task(JobId array, std::uint32_t task) const {
  for (const JobId id : array_members(array)) {
    const Job& member = jobs_.at(id);
    if (member.pending ? member.pending->contains(task) : member.task == task) return &member;
  }
  return nullptr;
}

const std::set<JobId>& Cluster::dependents(JobId job) const {
  const auto found = dependents_.find(job);
  return found == dependents_.end() ? kNoJobs : found->second;
}

JobId Cluster::job_of_key(std::uint32_t uid, const std::string& key) const {
  const auto window = keys_.find(uid);
  if (window == keys_.end()) return JobId{};
  const auto found = window->second.jobs.find(key);
  return found == window->second.jobs.end() ? JobId{} : found->second;
}

// ---- the fold ----

void Cluster::apply(const Event& event) {
  std::visit([this](const auto& e) { on(e); }, event);
  note_change(event);
}

void Cluster::on(const Configured& e) { config_ = e.config; }

void Cluster::on(const NodeRegistered& e) {
  if (e.node.value() > nodes_.size()) {
    CHECK(e.node.value() == nodes_.size() + 1);
    nodes_.emplace_back().id = e.node;
    node_names_.emplace(e.inventory.name, e.node);
  }
  Node& node = node_at(e.node);
  node.inventory = e.inventory;
  node.inventory.devices.clear();
  node.contact = Contact::up;
  node.contact_since = e.at;
  node.registered = e.at;
  if (node.last_busy == Instant{}) node.last_busy = e.at;
  for (Device& device : node.devices) device.info.healthy = false;  // unless it is named again
  for (std::size_t i = 0; i < e.devices.size(); ++i) {
    const DeviceInfo& info = e.inventory.devices[i];
    if (e.devices[i].value() > device_places_.size()) {
      CHECK(e.devices[i].value() == device_places_.size() + 1);
      device_places_.emplace_back(e.node, static_cast<std::uint32_t>(node.devices.size()));
      device_uuids_.insert_or_assign(info.uuid, e.devices[i]);  // a card that has moved: its newest place
      node.devices.push_back({.id = e.devices[i], .info = info, .used = {}});
    } else {
      device_at(e.devices[i]).info = info;
    }
  }
  note_lost_nodes(node);
}

// A job is lost as long as any node that holds a part of it is.
void Cluster::note_lost_nodes(const Node& node_changed) {
  for (const JobId id : node_changed.jobs) {
    Job& job = jobs_.at(id);
    const bool lost = std::ranges::any_of(job.run->placement->shares, [&](const NodeShare& share) {
      return job.holds(share.node) && node(share.node).contact == Contact::lost;
    });
    if (lost != job.node_lost) changed(id);
    job.node_lost = lost;
  }
}

void Cluster::on(const NodeContactChanged& e) {
  Node& node = node_at(e.node);
  node.contact = e.contact;
  node.contact_since = e.at;
  note_lost_nodes(node);
}

void Cluster::on(const NodeDrainChanged& e) {
  node_at(e.node).drain = e.drain;
  if (!e.drain) node_at(e.node).launch_failures = 0;
}

void Cluster::insert_job(Job job) {
  if (job.array) arrays_[job.array].insert(job.id);
  if (job.dependency) {
    for (const DependencyTerm& term : job.dependency->terms) {
      if (term.job) dependents_[term.job].insert(job.id);
    }
  }
  if (job.phase == Phase::ended) ended_.emplace(job.run->ended, job.id);
  jobs_.insert(job.id, std::move(job));
}

void Cluster::on(const JobSubmitted& e) {
  const Submit& s = e.submit;
  Job job;
  job.id = e.job;
  job.uid = e.owner.uid;
  job.gid = e.owner.gid;
  job.name = s.name;
  job.user = symbols_.intern(e.owner.user);
  job.group = symbols_.intern(e.owner.group);
  job.account = symbols_.intern(s.account);
  job.qos = symbols_.intern(s.qos);
  job.partitions = symbols_.intern(s.partitions);
  job.partition = symbols_.intern(s.partitions.substr(0, s.partitions.find(',')));
  job.shape = shapes_.intern(s.request);
  job.spec = s.spec;
  job.submitted = e.at;
  job.begin = s.begin;
  job.limit = s.limit.value_or(Duration{0});
  job.min_limit = s.min_limit;
  job.deadline = s.deadline;
  job.priority = e.priority;
  job.priority_set = s.priority.has_value();
  job.nice = s.nice;
  job.requeue = s.requeue;
  job.allocation = s.allocation;
  job.pod = s.pod;
  if (s.first_step) first_steps_.emplace(e.job, *s.first_step);
  if (s.hold) {
    job.hold = Hold::user;
    job.reason = Reason::held_by_user;
  }
  if (s.array) {
    job.array = e.job;
    job.pending = std::make_shared<const ArrayPending>(*s.array);
    auto info = std::make_shared<ArrayPending>(*s.array);
    info->tasks.clear();
    job.array_info = std::move(info);
  }
  if (!s.dependency.terms.empty()) job.dependency = std::make_shared<const Dependency>(s.dependency);
  if (!e.key.empty()) remember_key(e.owner.uid, e.key, e.job);
  next_job_ = e.job.value() + 1;
  insert_job(std::move(job));
}

void Cluster::remember_key(std::uint32_t uid, const std::string& key, JobId job) {
  KeyWindow& window = keys_[uid];
  if (!window.jobs.emplace(key, job).second) return;
  window.order.push_back(key);
  while (window.order.size() > config_.settings.keys_per_client) {
    window.jobs.erase(window.order.front());
    window.order.pop_front();
  }
}

void Cluster::on(const ArrayTaskSplit& e) {
  Job& array = jobs_.at(e.array);
  CHECK(array.pending != nullptr);
  if (e.job == e.array) {
    CHECK(array.pending->count() == 1 && array.pending->contains(e.task));
    array.pending = nullptr;
    array.task = e.task;
    return;
  }
  auto left = std::make_shared<ArrayPending>(*array.pending);
  left->remove(e.task);
  Job task = array;
  array.pending = std::move(left);
  task.id = e.job;
  task.task = e.task;
  task.pending = nullptr;
  next_job_ = std::max(next_job_, e.job.value() + 1);
  insert_job(std::move(task));
}

void Cluster::on(const JobPlaced& e) {
  Job& job = jobs_.at(e.job);
  CHECK(job.phase == Phase::waiting && !job.pending);
  Run& run = job.run.edit();
  job.phase = Phase::placed;
  run.attempt = e.attempt;
  job.partition = symbols_.intern(e.partition);
  run.placement = std::make_shared<const Placement>(e.placement);
  job.limit = e.limit;
  run.started = e.at;
  run.ended = Instant{};
  job.reason = Reason::none;
  job.cause = Cause::none;
  run.exit = {};
  run.note = nullptr;
  run.closing = nullptr;
  run.pod = nullptr;
  reservations_.erase(e.job);
  steps_.erase(e.job);  // those of an earlier attempt
  hold_resources(job);
}

void Cluster::on(const JobReserved& e) {
  if (e.placement.shares.empty()) {
    reservations_.erase(e.job);
  } else {
    reservations_[e.job] = {.start = e.start, .partition = symbols_.intern(e.partition), .placement = e.placement};
  }
}

void Cluster::on(const JobStarted& e) {
  Job& job = jobs_.at(e.job);
  CHECK(job.run->attempt == e.attempt);
  if (job.phase == Phase::placed) job.phase = Phase::running;
  Run& run = job.run.edit();
  run.launch_failures = 0;
  run.avoid = nullptr;
  for (const NodeShare& share : run.placement->shares) node_at(share.node).launch_failures = 0;
}

void Cluster::on(const JobEnding& e) {
  Job& job = jobs_.at(e.job);
  CHECK(job.active());
  job.phase = Phase::ending;
  job.cause = e.cause;
  if (e.cause == Cause::cancelled) job.run.edit().cancelled_by = e.by;
  job.hold = e.then_hold;
  job.run.edit().exit = e.exit;
}

void Cluster::on(const JobEnded& e) {
  Job& job = jobs_.at(e.job);
  CHECK(job.phase != Phase::ended);
  if (job.active()) free_resources(job, e.at);
  Run& run = job.run.edit();
  job.phase = Phase::ended;
  job.cause = e.cause;
  run.exit = e.exit;
  run.ended = e.at;
  job.reason = Reason::none;
  job.node_lost = false;
  run.closing = nullptr;
  if (e.cause == Cause::cancelled) run.cancelled_by = e.by;
  run.note = e.note.empty() ? nullptr : std::make_shared<const std::string>(e.note);
  if (e.attempt == 0) run.placement = nullptr;
  reservations_.erase(e.job);
  first_steps_.erase(e.job);
  forget_steps(e.job, kStepsOfEndedJob);
  set_dependency(job, {});
  ended_.emplace(run.ended, job.id);
  keep_pod(job);
}

void Cluster::on(const JobRequeued& e) {
  Job& job = jobs_.at(e.job);
  CHECK(job.phase == Phase::ended);
  ended_.erase({job.run->ended, job.id});
  let_pod_go(job);  // its node gives it up
  job.phase = Phase::waiting;
  job.cause = Cause::none;
  job.begin = e.begin;
  job.hold = e.hold;
  job.eligible = Instant{};
  Run& run = job.run.edit();
  run.placement = nullptr;
  run.exit = {};
  job.reason = e.hold == Hold::none ? Reason::begin_time : Reason::requeued_held;
  if (!e.launch_failed) {
    ++run.restarts;
    return;
  }
  ++run.launch_failures;
  if (e.hold != Hold::none) job.reason = Reason::launch_failed_held;
  if (e.avoid) {
    ++node_at(e.avoid).launch_failures;
    auto avoid = run.avoid ? *run.avoid : std::vector<NodeId>{};
    avoid.insert(std::ranges::upper_bound(avoid, e.avoid), e.avoid);
    run.avoid = std::make_shared<const std::vector<NodeId>>(std::move(avoid));
  }
}

void Cluster::on(const JobHoldChanged& e) {
  Job& job = jobs_.at(e.job);
  job.hold = e.hold;
  job.priority = e.priority;
  if (e.hold == Hold::none) {
    if (job.run->launch_failures > 0 || job.run->avoid) {
      Run& run = job.run.edit();
      run.launch_failures = 0;
      run.avoid = nullptr;
    }
  }
  job.reason = e.hold == Hold::admin  ? Reason::held_by_admin
               : e.hold == Hold::user ? Reason::held_by_user
                                      : Reason::none;
}

void Cluster::on(const JobModified& e) {
  Job& job = jobs_.at(e.job);
  if (e.name) job.name = *e.name;
  if (e.partitions) {
    job.partitions = symbols_.intern(*e.partitions);
    job.partition = symbols_.intern(e.partitions->substr(0, e.partitions->find(',')));
  }
  if (e.account) job.account = symbols_.intern(*e.account);
  if (e.qos) job.qos = symbols_.intern(*e.qos);
  if (e.limit) job.limit = *e.limit;
  if (e.min_limit) job.min_limit = *e.min_limit;
  if (e.begin) {
    job.begin = *e.begin;
    if (job.phase == Phase::waiting) job.eligible = Instant{};
  }
  if (e.deadline) job.deadline = *e.deadline;
  if (e.priority) job.priority = *e.priority;
  job.priority_set = job.priority_set || e.priority_set;
  if (e.nice) job.nice = *e.nice;
  if (e.requeue) job.requeue = *e.requeue;
  if (e.request) job.shape = shapes_.intern(*e.request);
  if (e.throttle && job.array) set_throttle(job.array, *e.throttle);
}

void Cluster::set_throttle(JobId array, std::uint32_t throttle) {
  for (const JobId id : array_members(array)) {
    Job& member = jobs_.at(id);
    for (auto* part : {&member.pending, &member.array_info}) {
      if (!*part) continue;
      auto changed = std::make_shared<ArrayPending>(**part);
      changed->throttle = throttle;
      *part = std::move(changed);
    }
  }
}

void Cluster::on(const ShareEnded& e) {
  Job& job = jobs_.at(e.job);
  CHECK(job.active() && job.run->attempt == e.attempt);
  auto closing = job.run->closing ? std::make_shared<Closing>(*job.run->closing) : std::make_shared<Closing>();
  if (closing->cause == Cause::none) {
    closing->cause = e.cause;
    closing->exit = e.exit;
    closing->note = e.note;
    closing->at = e.at;
  }
  closing->usage.user_cpu += e.usage.user_cpu;
  closing->usage.system_cpu += e.usage.system_cpu;
  closing->usage.peak_memory = std::max(closing->usage.peak_memory, e.usage.peak_memory);
  if (e.released) {
    for (const NodeShare& share : job.run->placement->shares) {
      if (share.node == e.node && job.holds(e.node)) free_share(job, share, e.at);
    }
    closing->released.push_back(e.node);
  }
  job.run.edit().closing = std::move(closing);
}

void Cluster::set_dependency(Job& job, const Dependency& dependency) {
  if (job.dependency) {
    for (const DependencyTerm& term : job.dependency->terms) {
      const auto found = dependents_.find(term.job);
      if (found == dependents_.end()) continue;
      found->second.erase(job.id);
      if (found->second.empty()) dependents_.erase(found);
    }
  }
  job.dependency = dependency.terms.empty() ? nullptr : std::make_shared<const Dependency>(dependency);
  for (const DependencyTerm& term : dependency.terms) {
    if (term.job) dependents_[term.job].insert(job.id);
  }
}

void Cluster::on(const DependencyChanged& e) {
  Job& job = jobs_.at(e.job);
  set_dependency(job, e.left);
  if (job.dependency) job.eligible = Instant{};
}

void Cluster::on(const JobEligible& e) { jobs_.at(e.job).eligible = e.at; }

void Cluster::on(const ReasonsNoted& e) {
  for (const JobReason& note : e.reasons) {
    jobs_.at(note.job).reason = note.reason;
    changed(note.job);
  }
}

void Cluster::on(const JobsForgotten& e) {
  for (const JobId id : e.jobs) {
    const Job& job = jobs_.at(id);
    CHECK(job.phase == Phase::ended);
    ended_.erase({job.run->ended, id});
    const auto array = arrays_.find(job.array);
    if (array != arrays_.end()) {
      array->second.erase(id);
      if (array->second.empty()) arrays_.erase(array);
    }
    steps_.erase(id);
    jobs_.erase(id);
  }
}

void Cluster::on(const ClockJumped&) {}

void Cluster::on(const PartitionChanged& e) {
  const auto found = std::ranges::find(config_.partitions, e.name, &Partition::name);
  CHECK(found != config_.partitions.end());
  found->up = e.up;
}

}  // namespace drover
