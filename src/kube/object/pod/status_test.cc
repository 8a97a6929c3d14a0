#include <gtest/gtest.h>

#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/object/pod/status.h"
#include "kube/object/pod/status/container_status.h"
#include "kube/object/pod/status/phase.h"
#include "kube/object/pod/unschedulable.h"

namespace drover::kube {
namespace {

const Instant kPlaced{seconds(1'700'000'000)};
const Instant kStarted{seconds(1'700'000'005)};

// One node "n1", and a pod's job that may hold it.
class PodStatusTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.apply(NodeRegistered{.node = NodeId(1), .inventory = {.name = "n1"}, .at = kPlaced});
    job_ = {.id = JobId(7), .submitted = kPlaced, .pod = true};
  }
  void place() {
    job_.phase = Phase::running;
    drover::Run& run = job_.run.edit();
    run.started = kPlaced;
    run.placement = std::make_shared<Placement>(Placement{.shares = {{.node = NodeId(1)}}});
  }
  void report(PodStatus status) {
    job_.run.edit().pod = std::make_shared<PodStatus>(std::move(status));
  }
  static ContainerStatus running(std::string name, bool ready = true) {
    return {.name = std::move(name),
            .state = {.phase = ContainerPhase::running, .started = kStarted},
            .ready = ready,
            .started = true,
            .container_id = "containerd://abc",
            .image = "busybox:1",
            .image_id = "sha256:1"};
  }
  static PodStatus told(std::vector<ContainerStatus> containers) {
    return {.containers = std::move(containers),
            .host_ip = "10.0.0.1",
            .pod_ip = "10.0.0.1",
            .started = kPlaced,
            .initialized = true,
            .initialized_at = kPlaced,
            .ready_since = kStarted};
  }
  Value render(const PodView& view = {}) {
    Value pod = *parse(R"({"metadata":{"name":"p"},"spec":{"restartPolicy":"Never",
      "containers":[{"name":"main","resources":{"limits":{"cpu":1,"memory":1}}}]}})");
    render_pod(pod, cluster_, job_, view);
    return pod;
  }
  // "Ready=False/ContainersNotReady ..."
  static std::string conditions(const Value& pod) {
    std::string text;
    const Array* list = array_at(pod, "status.conditions");
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const Value& c = (*list)[i];
      text.append(text_at(c, "type")).append("=").append(text_at(c, "status"));
      const std::string_view reason = text_at(c, "reason");
      if (!reason.empty()) text.append("/").append(reason);
      text += ' ';
    }
    return text;
  }

  Cluster cluster_;
  Job job_;
};

// As a real server shows one that can't fit (golden/kubernetes/api-1.20.txt).
TEST_F(PodStatusTest, AWaitingPodSaysWhy) {
  EXPECT_EQ(print(render().at("status")), R"({"phase":"Pending","qosClass":"Guaranteed"})");
  const Value pod = render(
      {.waits = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.", .waits_since = kPlaced});
  const Value want = *parse(R"({"phase":"Pending","conditions":[{"type":"PodScheduled",
    "status":"False","lastProbeTime":null,"lastTransitionTime":"2023-11-14T22:13:20Z",
    "reason":"Unschedulable",
    "message":"0/1 nodes are available: 1 Insufficient nvidia.com/gpu."}],"qosClass":"Guaranteed"})");
  EXPECT_TRUE(same(pod.at("status"), want)) << print(pod.at("status"));
  EXPECT_EQ(at(pod, "spec.nodeName"), nullptr);
}

TEST_F(PodStatusTest, APlacedPodHasItsNode) {
  place();
  const Value pod = render();
  EXPECT_EQ(text_at(pod, "spec.nodeName"), "n1");
  EXPECT_EQ(text_at(pod, "status.phase"), "Pending");
  EXPECT_EQ(conditions(pod), "PodScheduled=True ");
}

TEST_F(PodStatusTest, ARunningPodShowsItsContainers) {
  place();
  report(told({running("main")}));
  const Value pod = render();
  const Value want = *parse(R"({"phase":"Running","hostIP":"10.0.0.1","hostIPs":[{"ip":"10.0.0.1"}],
    "podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],"startTime":"2023-11-14T22:13:20Z",
    "containerStatuses":[{"name":"main","state":{"running":{"startedAt":"2023-11-14T22:13:25Z"}},
      "lastState":{},"ready":true,"restartCount":0,"image":"busybox:1","imageID":"sha256:1",
      "containerID":"containerd://abc","started":true}],"qosClass":"Guaranteed"})");
  Value status = pod.at("status");
  status.get_object().erase("conditions");
  EXPECT_TRUE(same(status, want)) << print(status);
  EXPECT_EQ(conditions(pod),
            "PodReadyToStartContainers=True Initialized=True Ready=True ContainersReady=True "
            "PodScheduled=True ");
  EXPECT_EQ(text_at(array_at(pod, "status.conditions")->at(2), "lastTransitionTime"),
            "2023-11-14T22:13:25Z");
}

