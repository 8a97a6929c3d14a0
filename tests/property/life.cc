#include "life.h"

namespace drover::property {

NodeInventory Life::inventory(std::uint32_t number, std::uint32_t boot) {
  NodeInventory n;
  n.name = "n" + std::to_string(number);
  n.boot_id = "boot" + std::to_string(boot);
  n.cpus = number % 3 == 0 ? 4 : 8;
  n.sockets = 2;
  n.cores_per_socket = n.cpus / 2;
  n.memory = gibibytes(16 * (1 + number % 2));
  n.features = {number % 2 == 0 ? "even" : "odd"};
  if (number != 3) n.labels = {{"a", number % 2 == 0 ? "0" : "1"}};
  for (std::uint32_t g = 0; g < number % 3 * 2; ++g) {
    DeviceInfo d{.uuid = n.name + "-" + std::to_string(g), .model = number % 2 == 0 ? "a100" : "t4", .index = g};
    d.memory = gibibytes(number % 2 == 0 ? 80 : 16);
    d.capability = 80;
    d.numa = static_cast<std::int32_t>(g / 2);
    d.links = {g ^ 1U};
    d.healthy = boot == 0 || !chance_.chance(1, 8);
    n.devices.push_back(d);
  }
  return n;
}

std::vector<Input> Life::opening() {
  Config config;
  config.settings.min_job_age = seconds(120);
  config.settings.launch_failures = 2;
  config.partitions = {{.name = "main", .is_default = true},
                       {.name = "few", .nodes = {"n1", "n2"}, .max_time = minutes(30), .tier = 2}};
  std::vector<Input> inputs{Configure{.config = config}};
  const std::uint32_t count = 2 + up_to(4);
  boots_.assign(count + 1, 0);
  for (std::uint32_t i = 1; i <= count; ++i) inputs.emplace_back(NodeRegister{.inventory = inventory(i, 0)});
  return inputs;
}

Input Life::next(const Cluster& cluster, bool pass_due) {
  disturbing_ = false;
  if (pass_due && chance_.chance(2, 3)) return Pass{.budget = 1 + up_to(20)};
  const std::uint32_t dice = up_to(99);
  if (dice < 10) {
    disturbing_ = true;
    return about_document(cluster);
  }
  if (dice < 28) return wish(cluster);
  if (dice < 40) return about_step(cluster);
  if (dice < 75) return report(cluster);
  if (dice < 80) return about_node(cluster);
  if (dice < 88) return Pass{.budget = 1 + up_to(20)};
  if (dice < 89) return ClockJump{.by = seconds(up_to(1000))};
  now_ += seconds(up_to(90));
  return Timer{};
}

const Job* Life::some_job(const Cluster& cluster) {
  if (cluster.jobs().empty()) return nullptr;
  const Job* job = cluster.jobs().first_from(JobId(1 + chance_.below(cluster.next_job().value())));
  return job != nullptr ? job : cluster.jobs().first_from(JobId(1));
}

Submit Life::submit(const Cluster& cluster) {
  Submit s{.name = "job" + std::to_string(up_to(2))};
  Request& r = s.request;
  r.min_nodes = chance_.chance(1, 4) ? 1 + up_to(3) : 1;
  if (chance_.chance(1, 2)) r.max_nodes = r.min_nodes + up_to(1);
  if (chance_.chance(1, 4)) r.tasks = 1 + up_to(9);
  if (chance_.chance(1, 6)) r.tasks_per_node = 1 + up_to(2);
  r.cpus_per_task = 1 + up_to(3);
  if (chance_.chance(1, 3)) r.gpus_per_node = {{.model = chance_.chance(1, 2) ? "a100" : "", .count = 1 + up_to(2)}};
  else if (chance_.chance(1, 6)) r.gpus_per_job = {{.model = "", .count = 1 + up_to(5)}};
  else if (chance_.chance(1, 6)) r.gpus_per_task = {{.model = "", .count = 1}};
  if (!r.gpus_per_node.empty() && chance_.chance(1, 3)) r.gpu_condition = "gpu_memory>=40GB";
  if (chance_.chance(1, 4)) r.memory_rule = MemoryRule::per_cpu, r.memory = gibibytes(1 + up_to(3));
  else if (chance_.chance(1, 8)) r.memory_rule = MemoryRule::whole_node;
  if (chance_.chance(1, 8)) r.features = chance_.chance(1, 2) ? "even" : "[even|odd]";
  r.exclusive = chance_.chance(1, 8);
  r.contiguous = chance_.chance(1, 12);
  if (chance_.chance(1, 8)) s.partitions = chance_.chance(1, 2) ? "few" : "few,main";
  if (chance_.chance(3, 4)) s.limit = minutes(1 + up_to(40));
  if (s.limit && chance_.chance(1, 6)) s.min_limit = minutes(1);
  s.hold = chance_.chance(1, 12);
  s.requeue = chance_.chance(2, 3);
  if (chance_.chance(1, 8)) s.begin = now_ + seconds(up_to(200));
  if (chance_.chance(1, 12)) s.deadline = now_ + minutes(60);
  if (chance_.chance(1, 6)) {
    s.array = ArrayPending{.tasks = {{.first = up_to(2), .last = 2 + up_to(5), .step = 1 + up_to(1)}}};
    s.array->throttle = up_to(3);
  }
  if (!s.array && chance_.chance(1, 5)) {
    s.allocation = true;
    if (chance_.chance(2, 3)) s.first_step = StepWish{.request = step_request()};
  }
  const Job* other = some_job(cluster);
  if (other != nullptr && chance_.chance(1, 5)) {
    const auto kind = static_cast<DependencyKind>(up_to(5));
    DependencyTerm term{.kind = kind};
    if (kind != DependencyKind::singleton) term.job = other->id;
    if (kind == DependencyKind::after) term.delay = seconds(up_to(60));
    s.dependency.terms.push_back(term);
    s.dependency.cancel_if_never = chance_.chance(1, 3);
  }
  return s;
}

StepRequest Life::step_request() {
  StepRequest r;
  if (chance_.chance(1, 3)) r.min_nodes = 1 + up_to(2);
  if (r.min_nodes > 0 && chance_.chance(1, 2)) r.max_nodes = r.min_nodes + up_to(1);
  if (chance_.chance(1, 2)) r.tasks = 1 + up_to(6);
  if (chance_.chance(1, 6)) r.tasks_per_node = 1 + up_to(2);
  if (chance_.chance(1, 3)) r.cpus_per_task = 1 + up_to(2);
  if (chance_.chance(1, 5)) r.memory_rule = MemoryRule::per_node, r.memory = gibibytes(up_to(4));
  else if (chance_.chance(1, 8)) r.memory_rule = MemoryRule::per_cpu, r.memory = mebibytes(500);
  if (chance_.chance(1, 5)) r.gpus_per_task = {{.model = "", .count = 1}};
  else if (chance_.chance(1, 5)) r.gpus = {{.model = "", .count = 1 + up_to(3)}};
  else r.no_gpus = chance_.chance(1, 3);
  r.exact = chance_.chance(1, 2);
  r.overlap = chance_.chance(1, 6);
  r.overcommit = chance_.chance(1, 8);
  r.distribution = static_cast<Distribution>(up_to(2));
  r.plane = 1 + up_to(2);
  return r;
}

// A step is made, ended, or reported over; an allocation's client is done.
Input Life::about_step(const Cluster& cluster) {
  std::vector<const Job*> running;
  cluster.jobs().each([&](const Job& job) {
    if (job.phase == Phase::running || (job.active() && cluster.steps(job.id).next > 0)) running.push_back(&job);
  });
  if (running.empty()) return wish(cluster);
  const Job& job = *running[chance_.below(running.size())];
  const JobSteps& of = cluster.steps(job.id);
  Asked asked{.caller = {.uid = job.uid, .gid = job.uid, .user = "x"}};
  if (of.next == 0 || chance_.chance(1, 2)) {
    asked.command = CreateStep{.job = job.id, .step = {.name = "s", .request = step_request()}};
    asked.key = "step" + std::to_string(chance_.chance(1, 8) ? up_to(keys_) : ++keys_);
    return asked;
  }
  const std::uint32_t number = up_to(of.next - 1);
  const std::uint32_t dice = up_to(11);
  if (dice == 0) asked.command = EndStep{.job = job.id, .step = number};
  else if (dice == 1) asked.command = SignalStep{.job = job.id, .step = number, .signal = 10};
  else if (dice == 2) asked.command = EndAllocation{.job = job.id, .exit = {.code = static_cast<std::int32_t>(up_to(1))}};
  if (dice <= 2) {
    disturbing_ = dice == 2;
    return asked;
  }
  const auto& shares = job.run->placement->shares;
  return ReportStepEnded{.node = shares[chance_.below(shares.size())].node,
                         .job = job.id,
                         .attempt = job.run->attempt,
                         .step = number,
                         .cause = chance_.chance(1, 3) ? Cause::failed : Cause::completed,
                         .exit = {.code = static_cast<std::int32_t>(up_to(2))},
                         .leftover = chance_.chance(1, 25)};
}

Input Life::wish(const Cluster& cluster) {
  if (cluster.jobs().empty() || chance_.chance(2, 3)) {
    const bool root = chance_.chance(1, 12);
    Submit s = submit(cluster);
    if (root && chance_.chance(1, 2)) s.priority = 2000;
    disturbing_ = root || !s.partitions.empty();
    const std::uint32_t uid = root ? 0 : 1000 + up_to(1);
    const bool retry = keys_ > 0 && chance_.chance(1, 10);
    return Asked{.caller = {.uid = uid, .gid = uid, .user = "u" + std::to_string(uid)},
                 .key = "k" + std::to_string(retry ? up_to(keys_) : ++keys_), .command = s};
  }
  disturbing_ = true;
  return chance_.chance(1, 3) ? about_document(cluster) : about_job(cluster);
}

PodSelector Life::selector() {
  PodSelector pods;
  if (chance_.chance(4, 5)) {
    pods.labels = {{.key = "app", .op = chance_.chance(5, 6) ? LabelOp::in : LabelOp::not_in,
                    .values = {chance_.chance(1, 2) ? "x" : "y"}}};
  }
  pods.spaces = {chance_.chance(4, 5) ? "ns" : "other"};
  pods.by_space_labels = chance_.chance(1, 5);
  if (pods.by_space_labels) pods.space_labels = {{.key = "app", .values = {"x"}}};
  return pods;
}

void Life::add_terms(Request& request) {
  const auto key = [this] { return chance_.chance(1, 2) ? std::string("a") : std::string("kubernetes.io/hostname"); };
  for (auto* terms : {&request.near, &request.apart}) {
    while (chance_.chance(1, 4)) terms->push_back({.key = key(), .pods = selector()});
  }
  while (chance_.chance(1, 4)) {
    request.spread.push_back({.key = key(), .pods = selector(), .max_skew = 1 + up_to(1), .min_domains = 1 + up_to(2),
                              .all_nodes = chance_.chance(1, 3), .usable_nodes = chance_.chance(1, 3)});
  }
}

// Config maps, namespaces and pods come, change and go; people write on nodes.
Input Life::about_document(const Cluster& cluster) {
  Asked asked{.caller = {.uid = chance_.chance(1, 10) ? 1000U : 0U, .user = "x"}};
  DocumentKey key{.kind = chance_.chance(3, 4) ? "pods" : "configmaps", .space = chance_.chance(2, 3) ? "ns" : "other",
                  .name = std::to_string(up_to(7))};
  if (key.kind != "pods" && chance_.chance(1, 3)) key = {.kind = "namespaces", .space = "", .name = key.space};
  Labels labels;
  if (chance_.chance(3, 4)) labels["app"] = chance_.chance(1, 2) ? "x" : "y";
  const Document* known = cluster.document(key);
  const auto expect = [&](std::uint64_t version) -> std::optional<std::uint64_t> {
    return chance_.chance(1, 2) ? std::optional(version - (chance_.chance(1, 8) ? 1 : 0)) : std::nullopt;
  };
  PayloadHash body;
  body.words[0] = 1 + up_to(200);
  if (chance_.chance(1, 6)) {
    MarkNode mark{.node = "n" + std::to_string(1 + up_to(3)), .marks = {.labels = {{"a", std::to_string(up_to(2))}}}};
    if (chance_.chance(1, 3)) mark.marks.taints = {{.key = "t", .effect = TaintEffect::no_schedule}};
    asked.command = mark;
  } else if (known == nullptr) {
    PutDocument put{.key = key, .body = body, .labels = labels};
    if (chance_.chance(1, 2)) put.expect = 0;
    if (key.kind == "pods") {
      put.job = Submit{.name = "pod", .pod = true};
      put.job->request.cpus_per_task = up_to(1);
      put.job->request.cpu_milli = chance_.chance(2, 3) ? 100 * up_to(24) : 0;
      put.job->request.memory_rule = MemoryRule::per_node;
      if (chance_.chance(1, 3)) put.job->request.labels = {{{{.key = "a", .op = LabelOp::in, .values = {"1"}}}}};
      if (chance_.chance(1, 4)) put.job->request.tolerations = {{.key = "t", .exists = true}};
      if (chance_.chance(2, 3)) add_terms(put.job->request);
      if (chance_.chance(1, 3)) put.job->request.min_nodes = 1 + up_to(2);
    }
    asked.command = put;
  } else if (chance_.chance(1, 2)) {
    asked.command = RemoveDocument{.key = key, .expect = expect(known->version)};
    if (known->job && chance_.chance(1, 2)) asked.command = Cancel{.jobs = {.jobs = {{.job = known->job}}}};
  } else {
    asked.command = PutDocument{.key = key, .body = body, .expect = expect(known->version), .labels = labels};
  }
  return asked;
}

Input Life::about_job(const Cluster& cluster) {
  const Job* job = some_job(cluster);
  JobSelector jobs{.jobs = {{.job = job->array && chance_.chance(1, 2) ? job->array : job->id}}};
  if (job->is_array() && chance_.chance(1, 2)) {
    jobs.jobs[0].tasks.push_back({.first = job->pending->first(), .last = job->pending->first()});
  }
  Asked asked{.caller = {.uid = chance_.chance(1, 3) ? 0 : job->uid, .user = "x"}};
  switch (up_to(5)) {
    case 0:
    case 1: asked.command = Cancel{.jobs = jobs}; break;
    case 2: asked.command = SetHold{.jobs = jobs, .hold = chance_.chance(1, 3)}; break;
    case 3: asked.command = Requeue{.jobs = jobs, .hold = chance_.chance(1, 4)}; break;
    case 4: asked.command = Signal{.jobs = jobs, .signal = 10}; break;
    default: {
      ModifyJob m{.jobs = jobs};
      if (chance_.chance(1, 2)) m.limit = minutes(1 + up_to(20));
      if (chance_.chance(1, 3)) m.throttle = up_to(3);
      if (chance_.chance(1, 3)) m.priority = up_to(3000);
      if (chance_.chance(1, 3)) m.begin = now_ + seconds(up_to(100));
      asked.command = m;
    }
  }
  return asked;
}

Input Life::about_node(const Cluster& cluster) {
  disturbing_ = true;
  const auto number = 1 + static_cast<std::uint32_t>(chance_.below(cluster.nodes().size()));
  const Node& node = cluster.node(NodeId(number));
  const Caller root{.uid = 0, .user = "root"};
  switch (up_to(4)) {
    case 0: return NodeSilent{.node = node.id};
    case 1: return Asked{.caller = root, .command = UpdateNode{.nodes = {node.name()}, .wish = NodeWish::resume}};
    case 2: {
      const NodeWish wish = node.contact == Contact::lost && chance_.chance(1, 2) ? NodeWish::confirm_dead : NodeWish::drain;
      return Asked{.caller = root, .command = UpdateNode{.nodes = {node.name()}, .wish = wish, .reason = "why not"}};
    }
    case 3: boots_[number] += 1; [[fallthrough]];
    default: {
      NodeRegister again{.inventory = inventory(number, boots_[number])};
      for (const JobId id : node.jobs) {
        if (chance_.chance(3, 4)) again.held.push_back({.job = id, .attempt = cluster.job(id)->run->attempt});
      }
      return again;
    }
  }
}

Input Life::report(const Cluster& cluster) {
  std::vector<const Job*> active;
  cluster.jobs().each([&](const Job& job) {
    if (job.active()) active.push_back(&job);
  });
  now_ += milliseconds(up_to(3000));
  if (active.empty()) return Timer{};
  const Job& job = *active[chance_.below(active.size())];
  const auto& shares = job.run->placement->shares;
  const NodeId node = shares[chance_.below(shares.size())].node;
  if (job.phase == Phase::placed && chance_.chance(3, 4)) {
    return ReportStarted{.node = node, .job = job.id, .attempt = job.run->attempt};
  }
  if (job.pod && chance_.chance(1, 2)) {
    ReportPod report{.node = node, .job = job.id, .attempt = job.run->attempt};
    report.status.containers = {{.name = "c", .ready = chance_.chance(1, 2), .restarts = up_to(3)}};
    return report;
  }
  ReportEnded ended{.node = node, .job = job.id, .attempt = job.run->attempt + (chance_.chance(1, 20) ? 1U : 0U)};
  static constexpr Cause kCauses[] = {Cause::completed,  Cause::completed,     Cause::failed,       Cause::cancelled,
                                      Cause::time_limit, Cause::out_of_memory, Cause::launch_failed, Cause::unknown};
  ended.cause = kCauses[up_to(7)];
  ended.exit.code = static_cast<std::int32_t>(up_to(3));
  ended.leftover = chance_.chance(1, 25);
  return ended;
}

}  // namespace drover::property
