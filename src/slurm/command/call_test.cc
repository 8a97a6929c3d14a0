// Whole commands against a controller of tables.
#include "slurm/command/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "native/json_value.h"

namespace drover::slurm {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class FakeController : public Controller {
 public:
  api::Answer answer = Reply{.job = JobId(7), .jobs = {}, .refusals = {}};
  bool reachable = true;
  std::vector<api::JobView> views;
  std::vector<api::JobView> ended;
  std::vector<api::NodeView> node_views;
  std::vector<api::PartitionView> partition_views;
  std::vector<HistoryRow> history_rows;
  std::vector<api::StepView> step_views;
  std::vector<api::Execute> wishes;
  api::JobQuery query;
  HistoryQuery history_query;

  Result<api::Answer> execute(const api::Execute& wish) override {
    wishes.push_back(wish);
    if (!reachable) return gone();
    return answer;
  }
  Result<std::variant<api::WouldStart, Refusal>> would_start(const api::Execute&) override {
    std::variant<api::WouldStart, Refusal> start =
        api::WouldStart{.at = Instant(seconds(1796064000)), .partition = "main", .nodes = {"n1", "n2"}, .cpus = 4};
    return start;
  }
  Result<api::ListHeader> jobs(const api::JobQuery& asked, const std::function<void(api::JobView&)>& visit) override {
    query = asked;
    if (!reachable) return gone();
    api::ListHeader header{.now = Instant(seconds(1796063271)), .position = 1, .unknown = {}};
    for (const drover::JobRef& ref : asked.select.jobs) {
      if (ref.job.value() > 100) header.unknown.push_back(ref);
    }
    if (header.unknown.empty()) {
      for (api::JobView view : views) visit(view);
    }
    return header;
  }
  Result<api::ListHeader> nodes(const std::function<void(api::NodeView&)>& visit) override {
    for (api::NodeView view : node_views) visit(view);
    return api::ListHeader{};
  }
  Result<api::ListHeader> partitions(const std::function<void(api::PartitionView&)>& visit) override {
    for (api::PartitionView view : partition_views) visit(view);
    return api::ListHeader{};
  }
  Result<std::vector<HistoryRow>> history(const HistoryQuery& asked) override {
    history_query = asked;
    return history_rows;
  }
  Result<api::Overview> overview() override {
    if (!reachable) return gone();
    api::Overview overview;
    overview.host = "ctl";
    overview.config.settings.cluster_name = "demo";
    return overview;
  }
  Result<std::string> script(JobId) override { return std::string("#!/bin/sh\n"); }
  Result<std::vector<api::JobView>> wait_ended(JobId) override { return ended; }
  Result<api::ListHeader> steps(const api::StepQuery&, const std::function<void(api::StepView&)>& visit) override {
    if (!reachable) return gone();
    for (api::StepView view : step_views) visit(view);
    return api::ListHeader{};
  }
  Result<std::vector<api::JobView>> wait_started(JobId) override { return views; }
  Status keep(JobId) override { return Done{}; }
  void forked() override {}

 private:
  static Error gone() { return {Errc::unavailable, "no droverd at /x/droverd.sock"}; }
};

struct Said {
  int exit = 0;
  std::string out;
  std::string err;
};

class Commands : public testing::Test {
 protected:
  FakeController controller_;
  Environment environment_;
  std::string input_ = "#!/bin/sh\n";

