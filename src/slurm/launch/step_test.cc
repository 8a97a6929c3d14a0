#include "slurm/launch/step.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace drover::slurm {
namespace {

NodeRegistered node(std::uint64_t id, const std::string& name, std::uint32_t gpus) {
  NodeRegistered e{.node = NodeId(id)};
  e.inventory = {.name = name, .cpus = 8, .memory = gibibytes(64)};
  for (std::uint32_t i = 0; i < gpus; ++i) {
    e.inventory.devices.push_back(
        {.uuid = name + "-" + std::to_string(i), .model = "a100", .index = i});
    e.devices.emplace_back(i + 1);
  }
  return e;
}

NodeShare part_of(const Cluster& cluster, const std::string& name, std::uint32_t tasks,
                  std::uint32_t cpus, std::size_t gpus) {
  const Node* on = cluster.node(name);
  NodeShare share{
      .node = on->id, .tasks = tasks, .cpus = CpuSet::first(cpus), .memory = gibibytes(1)};
  for (std::size_t i = 0; i < gpus; ++i) share.devices.push_back({.device = on->devices[i].id});
  return share;
}

// A job of two nodes by bob, as the reference system's job 39, and its step 0.
class StepLaunches : public testing::Test {
 protected:
  Cluster cluster_;
  Step step_{.number = 0, .attempt = 1, .name = "env"};
  StepSpec spec_{.door = "slurm",
                 .programs = {{.argv = {"env", "%t"}}},
                 .environment = {"PATH=/bin", "SLURM_JOB_ID=1", "SLURM_GTIDS=0",
                                 "SLURM_SUBMIT_HOST=login", "A=b=c", "ENVIRONMENT=BATCH"},
                 .work_dir = "/home/bob",
                 .extra = {{"launch_address", "127.0.0.1"}}};

