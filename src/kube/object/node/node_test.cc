#include <gtest/gtest.h>

#include "domain/cluster.h"
#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/object/columns/columns.h"
#include "kube/object/node/node_object.h"
#include "kube/object/pod/slurm_pod.h"
#include "kube/object/times.h"
#include "kube/object/uid.h"

namespace drover::kube {
namespace {

const Instant kThen = *time_of("2026-11-30T18:42:10Z");

Node gpu_node() {
  Node node{.id = NodeId(1),
            .inventory = {.name = "n1",
                          .address = "10.1.0.1",
                          .host_name = "n1.example",
                          .boot_id = "boot",
                          .version = "0.1.0",
                          .os = "Linux 6.1.0-13-amd64",
                          .arch = "x86_64",
                          .cpus = 64,
                          .memory = gibibytes(512),
                          .disk = gibibytes(100)},
            .contact_since = kThen,
            .registered = kThen,
            .version = 42};
  for (const bool healthy : {true, false}) {
    node.devices.push_back({.info = {.uuid = healthy ? "GPU-a" : "GPU-b",
                                     .model = "a100",
                                     .product = "NVIDIA A100-SXM4-80GB",
                                     .memory = mebibytes(81559),
                                     .capability = 80,
                                     .healthy = healthy}});
  }
  return node;
}
const NodeView kView{
    .cluster = "c1", .heard = kThen + seconds(5), .runtime = "containerd://1.6.20"};

std::string cells(const Value& object, const char* kind) {
  return print(table_of(kind).row(object, kThen + seconds(3)));
}

TEST(Uid, IsAUuidAndStaysTheSame) {
  const std::string uid = stable_uid("c1", "node/n1");
  EXPECT_EQ(uid.size(), 36U);
  EXPECT_EQ(uid[14], '8');
  EXPECT_EQ(uid, stable_uid("c1", "node/n1"));
  EXPECT_NE(uid, stable_uid("c1", "node/n2"));
  EXPECT_NE(uid, stable_uid("c2", "node/n1"));
  EXPECT_NE(stable_uid("ab", "c"), stable_uid("a", "bc"));
}

TEST(NodeObject, SaysWhatTheNodeIs) {
  const Value node = node_object(gpu_node(), kView);
  EXPECT_EQ(text_at(node, "metadata.name"), "n1");
  EXPECT_EQ(text_at(node, "metadata.resourceVersion"), "42");
  const Value& labels = node.at("metadata").at("labels");
  EXPECT_EQ(text(member(labels, "gpu-memory")), "80");
  EXPECT_EQ(text(member(labels, "nvidia.com/gpu.count")), "1");
  EXPECT_EQ(print(node.at("spec")), "{}");
  EXPECT_EQ(print(node.at("status").at("capacity")),
            R"({"cpu":"64","ephemeral-storage":"104857600Ki","memory":"536870912Ki","pods":"110",)"
            R"("nvidia.com/gpu":"2"})");
  EXPECT_EQ(text(member(node.at("status").at("allocatable"), "nvidia.com/gpu")), "1");
  EXPECT_EQ(print(node.at("status").at("addresses")),
            R"([{"type":"InternalIP","address":"10.1.0.1"},)"
            R"({"type":"Hostname","address":"n1.example"}])");
  const Value& ready = array_at(node, "status.conditions")->back();
  EXPECT_EQ(print(ready),
            R"({"type":"Ready","status":"True","lastHeartbeatTime":"2026-11-30T18:42:15Z",)"
            R"("lastTransitionTime":"2026-11-30T18:42:10Z","reason":"KubeletReady",)"
            R"("message":"kubelet is posting ready status"})");
  EXPECT_EQ(cells(node, "Node"),
            R"(["n1","Ready","<none>","3s","v1.33.0-drover0.1.0","10.1.0.1","<none>","Linux",)"
            R"("6.1.0-13-amd64","containerd://1.6.20"])");
}

TEST(NodeObject, ShowsADrainAndALostNode) {
  Node node = gpu_node();
  node.drain = Drain{.reason = "bad fan", .user = "ann", .since = kThen};
  node.contact = Contact::lost;
  node.marks.taints = {{.key = "k", .value = "v"}};
  node.marks.annotations = {{"a", "b"}};
  const Value object = node_object(node, kView);
  EXPECT_EQ(print(object.at("spec").at("taints")),
            R"([{"key":"k","value":"v","effect":"NoSchedule"},)"
            R"({"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule",)"
            R"("timeAdded":"2026-11-30T18:42:10Z"},)"
            R"({"key":"node.kubernetes.io/unreachable","effect":"NoSchedule",)"
            R"("timeAdded":"2026-11-30T18:42:10Z"},)"
            R"({"key":"node.kubernetes.io/unreachable","effect":"NoExecute",)"
            R"("timeAdded":"2026-11-30T18:42:10Z"}])");
  EXPECT_EQ(print(object.at("metadata").at("annotations")),
            R"({"a":"b","drover.dev/drain-reason":"bad fan","drover.dev/drain-user":"ann"})");
  for (const Value& condition : *array_at(object, "status.conditions")) {
    EXPECT_EQ(text_at(condition, "status"), "Unknown");
    EXPECT_EQ(text_at(condition, "reason"), "NodeStatusUnknown");
  }
  EXPECT_EQ(cells(object, "Node").substr(0, 35), R"(["n1","NotReady,SchedulingDisabled")");
}

TEST(NodeChange, IsNothingForANodeSentBack) {
  Node node = gpu_node();
  node.drain = Drain{.reason = "x", .since = kThen};
  node.contact = Contact::lost;
  node.marks = {.labels = {{"team", "a"}},
                .annotations = {{"n", "1"}},
                .taints = {{.key = "k", .value = "v", .since = kThen + milliseconds(7)}}};
  const Value was = node_object(node, kView);
  const NodeChange change = node_change(node, was, was);
  EXPECT_FALSE(change.marks_changed);
  EXPECT_EQ(change.marks, node.marks);
  EXPECT_FALSE(change.cordon);
  EXPECT_TRUE(check_node_update(was, was).none());
}

TEST(NodeChange, IsWhatTheClientWrote) {
  const Node node = gpu_node();
  const Value was = node_object(node, kView);
  Value now = was;
  now.at("metadata").at("labels").get_object()["team"] = "a";
  now.at("metadata").at("labels").get_object()["gpu-memory"] = "40";
  now.at("spec").get_object()["unschedulable"] = true;
  now.at("spec").get_object()["taints"] =
      Array{Object{{"key", "k"}, {"value", "v"}, {"effect", "NoExecute"}}};
  const NodeChange change = node_change(node, was, now);
  EXPECT_TRUE(change.marks_changed);
  EXPECT_EQ(change.marks.labels,
            (std::map<std::string, std::string>{{"gpu-memory", "40"}, {"team", "a"}}));
  EXPECT_EQ(change.marks.taints,
            (std::vector<Taint>{{.key = "k", .value = "v", .effect = TaintEffect::no_execute}}));
  EXPECT_EQ(change.cordon, true);
  now.at("spec").at("taints").get_array().push_back(Object{{"key", "k"}, {"effect", "NoExecute"}});
  now.at("metadata").at("labels").get_object()["kubernetes.io/hostname"] = "n2";
  EXPECT_EQ(check_node_update(was, now).text(),
            "[spec.taints[1]: Duplicate value: \"k:NoExecute\", "
            "metadata.labels[kubernetes.io/hostname]: Forbidden: it is the node's name]");
}

// ---- Slurm's jobs as pods ----

TEST(SlurmPods, HaveNamesThatLeadBack) {
  const Job plain{.id = JobId(7)};
  const Job task{.id = JobId(9), .array = JobId(7), .task = 3};
  EXPECT_EQ(slurm_pod_name(plain), "job-7");
  EXPECT_EQ(slurm_pod_name(task), "job-7-3");
  EXPECT_EQ(slurm_pod_of("job-7")->job, JobId(7));
  EXPECT_EQ(slurm_pod_of("job-7-3")->task, 3U);
  for (const char* other : {"", "job-", "job-0", "job-x", "job-7-", "job-7-x", "web-7"}) {
    EXPECT_FALSE(slurm_pod_of(other)) << other;
  }
}

class SlurmPod : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::uint64_t n : {1U, 2U}) {
      cluster_.apply(NodeRegistered{
          .node = NodeId(n), .inventory = {.name = "n" + std::to_string(n)}, .at = kThen});
    }
    JobSubmitted fact{.job = JobId(7), .at = kThen};
    fact.owner = {.uid = 1000, .gid = 100, .user = "ann"};
    fact.submit = {.name = "train it!", .account = "ml", .partitions = "main"};
    fact.submit.request = {.min_nodes = 2, .tasks = 4, .cpus_per_task = 3};
    fact.submit.request.gpus_per_node = {{.model = "a100", .count = 2}};
    cluster_.apply(fact);
    job_ = *cluster_.job(JobId(7));
  }
  Job job_;
  Cluster cluster_;
};

