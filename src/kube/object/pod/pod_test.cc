#include <gtest/gtest.h>

#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/object/pod/defaults.h"
#include "kube/object/pod/placement.h"
#include "kube/object/pod/pod_terms.h"
#include "kube/object/pod/resources.h"
#include "kube/object/pod/submit.h"

namespace drover::kube {
namespace {

Value json(std::string_view text) {
  auto value = parse(text);
  EXPECT_TRUE(value) << (value ? "" : value.error().message);
  return value ? *value : Value();
}

Value pod_with(std::string_view containers, std::string_view more = "") {
  return json(R"({"metadata":{"name":"p","namespace":"team"},"spec":{"containers":)" +
              std::string(containers) + std::string(more) + "}}");
}

constexpr PodRules kRoot{.privileged = true};

// The body and the answer of a real API server (golden/kubernetes/api-1.20.txt), without the token.
TEST(PodDefaults, AreThoseOfARealServer) {
  Value pod = json(R"({"apiVersion":"v1","kind":"Pod",
    "metadata":{"name":"train","labels":{"app":"train"}},
    "spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"local/busybox:1",
      "command":["sh","-c","echo hi"],
      "resources":{"limits":{"nvidia.com/gpu":"2","cpu":"1","memory":"1Gi"}}}]}})");
  default_pod(pod, kRoot, std::nullopt);
  const Value want = json(R"({
  "containers": [{"name": "main", "image": "local/busybox:1", "command": ["sh", "-c", "echo hi"],
    "resources": {
     "limits": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "2"},
     "requests": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "2"}},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent"}],
  "restartPolicy": "Never",
  "terminationGracePeriodSeconds": 30,
  "dnsPolicy": "ClusterFirst",
  "serviceAccountName": "default",
  "serviceAccount": "default",
  "securityContext": {},
  "schedulerName": "default-scheduler",
  "tolerations": [
   {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
    "tolerationSeconds": 300},
   {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
    "tolerationSeconds": 300}],
  "priority": 0,
  "enableServiceLinks": true,
  "preemptionPolicy": "PreemptLowerPriority"})");
  EXPECT_TRUE(same(pod.at("spec"), want)) << print(pod.at("spec"));
}

TEST(PodDefaults, MakeASecondRoundChangeNothing) {
  Value pod = pod_with(R"([{"name":"a","image":"x","ports":[{"containerPort":80}],
    "livenessProbe":{"httpGet":{"port":80}},"env":[{"name":"N","valueFrom":{"fieldRef":
    {"fieldPath":"metadata.name"}}}]}])",
                       R"(,"volumes":[{"name":"v","configMap":{"name":"c"}},{"name":"e"},
    {"name":"h","hostPath":{"path":"/x"}}],"hostNetwork":true,"serviceAccountName":"robot")");
  default_pod(pod, {.user = 1000, .group = 100}, PriorityChoice{.name = "high", .value = 7});
  const Value once = pod;
  default_pod(pod, {.user = 2000, .group = 200}, std::nullopt);
  EXPECT_TRUE(same(once, pod));
  make_object(pod.as_object(), "spec")["priority"] = 1'000'000;
  default_pod(pod, {.user = 1000, .group = 100}, PriorityChoice{.name = "high", .value = 7});
  EXPECT_TRUE(same(once, pod));
  const Value& container = pod.at("spec").at("containers").at(0);
  EXPECT_EQ(text_at(container, "imagePullPolicy"), "Always");
  EXPECT_EQ(print(container.at("ports")),
            R"([{"containerPort":80,"protocol":"TCP","hostPort":80}])");
  EXPECT_EQ(integer_at(container, "livenessProbe.failureThreshold"), 3);
  EXPECT_EQ(text_at(container, "livenessProbe.httpGet.scheme"), "HTTP");
  EXPECT_EQ(print(container.at("securityContext")), R"({"allowPrivilegeEscalation":false})");
  EXPECT_EQ(print(pod.at("spec").at("securityContext")), R"({"runAsUser":1000,"runAsGroup":100})");
  EXPECT_EQ(integer_at(pod, "spec.priority"), 7);
  EXPECT_EQ(text_at(pod, "spec.priorityClassName"), "high");
  EXPECT_EQ(text_at(pod, "spec.serviceAccount"), "robot");
  EXPECT_EQ(print(pod.at("spec").at("volumes")),
            R"([{"name":"v","configMap":{"name":"c","defaultMode":420}},)"
            R"({"name":"e","emptyDir":{}},{"name":"h","hostPath":{"path":"/x","type":""}}])");
}