  void SetUp() override {
    Configured configured;
    configured.config.partitions = {{.name = "main", .is_default = true}};
    configured.config.settings.cluster_name = "demo";
    cluster_.apply(configured);
    cluster_.apply(node(1, "n1", 4));
    cluster_.apply(node(2, "n3", 0));
    JobSubmitted submitted;
    submitted.job = JobId(39);
    submitted.owner = {.uid = 1000, .gid = 1000, .user = "bob", .group = "users"};
    submitted.submit.name = "wrap";
    submitted.submit.partitions = "main";
    submitted.submit.request = {.min_nodes = 2, .tasks_per_node = 2};
    submitted.submit.limit = minutes(5);
    cluster_.apply(submitted);
    Placement placement;
    placement.shares = {part_of(cluster_, "n1", 2, 4, 4), part_of(cluster_, "n3", 2, 2, 0)};
    cluster_.apply(JobPlaced{.job = JobId(39),
                             .attempt = 1,
                             .partition = "main",
                             .placement = placement,
                             .limit = minutes(5),
                             .at = Instant(seconds(1796063902))});
    step_.shares = {{.share = placement.shares[0], .tasks = {{0, 1, 1}}},
                    {.share = placement.shares[1], .tasks = {{2, 3, 1}}}};
  }
  StepLaunch launch(std::size_t share = 0) {
    StepLaunch launch;
    fill_step(cluster_, *cluster_.job(JobId(39)), step_, spec_, step_.shares[share], launch);
    return launch;
  }
  std::vector<std::string> variables(std::size_t share, std::size_t task) {
    const StepLaunch made = launch(share);
    std::vector<std::string> list = made.environment;
    list.insert(list.end(), made.tasks[task].environment.begin(),
                made.tasks[task].environment.end());
    std::ranges::sort(list);
    return list;
  }
};

TEST_F(StepLaunches, TellEachTaskWhereItIs) {
  // What the reference system prints for the second task on its second node, without what a
  // script's environment passes on and what only a node knows.
  const std::vector<std::string> expected{
      "A=b=c",
      "PATH=/bin",
      "SLURMD_NODENAME=n3",
      "SLURM_CLUSTER_NAME=demo",
      "SLURM_CPUS_ON_NODE=2",
      "SLURM_DISTRIBUTION=block",
      "SLURM_GTIDS=2,3",
      "SLURM_JOBID=39",
      "SLURM_JOB_CPUS_PER_NODE=4,2",
      "SLURM_JOB_END_TIME=1796064202",
      "SLURM_JOB_EXCLUSIVE=NO",
      "SLURM_JOB_GID=1000",
      "SLURM_JOB_GROUP=users",
      "SLURM_JOB_ID=39",
      "SLURM_JOB_NAME=wrap",
      "SLURM_JOB_NODELIST=n[1,3]",
      "SLURM_JOB_NUM_NODES=2",
      "SLURM_JOB_OVERSUBSCRIBE=NO",
      "SLURM_JOB_PARTITION=main",
      "SLURM_JOB_START_TIME=1796063902",
      "SLURM_JOB_UID=1000",
      "SLURM_JOB_USER=bob",
      "SLURM_LAUNCH_NODE_IPADDR=127.0.0.1",
      "SLURM_LOCALID=1",
      "SLURM_NNODES=2",
      "SLURM_NODEID=1",
      "SLURM_NODELIST=n[1,3]",
      "SLURM_NPROCS=4",
      "SLURM_NTASKS=4",
      "SLURM_NTASKS_PER_NODE=2",
      "SLURM_OOM_KILL_STEP=0",
      "SLURM_PRIO_PROCESS=0",
      "SLURM_PROCID=3",
      "SLURM_SRUN_COMM_HOST=127.0.0.1",
      "SLURM_SRUN_COMM_PORT=0",
      "SLURM_STEPID=0",
      "SLURM_STEP_ID=0",
      "SLURM_STEP_LAUNCHER_PORT=0",
      "SLURM_STEP_NODELIST=n[1,3]",
      "SLURM_STEP_NUM_NODES=2",
      "SLURM_STEP_NUM_TASKS=4",
      "SLURM_STEP_TASKS_PER_NODE=2(x2)",
      "SLURM_SUBMIT_HOST=login",
      "SLURM_TASKS_PER_NODE=2(x2)",
      "SLURM_TOPOLOGY_ADDR=n3",
      "SLURM_TOPOLOGY_ADDR_PATTERN=node",
      "SLURM_UMASK=0022",
  };
  EXPECT_EQ(variables(1, 1), expected);
  EXPECT_EQ(launch().pid_variable, "SLURM_TASK_PID");
}

TEST_F(StepLaunches, NameTheGpusOfTheStepAndGiveEachTaskItsOwn) {  // C53
  step_.request.gpus_per_task = {{"", 1}};
  const auto list = variables(0, 0);
  EXPECT_TRUE(std::ranges::count(list, "SLURM_STEP_GPUS=0,1,2,3"));
  EXPECT_TRUE(std::ranges::count(list, "SLURM_GPUS_ON_NODE=4"));
  const StepLaunch made = launch();
  EXPECT_EQ(made.tasks[0].device_uuids, std::vector<std::string>{"n1-0"});
  EXPECT_EQ(made.tasks[1].device_uuids, std::vector<std::string>{"n1-1"});
  spec_.gpu_bind = "none";
  EXPECT_EQ(launch().tasks[1].device_uuids.size(), 4U);
  EXPECT_TRUE(launch(1).tasks[1].device_uuids.empty());
}

TEST_F(StepLaunches, BindCpusAndSayHow) {
  EXPECT_TRUE(launch().tasks[0].cpus.empty());
  step_.request.cpus_per_task = 2;
  EXPECT_EQ(launch().tasks[1].cpus.text(), "2-3");
  spec_.cpu_bind = "verbose,map_cpu:3,0";
  EXPECT_EQ(launch().tasks[0].cpus.text(), "3");
  const auto list = variables(0, 0);
  EXPECT_TRUE(std::ranges::count(list, "SLURM_CPU_BIND=verbose,map_cpu:3,0"));
  EXPECT_TRUE(std::ranges::count(list, "SLURM_CPU_BIND_TYPE=map_cpu:"));
  EXPECT_TRUE(std::ranges::count(list, "SLURM_CPUS_PER_TASK=2"));
}

TEST_F(StepLaunches, DealProgramsByGroup) {
  EXPECT_EQ(launch().tasks[1].argv, (std::vector<std::string>{"env", "%t"}));
  spec_.programs = {{.tasks = {{0, 0, 1}}, .argv = {"head"}},
                    {.tasks = {{1, 3, 1}}, .argv = {"work", "%t-%o", "5%"}}};
  EXPECT_EQ(launch().tasks[0].argv, std::vector<std::string>{"head"});
  EXPECT_EQ(launch(1).tasks[1].argv, (std::vector<std::string>{"work", "3-2", "5%"}));
}

TEST_F(StepLaunches, ExpandFilesForEachTask) {
  spec_.stdout_path = "out-%j.%s-%3t-%N-%n-%x-%u";
  spec_.stderr_path = "/dev/null";
  EXPECT_EQ(launch(1).tasks[0].stdout_path, "/home/bob/out-39.0-002-n3-1-wrap-bob");
  EXPECT_EQ(launch(1).tasks[0].stderr_path, "/dev/null");
  EXPECT_EQ(launch(1).tasks[0].stdin_path, "");
  EXPECT_TRUE(is_per_task("a%2t"));
  EXPECT_TRUE(is_per_task("a%N"));
  EXPECT_FALSE(is_per_task("a-%j-%J-%%t"));
  EXPECT_FALSE(is_per_task("a\\%t"));
}

}  // namespace
}  // namespace drover::slurm