  Said run(const std::string& program, std::vector<std::string> words) {
    Call call{.program = program,
              .words = std::move(words),
              .environment = environment_,
              .now = 1796063262,
              .user = "alice",
              .host = "login",
              .work_dir = "/home/alice"};
    call.controller = &controller_;
    call.read_input = [this] { return input_; };
    call.read_file = [](const std::string& path) -> Result<std::string> { return Error{Errc::not_found, path}; };
    call.write_file = [](const std::string&, std::string_view) -> Status { return Done{}; };
    call.user_name = [](const std::string& name) {
      return name == "nosuchuser" ? std::nullopt : std::optional(name);
    };
    call.login_environment = [] { return Environment{{"HOME", "/home/alice"}}; };
    const int status = run_command(call).value_or(-1);
    return {status, call.out, call.err};
  }
  const Submit& submitted() { return std::get<Submit>(controller_.wishes.back().command); }
};

TEST_F(Commands, SbatchSaysTheId) {
  EXPECT_EQ(run("sbatch", {"--wrap", "true"}).out, "Submitted batch job 7\n");
  EXPECT_EQ(run("sbatch", {"--parsable", "--wrap", "true"}).out, "7\n");
  EXPECT_EQ(run("sbatch", {"--parsable", "-M", "demo", "--wrap", "true"}).out, "7;demo\n");
  EXPECT_EQ(run("sbatch", {"-M", "demo", "--wrap", "true"}).out, "Submitted batch job 7 on cluster demo\n");
  EXPECT_EQ(run("sbatch", {"-M", "other", "--wrap", "true"}).exit, 1);
  EXPECT_EQ(run("sbatch", {"-Q", "--wrap", "true"}).out, "");
}

TEST_F(Commands, SbatchReadsDirectivesAndNamesTheJob) {
  input_ = "#!/bin/bash\n#SBATCH -N2 -t 10\nhostname\n#SBATCH -N3\n";
  EXPECT_EQ(run("sbatch", {}).exit, 0);
  EXPECT_EQ(submitted().request.min_nodes, 2U);
  EXPECT_EQ(submitted().name, "sbatch");
  run("sbatch", {"--wrap", "#SBATCH"});
  EXPECT_EQ(submitted().name, "wrap");
  EXPECT_EQ(controller_.wishes.back().script, "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n#SBATCH\n");
}

TEST_F(Commands, NothingIsSubmittedOnAnyError) {
  input_ = "#!/bin/sh\n#SBATCH --gres=gpu:1 extra\n";
  EXPECT_EQ(run("sbatch", {}).exit, 255);
  EXPECT_EQ(run("sbatch", {"nosuchfile.sh"}).err, "sbatch: error: Unable to open file nosuchfile.sh\n");
  EXPECT_EQ(run("sbatch", {"-t", "x", "--wrap", "true"}).exit, 255);
  EXPECT_TRUE(controller_.wishes.empty());
}

TEST_F(Commands, RefusalsSpeakSlurmsWordsFirst) {
  controller_.answer = Refusal{.code = RefusalCode::unknown_partition, .subject = "nosuch"};
  EXPECT_EQ(run("sbatch", {"-p", "nosuch", "--wrap", "true"}).err,
            "sbatch: error: invalid partition specified: nosuch\n"
            "sbatch: error: Batch job submission failed: Invalid partition name specified\n");
  controller_.answer = Refusal{.code = RefusalCode::unknown_dependency, .subject = "99999999"};
  EXPECT_EQ(run("sbatch", {"-d", "afterok:99999999", "--wrap", "true"}).err,
            "sbatch: error: Batch job submission failed: Job dependency problem\n");
  controller_.answer =
      Refusal{.code = RefusalCode::too_many_gpus, .amounts = {{"gpus", 8, 9}}, .nearest = "8 x a100 per node"};
  const Said said = run("sbatch", {"--gres=gpu:a100:9", "--wrap", "true"});
  EXPECT_THAT(
      said.err,
      StartsWith("sbatch: error: Batch job submission failed: Requested node configuration is not available\n"));
  EXPECT_THAT(said.err, HasSubstr("nearest request that fits: 8 x a100 per node"));
  EXPECT_EQ(said.exit, 1);
}

TEST_F(Commands, AnUnreachableControllerIsNotAWrongJob) {
  controller_.reachable = false;
  EXPECT_THAT(run("squeue", {}).err, StartsWith("slurm_load_jobs error: Unable to contact slurm controller"));
  EXPECT_THAT(run("sbatch", {"--wrap", "true"}).err, HasSubstr("Unable to contact slurm controller"));
  EXPECT_EQ(run("scontrol", {"show", "hostnames", "n[1-2]"}).out, "n1\nn2\n");
}

TEST_F(Commands, TestOnlySaysWhenAndWhere) {
  EXPECT_EQ(run("sbatch", {"--test-only", "--wrap", "true"}).err,
            "sbatch: Job 1 to start at 2026-11-30T18:40:00 a using 4 processors on nodes n[1-2] in partition main\n");
  EXPECT_TRUE(controller_.wishes.empty());
}

TEST_F(Commands, WaitEndsAsTheJobDoes) {
  controller_.ended = {{.cause = Cause::completed}, {.cause = Cause::failed, .exit = {42, 0}}};
  EXPECT_EQ(run("sbatch", {"-W", "--wrap", "true"}).exit, 42);
}

TEST_F(Commands, ExportNoneBringsTheLoginEnvironment) {
  environment_ = {{"SECRET", "1"}, {"SLURM_TIME_FORMAT", "%s"}};
  run("sbatch", {"--export=NONE", "--wrap", "true"});
  const std::string expected("HOME=/home/alice\0SLURM_TIME_FORMAT=%s\0", 38);
  EXPECT_EQ(controller_.wishes.back().environment, expected);
}

TEST_F(Commands, SqueueAsksForWhatIsWanted) {
  run("squeue", {"-j", "5,6_[1-2]", "-u", "bob", "-p", "main", "-n", "x", "-t", "PD,R", "-h"});
  EXPECT_EQ(controller_.query.select.jobs.size(), 2U);
  EXPECT_EQ(controller_.query.select.users, std::vector<std::string>{"bob"});
  EXPECT_EQ(controller_.query.select.phases, (std::vector<Phase>{Phase::waiting, Phase::running}));
  run("squeue", {"--me"});
  EXPECT_EQ(controller_.query.select.users, std::vector<std::string>{"alice"});
  const auto asked = [this](std::uint32_t field) {
    const auto& fields = controller_.query.fields;
    return std::ranges::find(fields, field) != fields.end();
  };
  EXPECT_FALSE(asked(35) || asked(41));  // neither the request nor the spec
  run("squeue", {"-o", "%i %b"});
  EXPECT_TRUE(asked(35) && !asked(41));
  run("squeue", {"-o", "%k"});
  EXPECT_TRUE(asked(35) && asked(41));
}

TEST_F(Commands, SqueueTakesOneUnknownJobAmiss) {
  EXPECT_EQ(run("squeue", {"-j", "99999999"}).err, "slurm_load_jobs error: Invalid job id specified\n");
  EXPECT_EQ(run("squeue", {"-j", "99999999"}).exit, 1);
  EXPECT_EQ(run("squeue", {"-j", "99999998,99999999"}).exit, 0);
  const Said nobody = run("squeue", {"-u", "nosuchuser"});
  EXPECT_EQ(nobody.err, "squeue: error: Invalid user: nosuchuser\n\n");
  EXPECT_EQ(nobody.exit, 0);
  EXPECT_EQ(run("squeue", {"-t", "nonsense"}).exit, 1);
}

TEST_F(Commands, SqueueFormatComesFromTheEnvironmentUnlessGiven) {  // C89
  environment_ = {{"SQUEUE_FORMAT", "%i"}};
  EXPECT_EQ(run("squeue", {}).out, "JOBID\n");
  EXPECT_EQ(run("squeue", {"-o", "%j"}).out, "NAME\n");
  EXPECT_THAT(run("squeue", {"-O", "nosuch"}).err, HasSubstr("Invalid field requested"));
}

TEST_F(Commands, SqueueJsonIsClosed) {
  controller_.views = {{.id = JobId(3), .name = "a\"b\n"}};
  const Said said = run("squeue", {"--json"});
  EXPECT_THAT(said.out, HasSubstr("\"name\": \"a\\\"b\\u000a\""));
  EXPECT_THAT(said.out, HasSubstr("\"job_id\": 3"));
  EXPECT_TRUE(said.out.ends_with("}\n"));
}

// What stands at "jobs/0/state/current/0", numbers and truths as text; "-" where nothing does.
std::string at(const Said& said, std::string_view path) {
  const auto parsed = native::parse_json(said.out);
  if (!parsed) return parsed.error().message;
  const native::Json* here = &parsed.value();
  for (const std::string_view step : split(path, '/')) {
    const auto index = parse_uint(step);
    if (index) {
      here = *index < here->items.size() ? &here->items[*index] : nullptr;
    } else {
      here = here->member(step);
    }
    if (here == nullptr) return "-";
  }
  if (here->kind == native::Json::Kind::integer) return std::to_string(here->integer);
  if (here->kind == native::Json::Kind::boolean) return here->boolean ? "true" : "false";
  return here->text;
}

TEST_F(Commands, SacctJsonHasJobsWithTheirSteps) {
  HistoryRow row{.job = JobId(12), .attempt = 1, .name = "train", .phase = Phase::ended};
  row.cause = Cause::cancelled;
  row.cancelled_by = 1000;
  row.started = Instant(seconds(100));
  row.ended = Instant(seconds(160));
  row.nodes = {"n1", "n2"};
  row.node_count = 2;
  row.cpu_count = 8;
  row.gpus = {{.model = "a100", .count = 4}};
  row.usage.user_cpu = Duration(1500);
  controller_.history_rows = {row};
  const Said said = run("sacct", {"--json", "-S1970-01-01-00:00:01"});
  EXPECT_EQ(at(said, "jobs/0/job_id"), "12");
  EXPECT_EQ(at(said, "jobs/0/state/current/0"), "CANCELLED");
  EXPECT_EQ(at(said, "jobs/0/nodes"), "n[1-2]");
  EXPECT_EQ(at(said, "jobs/0/time/elapsed"), "60");
  EXPECT_EQ(at(said, "jobs/0/time/user/microseconds"), "500000");
  EXPECT_EQ(at(said, "jobs/0/time/limit/infinite"), "true");
  EXPECT_EQ(at(said, "jobs/0/array/task_id/set"), "false");
  EXPECT_EQ(at(said, "jobs/0/tres/allocated/3/name"), "gpu");
  EXPECT_EQ(at(said, "jobs/0/tres/allocated/3/count"), "4");
  EXPECT_EQ(at(said, "jobs/0/exit_code/status/0"), "SUCCESS");
  EXPECT_EQ(at(said, "jobs/0/steps/0/step/id"), "12.batch");
  EXPECT_EQ(at(said, "jobs/0/steps/0/exit_code/signal/name"), "TERM");
  EXPECT_EQ(at(said, "jobs/1"), "-");
  EXPECT_EQ(at(run("sacct", {"--json", "-X"}), "jobs/0/steps/0"), "-");
}

TEST_F(Commands, NodesAndPartitionsAsJson) {
  api::NodeView node;
  node.node.inventory.name = "n1";
  node.node.inventory.cpus = 8;
  node.node.inventory.memory = gibibytes(4);
  node.node.devices = {{.info = {.uuid = "u", .model = "a100"}, .used = Milli::of(1000)}};
  node.cpus_used = 2;
  node.partitions = {"main"};
  node.node.drain = Drain{.reason = "bad \"fan\""};
  api::NodeView other = node;
  other.node.inventory.name = "n2";
  controller_.node_views = {node, other};
  controller_.partition_views = {{.partition = {.name = "main", .max_time = minutes(90)}, .nodes = {"n1", "n2"}}};
  const Said nodes = run("scontrol", {"show", "nodes", "--json"});
  EXPECT_EQ(at(nodes, "nodes/1/name"), "n2");
  EXPECT_EQ(at(nodes, "nodes/0/state/0"), "MIXED");
  EXPECT_EQ(at(nodes, "nodes/0/state/1"), "DRAIN");
  EXPECT_EQ(at(nodes, "nodes/0/gres"), "gpu:a100:1");
  EXPECT_EQ(at(nodes, "nodes/0/reason"), "bad \"fan\"");
  EXPECT_EQ(at(nodes, "nodes/0/free_mem/set"), "false");
  EXPECT_EQ(at(run("scontrol", {"show", "node", "n2", "--json"}), "nodes/0/name"), "n2");
  EXPECT_EQ(run("scontrol", {"show", "node", "n9", "--json"}).exit, 1);
  const Said partition = run("scontrol", {"--json", "show", "partition", "main"});
  EXPECT_EQ(at(partition, "partitions/0/maximums/time/number"), "90");
  EXPECT_EQ(at(partition, "partitions/0/nodes/configured"), "n[1-2]");
  const Said info = run("sinfo", {"--json"});
  EXPECT_EQ(at(info, "sinfo/0/nodes/total"), "2");
  EXPECT_EQ(at(info, "sinfo/0/nodes/nodes/1"), "n2");
  EXPECT_EQ(at(info, "sinfo/0/node/state/1"), "DRAIN");
  EXPECT_EQ(at(info, "sinfo/0/cpus/allocated"), "4");
  EXPECT_EQ(at(info, "sinfo/0/gres/used"), "gpu:a100:1(IDX:0)");
  EXPECT_EQ(at(info, "sinfo/0/partition/name"), "main");
  EXPECT_EQ(at(run("sinfo", {"-N", "--json"}), "sinfo/1/nodes/nodes/0"), "n2");
}

TEST_F(Commands, ScontrolSaysJobsAsJson) {
  controller_.views = {{.id = JobId(9), .phase = Phase::running}, {.id = JobId(3), .phase = Phase::running}};
  EXPECT_EQ(at(run("scontrol", {"show", "job", "3", "--json"}), "jobs/0/job_state/0"), "RUNNING");
  const Said listed = run("scontrol", {"listjobs", "--json"});
  EXPECT_EQ(at(listed, "jobs/0/job_id"), "3");
  EXPECT_EQ(controller_.query.select.nodes, std::vector<std::string>{"login"});
  environment_ = {{"SLURMD_NODENAME", "n7"}};
  EXPECT_EQ(run("scontrol", {"listjobs"}).out, "JOBID\n3\n9\n");
  EXPECT_EQ(controller_.query.select.nodes, std::vector<std::string>{"n7"});
  controller_.views.clear();
  EXPECT_EQ(run("scontrol", {"listjobs"}).exit, 1);
  EXPECT_EQ(run("scontrol", {"listjobs", "--json"}).exit, 0);
}

TEST_F(Commands, JsonIsRefusedWhereThereIsNone) {
  EXPECT_THAT(run("scontrol", {"show", "config", "--json"}).err, HasSubstr("--json is known of"));
  EXPECT_THAT(run("scontrol", {"hold", "3", "--json"}).err, HasSubstr("--json is no option of 'hold'"));
  EXPECT_THAT(run("sinfo", {"--json=v0.0.39"}).err, HasSubstr("only v0.0.44 is written"));
  EXPECT_EQ(run("sinfo", {"--json=v0.0.44"}).exit, 0);
}

TEST_F(Commands, ScancelWantsToKnowWhatAndTakesGoneJobsInGoodPart) {
  EXPECT_EQ(run("scancel", {}).exit, 1);
  controller_.answer = Refusal{.code = RefusalCode::unknown_job, .subject = "99999999"};
  EXPECT_EQ(run("scancel", {"99999999"}).exit, 0);
  EXPECT_EQ(run("scancel", {"99999999"}).err, "");
  controller_.answer =
      Reply{.refusals = {{.job = {.job = JobId(5)}, .refusal = {.code = RefusalCode::not_permitted}}}};
  EXPECT_EQ(run("scancel", {"5"}).err, "scancel: error: Kill job error on job id 5: Access/permission denied\n");
}

TEST_F(Commands, ScancelSignals) {
  run("scancel", {"-s", "USR1", "--batch", "5_3"});
  const auto& signal = std::get<Signal>(controller_.wishes.back().command);
  EXPECT_EQ(signal.signal, 10U);
  EXPECT_EQ(signal.target, SignalTarget::batch);
  EXPECT_EQ(signal.jobs.jobs.at(0).tasks, (std::vector<TaskRange>{{3, 3, 1}}));
  run("scancel", {"--name", "x", "--user", "bob", "-t", "PENDING"});
  EXPECT_EQ(std::get<Cancel>(controller_.wishes.back().command).jobs.phases, std::vector<Phase>{Phase::waiting});
}

TEST_F(Commands, ScancelTakesSteps) {
  run("scancel", {"17.0"});
  EXPECT_EQ(std::get<EndStep>(controller_.wishes.back().command).job, JobId(17));
  run("scancel", {"-s", "USR1", "17.2"});
  EXPECT_EQ(std::get<SignalStep>(controller_.wishes.back().command).step, 2U);
  EXPECT_EQ(std::get<SignalStep>(controller_.wishes.back().command).signal, 10U);
  EXPECT_EQ(controller_.wishes.size(), 2U);
  run("scancel", {"17.1", "18"});
  EXPECT_EQ(std::get<Cancel>(controller_.wishes.back().command).jobs.jobs.size(), 1U);
}

TEST_F(Commands, ScontrolHoldSaysWhichJob) {
  controller_.answer = Refusal{.code = RefusalCode::unknown_job, .subject = "99999999"};
  const Said said = run("scontrol", {"hold", "99999999"});
  EXPECT_EQ(said.err, "Invalid job id specified for job 99999999\nslurm_suspend error:Invalid job id specified\n");
  EXPECT_EQ(said.exit, 1);
}

TEST_F(Commands, ScontrolUpdates) {
  EXPECT_EQ(run("scontrol", {"update", "NodeName=n[1-2]", "State=DRAIN", "Reason=bad fan"}).exit, 0);
  const auto& node = std::get<UpdateNode>(controller_.wishes.back().command);
  EXPECT_EQ(node.nodes.size(), 2U);
  EXPECT_EQ(node.reason, "bad fan");
  EXPECT_THAT(run("scontrol", {"update", "nodename=n1", "state=drain"}).err, HasSubstr("You must specify a reason"));
  EXPECT_EQ(run("scontrol", {"update", "jobid=5", "timelimit=5-0"}).exit, 0);
  EXPECT_EQ(std::get<ModifyJob>(controller_.wishes.back().command).limit, Duration(std::chrono::hours(120)));
  EXPECT_EQ(run("scontrol", {"update", "jobid=5", "colour=red"}).exit, 1);
  EXPECT_EQ(run("scontrol", {"update", "x"}).exit, 1);
}

TEST_F(Commands, ScontrolShowsHostsWithoutAController) {  // C76
  controller_.reachable = false;
  EXPECT_EQ(run("scontrol", {"show", "hostnames=n[1-2]"}).out, "n1\nn2\n");
  EXPECT_EQ(run("scontrol", {"show", "hostlist", "a1,a2,a3"}).out, "a[1-3]\n");
  EXPECT_EQ(run("scontrol", {"show", "hostlistsorted", "n10,n2,n1"}).out, "n[1-2,10]\n");
  EXPECT_EQ(run("scontrol", {"show", "hostname"}).exit, 1);
  environment_ = {{"SLURM_JOB_NODELIST", "x[1-2]"}};
  EXPECT_EQ(run("scontrol", {"show", "hostname"}).out, "x1\nx2\n");
  EXPECT_EQ(run("scontrol", {"show", "hostnames", "n["}).exit, 1);
}

TEST_F(Commands, SacctAsksForTodayOrForJobs) {
  run("sacct", {});
  EXPECT_EQ(controller_.history_query.since, Instant(seconds(1795996800)));
  run("sacct", {"-j", "5", "-j", "6"});
  EXPECT_FALSE(controller_.history_query.since);
  EXPECT_EQ(controller_.history_query.jobs.size(), 2U);
  run("sacct", {"-S", "now-1hour", "-E", "now", "-s", "F,CA,PD", "-X"});
  EXPECT_EQ(controller_.history_query.since, Instant(seconds(1796063262 - 3600)));
  EXPECT_TRUE(controller_.history_query.waiting);
  EXPECT_EQ(controller_.history_query.ended_as.size(), 4U);
  EXPECT_EQ(run("sacct", {"-o", "nosuchfield"}).err, "sacct: error: Invalid field requested: \"nosuchfield\"\n");
  EXPECT_EQ(run("sacct", {"-o", "nosuchfield"}).exit, 1);
}

TEST_F(Commands, VersionsAndLaterCommands) {
  EXPECT_EQ(run("sinfo", {"-V"}).out, "slurm 26.05.3\n");
  EXPECT_EQ(run("srun", {"-V"}).out, "slurm 26.05.3\n");
  EXPECT_EQ(run("nosuch", {}).exit, -1);
  EXPECT_THAT(run("squeue", {"--iterate=5"}).err, HasSubstr("--iterate is not supported by drover yet"));
}

TEST_F(Commands, SrunEndsWithOneOnItsOwnErrors) {
  EXPECT_EQ(run("srun", {"--nosuch", "x"}).exit, 1);
  EXPECT_EQ(run("srun", {}).err, "srun: fatal: No command given to execute.\n");
  EXPECT_EQ(run("srun", {"--mpi=list"}).out, "MPI plugin types are...\n\tnone\n");
  controller_.answer = Refusal{.code = RefusalCode::no_such_gpu, .subject = "h100"};
  const Said refused = run("srun", {"--gres=gpu:h100:1", "hostname"});
  EXPECT_THAT(refused.err, StartsWith("srun: error: Unable to allocate resources: Requested node configuration is not "
                                      "available\n"));
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(submitted().allocation);
  EXPECT_TRUE(submitted().first_step);
  EXPECT_EQ(submitted().name, "hostname");
  environment_ = {{"SLURM_EXIT_ERROR", "99"}};
  EXPECT_EQ(run("srun", {"hostname"}).exit, 99);
}

TEST_F(Commands, SrunInAJobMakesAStepOfIt) {
  environment_ = {{"SLURM_JOB_ID", "17"}};
  controller_.answer = Refusal{.code = RefusalCode::step_busy};
  EXPECT_EQ(run("srun", {"--immediate", "-n2", "hostname"}).err,
            "srun: error: Unable to create step for job 17: Requested nodes are busy\n");
  EXPECT_EQ(std::get<CreateStep>(controller_.wishes.back().command).step.request.tasks, 2U);
  EXPECT_FALSE(controller_.wishes.back().key.empty());
  controller_.answer = Refusal{.code = RefusalCode::unknown_job};
  EXPECT_EQ(run("srun", {"hostname"}).err,
            "srun: error: Unable to confirm allocation for job 17: Invalid job id specified\n"
            "srun: Check SLURM_JOB_ID environment variable. Expired or invalid job 17\n");
}

TEST_F(Commands, SallocRefusesAndSstatAndSattachLook) {
  controller_.answer = Refusal{.code = RefusalCode::unknown_partition, .subject = "nosuch"};
  EXPECT_EQ(run("salloc", {"-p", "nosuch", "true"}).err,
            "salloc: error: invalid partition specified: nosuch\n"
            "salloc: error: Unable to allocate resources: Invalid partition name specified\n");
  EXPECT_EQ(run("sattach", {"17"}).err, "sattach: error: Invalid job step id: 17\n");
  EXPECT_EQ(run("sstat", {"-j", "17"}).exit, 1);
  controller_.step_views = {{.job = JobId(17), .number = 0, .task_count = 3}};
  controller_.step_views[0].shares = {{.share = {.node = "n1"}, .tasks = {{0, 1, 1}}},
                                      {.share = {.node = "n2"}, .tasks = {{2, 2, 1}}}};
  EXPECT_EQ(run("sattach", {"--layout", "17.0"}).out,
            "Job step layout:\n\t3 tasks, 2 nodes (n[1-2])\n\n\tNode 0 (n1), 2 task(s): 0 1\n"
            "\tNode 1 (n2), 1 task(s): 2\n");
  EXPECT_EQ(run("sstat", {"-n", "-P", "-j", "17.0", "-o", "jobid,ntasks,maxrss,nodelist"}).out, "17.0|3||n[1-2]\n");
  EXPECT_EQ(run("sstat", {"-o", "nosuch", "-j", "1"}).exit, 1);
}

}  // namespace
}  // namespace drover::slurm