TEST(PodDefaults, PullPolicyGoesByTheTag) {
  struct Case {
    const char* image;
    const char* policy;
  };
  for (const Case& c :
       {Case{"busybox", "Always"}, Case{"busybox:latest", "Always"},
        Case{"busybox:1", "IfNotPresent"}, Case{"host:5000/busybox", "Always"},
        Case{"host:5000/busybox:1", "IfNotPresent"}, Case{"busybox@sha256:ab", "IfNotPresent"},
        Case{"busybox:latest@sha256:ab", "Always"}}) {
    EXPECT_EQ(default_pull_policy(c.image), c.policy) << c.image;
  }
}

TEST(PodDefaults, TolerationsThatCoverATroubleAreEnough) {
  Value pod = pod_with("[]", R"(,"tolerations":[{"operator":"Exists"}])");
  default_pod(pod, kRoot, std::nullopt);
  EXPECT_EQ(array_at(pod, "spec.tolerations")->size(), 1U);
  pod = pod_with("[]", R"(,"tolerations":[{"key":"node.kubernetes.io/not-ready",
                          "operator":"Exists","effect":"NoSchedule"}])");
  default_pod(pod, kRoot, std::nullopt);
  EXPECT_EQ(array_at(pod, "spec.tolerations")->size(), 3U);
}

std::string asks(const std::string& requests) {
  return R"({"name":"c","resources":{"requests":{)" + requests + "}}}";
}

TEST(PodResources, FollowKubernetesRule) {
  const std::string init = R"({"resources":{"requests":{"cpu":"3","nvidia.com/gpu":"1"}}})";
  const std::string side =
      R"({"restartPolicy":"Always","resources":{"requests":{"cpu":"250m","memory":"1Mi"}}})";
  const std::string main = asks(R"("cpu":"1500m","memory":"1Gi","nvidia.com/gpu":2)");
  const auto needs = [](const std::string& starts, const std::string& containers,
                        std::string_view more = "") {
    return needs_of(pod_with("[" + containers + "]",
                             ",\"initContainers\":[" + starts + "]" + std::string(more)));
  };
  EXPECT_EQ(needs("", main), (PodNeeds{.cpu_milli = 1500, .memory = 1 << 30, .gpus = 2}));
  EXPECT_EQ(needs("", main + "," + main),
            (PodNeeds{.cpu_milli = 3000, .memory = 2LL << 30, .gpus = 4}));
  EXPECT_EQ(needs(init, main), (PodNeeds{.cpu_milli = 3000, .memory = 1 << 30, .gpus = 2}));
  // The sidecar stands beside what starts after it, and beside the containers.
  EXPECT_EQ(needs(side + "," + init, main),
            (PodNeeds{.cpu_milli = 3250, .memory = (1 << 30) + (1 << 20), .gpus = 2}));
  EXPECT_EQ(needs(init + "," + side, main),
            (PodNeeds{.cpu_milli = 3000, .memory = (1 << 30) + (1 << 20), .gpus = 2}));
  EXPECT_EQ(needs("", main, R"(,"overhead":{"cpu":"10m"})").cpu_milli, 1510);
  EXPECT_EQ(needs("", "{}"), PodNeeds{});
}

TEST(PodResources, GiveTheQualityOfService) {
  const auto qos = [](const std::string& container) {
    return std::string(qos_class(pod_with("[" + container + "]")));
  };
  EXPECT_EQ(qos("{}"), "BestEffort");
  EXPECT_EQ(qos(asks(R"("cpu":"1")")), "Burstable");
  EXPECT_EQ(qos(asks(R"("nvidia.com/gpu":1)")), "BestEffort");
  EXPECT_EQ(qos(R"({"resources":{"limits":{"cpu":1,"memory":"1Gi"},
                                 "requests":{"cpu":"1000m","memory":"1024Mi"}}})"),
            "Guaranteed");
  EXPECT_EQ(qos(R"({"resources":{"limits":{"cpu":2,"memory":"1Gi"},
                                 "requests":{"cpu":"1","memory":"1Gi"}}})"),
            "Burstable");
}