TEST_F(PodStatusTest, SaysWhichContainersAreNotReady) {
  place();
  report(told({running("main"), running("side", false)}));
  const Value pod = render();
  EXPECT_NE(conditions(pod).find("Ready=False/ContainersNotReady"), std::string::npos);
  EXPECT_EQ(text_at(array_at(pod, "status.conditions")->at(2), "message"),
            "containers with unready status: [side]");
}

TEST_F(PodStatusTest, ALostNodeMakesReadyUnknownAndChangesNothingElse) {
  place();
  report(told({running("main")}));
  job_.node_lost = true;
  const Value pod = render();
  EXPECT_EQ(text_at(pod, "status.phase"), "Running");
  EXPECT_NE(conditions(pod).find("Ready=Unknown/NodeStatusUnknown"), std::string::npos);
  EXPECT_NE(at(pod.at("status").at("containerStatuses").at(0), "state.running"), nullptr);
}

TEST_F(PodStatusTest, WhatIsOverIsCompleted) {
  place();
  ContainerStatus done = running("main", false);
  done.state = {.phase = ContainerPhase::terminated,
                .reason = "Completed",
                .started = kStarted,
                .finished = kStarted};
  report(told({done}));
  job_.phase = Phase::ended;
  job_.cause = Cause::completed;
  const Value pod = render();
  EXPECT_EQ(text_at(pod, "status.phase"), "Succeeded");
  EXPECT_EQ(
      conditions(pod),
      "PodReadyToStartContainers=False Initialized=True/PodCompleted Ready=False/PodCompleted "
      "ContainersReady=False/PodCompleted PodScheduled=True ");
  EXPECT_EQ(
      print(pod.at("status").at("containerStatuses").at(0).at("state")),
      R"({"terminated":{"exitCode":0,"reason":"Completed","startedAt":"2023-11-14T22:13:25Z",)"
      R"("finishedAt":"2023-11-14T22:13:25Z","containerID":"containerd://abc"}})");
}

TEST_F(PodStatusTest, AContainerThatNobodySawEndIsUnknown) {
  place();
  report(told({running("main")}));
  job_.phase = Phase::ended;
  job_.cause = Cause::node_failed;
  job_.run.edit().ended = kStarted;
  const Value pod = render();
  EXPECT_EQ(text_at(pod, "status.phase"), "Failed");
  EXPECT_EQ(text_at(pod, "status.reason"), "NodeLost");
  const Value& container = pod.at("status").at("containerStatuses").at(0);
  EXPECT_EQ(text_at(container, "state.terminated.reason"), "ContainerStatusUnknown");
  EXPECT_EQ(integer_at(container, "state.terminated.exitCode"), 137);
  EXPECT_FALSE(flag_at(container, "ready"));
}

TEST_F(PodStatusTest, GoesBackToWhatIsStored) {
  place();
  Value pod = render();
  unrender_pod(pod, Object{{"spec", Object{}}});
  EXPECT_EQ(at(pod, "spec.nodeName"), nullptr);
  EXPECT_EQ(member(pod, "status"), nullptr);
  unrender_pod(pod, Object{{"spec", Object{{"nodeName", "n9"}}}});
  EXPECT_EQ(text_at(pod, "spec.nodeName"), "n9");
}

TEST(PodPhase, GoesByTheContainers) {
  const ContainerStatus ok{.state = {.phase = ContainerPhase::terminated}};
  const ContainerStatus bad{.state = {.phase = ContainerPhase::terminated, .exit = {.code = 1}}};
  const ContainerStatus on{.state = {.phase = ContainerPhase::running}};
  const ContainerStatus fresh{};
  const ContainerStatus again{.last = ContainerState{.phase = ContainerPhase::terminated}};
  ContainerStatus init = bad;
  init.init = true;
  struct Case {
    std::vector<ContainerStatus> containers;
    const char* policy;
    const char* phase;
    bool initialized = true;
  };
  for (const Case& c :
       {Case{{on, fresh}, "Always", "Pending"}, Case{{on, bad}, "Never", "Running"},
        Case{{ok, ok}, "Never", "Succeeded"}, Case{{ok, bad}, "Never", "Failed"},
        Case{{ok, bad}, "OnFailure", "Running"}, Case{{ok, ok}, "OnFailure", "Succeeded"},
        Case{{ok}, "Always", "Running"}, Case{{again}, "Always", "Running"},
        Case{{init, fresh}, "Never", "Failed", false},
        Case{{init, fresh}, "Always", "Pending", false}}) {
    const Job job{.phase = Phase::running};
    const PodStatus status{.containers = c.containers, .initialized = c.initialized};
    EXPECT_EQ(phase_of(job, &status, c.policy), c.phase) << c.policy << " " << c.containers.size();
  }
  const PodStatus late{.containers = {on}, .initialized = true, .reason = "DeadlineExceeded"};
  EXPECT_EQ(phase_of({.phase = Phase::ending}, &late, "Always"), "Failed");
}

TEST(ContainerStates, ShowRestarts) {
  const PodStatus status{
      .containers = {{.name = "c",
                      .state = {.reason = "CrashLoopBackOff", .message = "back-off 10s"},
                      .last = ContainerState{.phase = ContainerPhase::terminated,
                                             .reason = "OOMKilled",
                                             .exit = {.signal = 9}},
                      .restarts = 3},
                     {.name = "i", .init = true}}};
  EXPECT_EQ(
      print(container_statuses(status, false, false, {})),
      R"([{"name":"c","state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 10s"}},)"
      R"("lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled"}},"ready":false,)"
      R"("restartCount":3,"image":"","imageID":"","started":false}])");
  EXPECT_EQ(container_statuses(status, true, false, {}).size(), 1U);
}

TEST(Unschedulable, HasKubernetesPhrasesAndNumbers) {
  const auto refusal = [](RefusalCode code, std::string subject, const char* what = "",
                          std::int64_t have = 0, std::int64_t want = 0) {
    Refusal r{.code = code, .subject = std::move(subject)};
    if (*what != '\0') r.amounts = {{.name = what, .have = have, .want = want}};
    return r;
  };
  const std::vector<NodesRefusal> all{
      {refusal(RefusalCode::gpus_busy, "gpu_memory>=16GB", "gpus", 2, 4), 2},
      {refusal(RefusalCode::memory_busy, "memory", "memory_mib", 512, 2048), 1},
      {refusal(RefusalCode::node_tainted, "k=v"), 1},
      {refusal(RefusalCode::no_such_label, ""), 1},
      {refusal(RefusalCode::node_closed, "maintenance"), 1},
      {refusal(RefusalCode::node_closed, "lost"), 1}};
  EXPECT_EQ(
      unschedulable_message(8, all),
      "0/8 nodes are available: 2 Insufficient nvidia.com/gpu (want 4, at most 2 free with "
      "gpu_memory>=16GB), 1 Insufficient memory (want 2Gi, at most 512Mi free), 1 node(s) had "
      "untolerated taint {k: v}, 1 node(s) didn't match Pod's node affinity/selector, 1 "
      "node(s) were unschedulable (maintenance), 1 node(s) had untolerated taint "
      "{node.kubernetes.io/unreachable: }, 1 node(s) are kept for work before it.");
  EXPECT_EQ(unschedulable_message(0, {}), "0/0 nodes are available.");
  EXPECT_EQ(refusal_phrase(refusal(RefusalCode::cpus_busy, "cpus", "cpu_milli", 500, 2500)),
            "Insufficient cpu (want 2500m, at most 500m free)");
  EXPECT_EQ(refusal_phrase(refusal(RefusalCode::not_apart, "app=web within its zone", "pods", 2)),
            "node(s) didn't match pod anti-affinity rules (app=web within its zone: 2 pods)");
  EXPECT_EQ(refusal_phrase(refusal(RefusalCode::not_near, "app=db within its zone", "pods", 0, 1)),
            "node(s) didn't match pod affinity rules (app=db within its zone: no pod)");
  EXPECT_EQ(refusal_phrase(refusal(RefusalCode::kept_apart, "within its zone", "pods", 1)),
            "node(s) didn't satisfy existing pods anti-affinity rules (within its zone: 1 pod)");
  EXPECT_EQ(refusal_phrase(refusal(RefusalCode::not_spread, "zone", "skew", 2, 1)),
            "node(s) didn't match pod topology spread constraints (zone: skew would be 2, at most "
            "1)");
  EXPECT_EQ(refusal_phrase(refusal(RefusalCode::too_many_gpus, "", "gpus", 8, 9)),
            "Insufficient nvidia.com/gpu (want 9, at most 8 on a node)");
}

}  // namespace
}  // namespace drover::kube
