#include "doors/fixture.h"

namespace drover::fixture {
namespace {

Instant at(std::int64_t offset) { return Instant(seconds(kStart + offset)); }

struct JobMaker {
  api::JobView job;
  JobMaker(std::uint64_t id, std::string name, std::int64_t priority) {
    job.id = JobId(id);
    job.name = std::move(name);
    job.user = job.group = "root";
    job.partitions = job.partition = "main";
    job.priority = priority;
    job.submitted = job.eligible = at(0);
    job.limit = std::chrono::hours(7 * 24);
    job.request.memory_rule = MemoryRule::per_cpu;
    job.request.memory = mebibytes(1000);
    job.cpu_count = job.node_count = job.task_count = 1;
    job.spec = JobSpec{.door = "slurm",
                       .work_dir = "/home/alice/jobs",
                       .stdin_path = "/dev/null",
                       .stdout_path = "/dev/null",
                       .submit_host = "login",
                       .session_id = 4242};
  }
  JobMaker& line(const std::string& words, const std::string& command = "") {
    job.spec->submit_line = "sbatch --parsable -o /dev/null " + words;
    job.spec->command = command;
    return *this;
  }
  JobMaker& limit(Duration limit) {
    job.limit = limit;
    return *this;
  }
  JobMaker& gpus(std::uint32_t count) {
    job.request.gpus_per_node = {{.model = "a100", .count = count}};
    return *this;
  }
  JobMaker& cpus(std::uint32_t count) {
    job.request.cpus_per_task = job.cpu_count = count;
    return *this;
  }
  JobMaker& memory(std::int64_t gib) {
    job.request.memory_rule = MemoryRule::per_node;
    job.request.memory = gibibytes(gib);
    return *this;
  }
  JobMaker& waits(Reason reason) {
    job.reason = reason;
    return *this;
  }
  JobMaker& runs_on(const std::string& node, std::int64_t since = 0) {
    job.phase = Phase::running;
    job.attempt = 1;
    job.started = at(since);
    job.nodes = {node};
    job.memory =
        job.request.memory_rule == MemoryRule::per_node ? job.request.memory : job.request.memory * job.cpu_count;
    for (const GpuAsk& ask : job.request.gpus_per_node) job.gpus.push_back(ask);
    return *this;
  }
  JobMaker& ended(Cause cause, std::int64_t when, ExitStatus exit = {}) {
    job.phase = Phase::ended;
    job.cause = cause;
    job.ended = at(when);
    job.exit = exit;
    return *this;
  }
};

}  // namespace

std::vector<api::JobView> queue_jobs() {
  using std::chrono::hours;
  std::vector<api::JobView> jobs;
  const auto add = [&jobs](const JobMaker& maker) { jobs.push_back(maker.job); };

  JobMaker train = JobMaker(1, "train-llama", 201).limit(hours(2)).gpus(4).cpus(8).memory(64).runs_on("n1");
  train.line("-D /home/alice/jobs --job-name=train-llama --gres=gpu:a100:4 -c 8 --mem=64G -t 2:00:00 j.sh",
             "/home/alice/jobs/j.sh");
  train.job.user = train.job.group = "alice";
  train.job.uid = train.job.gid = 2001;
  add(train);
  add(JobMaker(2, "fill", 254).limit(hours(24)).gpus(4).cpus(32).memory(100).runs_on("n1"));

  JobMaker wait = JobMaker(3, "wait-gpu", 185).limit(minutes(30)).gpus(2).waits(Reason::priority);
  wait.line("-J wait-gpu --gres=gpu:a100:2 -t 30 --wrap true");
  wait.job.expected_start = at(7200);
  wait.job.expected_nodes = {"n1"};
  add(wait);

  JobMaker sweep = JobMaker(4, "sweep", 1085).limit(minutes(10)).waits(Reason::array_limit);
  sweep.line("-J sweep --array=0-9%2 -n1 -t 10 -p debug --wrap sleep 200");
  sweep.job.partitions = sweep.job.partition = "debug";
  sweep.job.array = JobId(4);
  JobMaker task = sweep;
  sweep.job.pending =
      ArrayPending{.tasks = {{2, 9, 1}}, .throttle = 2, .total = 10, .min = 0, .max = 9, .text = "0-9%2"};
  add(sweep);

  JobMaker held = JobMaker(5, "held", 0).waits(Reason::held_by_user).line("-J held -H -n1 --wrap true");
  held.job.hold = Hold::user;
  held.job.eligible = {};
  add(held);
  JobMaker later = JobMaker(6, "later", 185).waits(Reason::begin_time);
  later.job.begin = at(7200);
  add(later);
  JobMaker dep = JobMaker(7, "dep", 185).waits(Reason::dependency);
  dep.job.dependency = Dependency{.terms = {{.kind = DependencyKind::after_ok, .job = JobId(2)}}};
  add(dep);
  add(JobMaker(8, "failing", 185)
          .line("-J failing -n1 --wrap exit 3")
          .runs_on("n2", 1)
          .ended(Cause::failed, 1, {3, 0}));
  add(JobMaker(9, "killed", 185)
          .line("-J killed -n1 --wrap kill -9 $$")
          .runs_on("n2", 1)
          .ended(Cause::failed, 1, {0, 9}));
  add(JobMaker(10, "tooslow", 185).limit(minutes(1)).runs_on("n1", 1));
  add(JobMaker(11, "todie", 185).runs_on("n2", 1).ended(Cause::cancelled, 2));
  for (std::uint32_t i = 0; i < 2; ++i) {
    JobMaker split = task;
    split.job.id = JobId(12 + i);
    split.job.task = i;
    split.job.reason = Reason::none;
    add(split.runs_on("n3"));
  }
  JobMaker big = JobMaker(14, "impossible-later", 356).limit(hours(1)).waits(Reason::nodes_down);
  big.job.node_count = big.job.cpu_count = big.job.task_count = 3;
  big.job.submitted = at(3);
  add(big);
  JobMaker low = JobMaker(15, "low", 92).limit(hours(5)).gpus(1).cpus(4).waits(Reason::priority);
  low.job.nice = 100;
  low.job.submitted = at(3);
  low.job.expected_start = at(9018);
  low.job.expected_nodes = {"n1"};
  add(low);
  return jobs;
}

Config config() {
  Config config;
  config.settings.cluster_name = "demo";
  config.partitions = {{.name = "main",
                        .nodes = {"n1", "n2", "n3"},
                        .is_default = true,
                        .max_time = std::chrono::hours(168),
                        .memory_rule = MemoryRule::per_cpu,
                        .memory = mebibytes(1000)},
                       {.name = "debug", .nodes = {"n3"}, .max_time = minutes(30)}};
  return config;
}

std::vector<api::NodeView> nodes() {
  const auto make = [](const std::string& name, std::uint32_t cpus, std::uint32_t sockets, std::int64_t memory_mib,
                       std::vector<std::string> features, const std::string& model, std::uint32_t gpus) {
    api::NodeView view;
    NodeInventory& about = view.node.inventory;
    about = {.name = name,
             .address = "127.0.0.1",
             .host_name = "node",
             .booted = Instant(seconds(1796056343)),
             .agent_started = at(-26),
             .version = "26.05.3",
             .os = "Linux 6.1.0 #1 SMP PREEMPT_DYNAMIC",
             .arch = "x86_64",
             .cpus = cpus,
             .sockets = sockets,
             .cores_per_socket = cpus / sockets,
             .memory = mebibytes(memory_mib),
             .features = std::move(features)};
    for (std::uint32_t i = 0; i < gpus; ++i) view.node.devices.push_back({.info = {.model = model, .index = i}});
    view.node.last_busy = at(-26);
    view.load_centi = 71;
    view.partitions = {"main"};
    return view;
  };
  api::NodeView n1 = make("n1", 64, 2, 512000, {"a100", "nvlink"}, "a100", 8);
  for (Device& device : n1.node.devices) device.used = Milli::of(1000);
  n1.cpus_used = 41;
  n1.memory_used = mebibytes(168936);
  n1.planned = true;
  n1.memory_free = mebibytes(8563);
  api::NodeView n2 = make("n2", 32, 32, 128000, {"t4"}, "t4", 4);
  n2.node.drain = Drain{.reason = "bad fan", .uid = 0, .user = "root", .since = at(3)};
  n2.node.last_busy = at(2);
  n2.memory_free = mebibytes(8561);
  api::NodeView n3 = make("n3", 16, 16, 64000, {"cpu"}, "", 0);
  n3.cpus_used = 2;
  n3.memory_used = mebibytes(2000);
  n3.memory_free = mebibytes(8560);
  n3.partitions = {"main", "debug"};
  return {n1, n2, n3};
}

std::vector<api::PartitionView> partitions() {
  std::vector<api::PartitionView> views;
  for (const Partition& partition : config().partitions) {
    api::PartitionView view{.partition = partition, .nodes = partition.nodes};
    for (const api::NodeView& node : nodes()) {
      if (!api::in_partition(partition, node.node.name())) continue;
      view.cpus += node.node.inventory.cpus;
      view.memory += node.node.inventory.memory;
    }
    views.push_back(view);
  }
  return views;
}

}  // namespace drover::fixture