TEST(PodSubmit, AsksForWhatTheContainersNeed) {
  const Value pod = json(R"({"metadata":{"name":"train","namespace":"team",
      "annotations":{"drover.dev/gpu":"gpu_memory>=16GB"}},
    "spec":{"nodeSelector":{"disk":"ssd"},"nodeName":"n7","tolerations":[
      {"key":"k","operator":"Equal","value":"v","effect":"NoSchedule"},{"operator":"Exists"}],
      "containers":[{"resources":{"requests":{"cpu":"1200m","memory":"1.5Gi","nvidia.com/gpu":"2",
      "ephemeral-storage":"1Gi"}}}]}})");
  const Submit submit = submit_of(pod, {.account = "team", .partition = "main", .priority = 50});
  EXPECT_EQ(submit.name, "train");
  EXPECT_EQ(submit.account, "team");
  EXPECT_EQ(submit.partitions, "main");
  EXPECT_TRUE(submit.pod);
  EXPECT_FALSE(submit.requeue);
  EXPECT_FALSE(submit.limit);
  EXPECT_EQ(submit.priority, 1050);
  const Request& request = submit.request;
  EXPECT_EQ(request.max_nodes, 1U);
  EXPECT_EQ(request.cpus_per_task, 0U);
  EXPECT_EQ(request.cpu_milli, 1200U);
  EXPECT_EQ(request.memory_rule, MemoryRule::per_node);
  EXPECT_EQ(request.memory, Bytes::of(3LL << 29));
  EXPECT_EQ(request.disk, gibibytes(1));
  EXPECT_EQ(request.gpus_per_node, (std::vector<GpuAsk>{{.model = "", .count = 2}}));
  EXPECT_EQ(request.gpu_condition, "gpu_memory>=16GB");
  ASSERT_EQ(request.labels.size(), 1U);
  EXPECT_EQ(request.labels[0].all,
            (std::vector<LabelTerm>{{.key = "disk", .values = {"ssd"}},
                                    {.key = "kubernetes.io/hostname", .values = {"n7"}}}));
  EXPECT_EQ(request.tolerations,
            (std::vector<Toleration>{{.key = "k", .value = "v", .effect = TaintEffect::no_schedule},
                                     {.exists = true},
                                     {.exists = true, .effect = TaintEffect::no_schedule}}));
}

TEST(PodSubmit, AsksForNothingWhenThePodDoesNot) {
  const Submit submit = submit_of(pod_with("[{}]"), {});
  EXPECT_EQ(submit.request.cpus_per_task, 0U);
  EXPECT_EQ(submit.request.cpu_milli, 0U);
  EXPECT_EQ(submit.request.memory, Bytes{});
  EXPECT_TRUE(submit.request.gpus_per_node.empty());
  EXPECT_TRUE(submit.request.labels.empty());
  EXPECT_FALSE(submit.priority);
  // Below the least priority there is a hold.
  EXPECT_EQ(submit_of(pod_with("[{}]"), {.priority = -5000}).priority, 1);
}

TEST(PodPlacement, PutsTheSelectorIntoEachAlternative) {
  const Value pod = pod_with("[]", R"(,"nodeSelector":{"a":"b"},"affinity":{"nodeAffinity":
    {"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"gpu-memory","operator":"Gt","values":["15"]},
                           {"key":"x","operator":"DoesNotExist"}]},
      {"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]},{}]}}})");
  const LabelTerm common{.key = "a", .values = {"b"}};
  const std::vector<LabelTerms> want{
      {.all = {{.key = "gpu-memory", .op = LabelOp::greater, .values = {"15"}},
               {.key = "x", .op = LabelOp::not_exists},
               common}},
      {.all = {{.key = "kubernetes.io/hostname", .values = {"n1"}}, common}}};
  EXPECT_EQ(label_terms_of(pod), want);
}

TEST(PodTerms, SayWhomTheyMean) {
  const Value pod = json(R"({"metadata":{"name":"p","namespace":"ns","labels":{"v":"2"}},"spec":{
    "affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
        {"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"db"}},"matchLabelKeys":["v"]},
        {"topologyKey":"zone"}]},
      "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
        {"topologyKey":"host","labelSelector":{},"namespaceSelector":{"matchLabels":{"t":"x"}}},
        {"topologyKey":"host","labelSelector":{},"namespaces":["other"]}]}},
    "topologySpreadConstraints":[
      {"topologyKey":"zone","maxSkew":2,"minDomains":3,"whenUnsatisfiable":"DoNotSchedule",
       "nodeTaintsPolicy":"Honor","labelSelector":{"matchLabels":{"app":"db"}}},
      {"topologyKey":"rack","maxSkew":1,"whenUnsatisfiable":"ScheduleAnyway"}]}})");
  Request request;
  add_pod_terms(request, pod);
  const LabelTerm db{.key = "app", .values = {"db"}};
  ASSERT_EQ(request.near.size(), 2U);
  EXPECT_EQ(request.near[0].pods,
            (PodSelector{.labels = {db, {.key = "v", .values = {"2"}}}, .spaces = {"ns"}}));
  EXPECT_EQ(request.near[1].pods.labels, std::vector<LabelTerm>{{}});  // no selector means nobody
  ASSERT_EQ(request.apart.size(), 2U);
  EXPECT_EQ(request.apart[0].pods,
            (PodSelector{.by_space_labels = true, .space_labels = {{.key = "t", .values = {"x"}}}}));
  EXPECT_EQ(request.apart[1].pods, (PodSelector{.spaces = {"other"}}));
  ASSERT_EQ(request.spread.size(), 1U);
  EXPECT_EQ(request.spread[0], (SpreadTerm{.key = "zone",
                                           .pods = {.labels = {db}, .spaces = {"ns"}},
                                           .max_skew = 2,
                                           .min_domains = 3,
                                           .usable_nodes = true}));
}

}  // namespace
}  // namespace drover::kube