TEST_F(SlurmPod, WaitsAsAPod) {
  const Value pod = pod_of_slurm_job(cluster_, job_, {.cluster = "c1"});
  EXPECT_EQ(text_at(pod, "metadata.name"), "job-7");
  EXPECT_EQ(print(pod.at("metadata").at("labels")),
            R"({"drover.dev/job-id":"7","drover.dev/job-name":"train-it","drover.dev/user":"ann",)"
            R"("drover.dev/account":"ml","drover.dev/partition":"main"})");
  EXPECT_EQ(print(pod.at("spec").at("containers").at(0).at("resources").at("requests")),
            R"({"cpu":"6","nvidia.com/gpu":"2"})");
  EXPECT_EQ(cells(pod, "Pod"),
            R"(["job-7","0/1","Pending","0","3s","<none>","<none>","<none>","<none>"])");
}

TEST_F(SlurmPod, RunsAndEndsAsAPod) {
  NodeShare share{.node = NodeId(1), .cpus = CpuSet::first(5), .memory = gibibytes(2)};
  NodeShare other = share;
  other.node = NodeId(2);
  job_.phase = Phase::running;
  job_.run.edit().started = kThen;
  job_.run.edit().placement = std::make_shared<Placement>(Placement{.shares = {share, other}});
  Value pod = pod_of_slurm_job(cluster_, job_, {.cluster = "c1"});
  EXPECT_EQ(text_at(pod, "spec.nodeName"), "n1");
  EXPECT_EQ(text(member(pod.at("metadata").at("annotations"), "drover.dev/nodes")), "n1,n2");
  EXPECT_EQ(print(pod.at("spec").at("containers").at(0).at("resources").at("requests")),
            R"({"cpu":"5","memory":"2Gi"})");
  EXPECT_EQ(cells(pod, "Pod"),
            R"(["job-7","1/1","Running","0","3s","<none>","n1","<none>","<none>"])");
  job_.phase = Phase::ended;
  job_.run.edit().ended = kThen + seconds(1);
  job_.cause = Cause::failed;
  job_.run.edit().exit = {.code = 3};
  pod = pod_of_slurm_job(cluster_, job_, {.cluster = "c1"});
  EXPECT_EQ(text_at(pod, "status.phase"), "Failed");
  EXPECT_EQ(integer_at(pod.at("status").at("containerStatuses").at(0), "state.terminated.exitCode"),
            3);
  job_.cause = Cause::out_of_memory;
  pod = pod_of_slurm_job(cluster_, job_, {.cluster = "c1"});
  EXPECT_EQ(cells(pod, "Pod").substr(0, 29), R"(["job-7","0/1","OOMKilled","0)");
  job_.cause = Cause::completed;
  job_.run.edit().exit = {};
  pod = pod_of_slurm_job(cluster_, job_, {.cluster = "c1"});
  EXPECT_EQ(text_at(pod, "status.phase"), "Succeeded");
  EXPECT_EQ(cells(pod, "Pod").substr(0, 29), R"(["job-7","0/1","Completed","0)");
}

}  // namespace
}  // namespace drover::kube
