// Every function over every body: a member of a wrong kind is refused or passed over, never a
// crash.
#include <gtest/gtest.h>

#include "domain/cluster.h"
#include "kube/json/parse.h"
#include "kube/object/columns/columns.h"
#include "kube/object/kinds/kinds.h"
#include "kube/object/node/node_object.h"
#include "kube/object/pod/defaults.h"
#include "kube/object/pod/launch.h"
#include "kube/object/pod/status.h"
#include "kube/object/pod/submit.h"
#include "kube/object/pod/validate.h"

namespace drover::kube {
namespace {

constexpr const char* kRich =
    R"j({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns",
  "labels":{"a":"b"},"annotations":{"drover.dev/gpu":"gpu_memory>=1GB"},"finalizers":["a/b"],
  "ownerReferences":[{"apiVersion":"v1","kind":"X","name":"x","uid":"1","controller":true}]},
 "spec":{"nodeName":"n1","nodeSelector":{"k":"v"},"restartPolicy":"Never","priority":1,
  "activeDeadlineSeconds":5,"terminationGracePeriodSeconds":1,"overhead":{"cpu":"1m"},
  "hostAliases":[{"ip":"1.1.1.1","hostnames":["h"]}],"securityContext":{"runAsUser":1,"fsGroup":1,
    "supplementalGroups":[1],"seccompProfile":{"type":"RuntimeDefault"}},
  "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
    {"matchExpressions":[{"key":"a","operator":"In","values":["b"]}],
     "matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}},
    "podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{}],
      "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","namespaces":["n"],
        "labelSelector":{"matchLabels":{"a":"b"},"matchExpressions":[
          {"key":"k","operator":"In","values":["v"]}]},"namespaceSelector":{},
        "matchLabelKeys":["a"],"mismatchLabelKeys":["b"]}]}},
  "tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":3}],
  "topologySpreadConstraints":[{"whenUnsatisfiable":"ScheduleAnyway","topologyKey":"z"},
    {"whenUnsatisfiable":"DoNotSchedule","topologyKey":"z","maxSkew":1,"minDomains":1,
     "labelSelector":{},"nodeTaintsPolicy":"Honor","matchLabelKeys":["a"]}],
  "initContainers":[{"name":"i","image":"i","restartPolicy":"Always"}],
  "containers":[{"name":"c","image":"i","command":["$(A)"],"args":["x"],
    "env":[{"name":"A","value":"x"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
      {"name":"C","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1m"}}},
      {"name":"D","valueFrom":{"configMapKeyRef":{"name":"m","key":"k"}}}],
    "envFrom":[{"prefix":"P","secretRef":{"name":"s"}}],
    "ports":[{"name":"web","containerPort":80,"hostPort":80}],
    "livenessProbe":{"httpGet":{"port":"web","httpHeaders":[{"name":"a","value":"b"}]}},
    "readinessProbe":{"exec":{"command":["x"]}},"startupProbe":{"tcpSocket":{"port":80}},
    "lifecycle":{"postStart":{"exec":{"command":["x"]}},"preStop":{"sleep":{"seconds":1}}},
    "resources":{"limits":{"cpu":"1","memory":"1Gi","nvidia.com/gpu":1},"requests":{"cpu":"1"}},
    "securityContext":{"capabilities":{"drop":["ALL"]},"privileged":false},
    "volumeMounts":[{"name":"v","mountPath":"/v","subPath":"s"}]}],
  "volumes":[{"name":"v","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}},
    {"name":"c","configMap":{"name":"m","defaultMode":420,"items":[{"key":"k","path":"p","mode":1}]}},
    {"name":"p","projected":{"sources":[{"secret":{"name":"s"}},{"downwardAPI":{"items":[
      {"path":"l","fieldRef":{"fieldPath":"metadata.labels"}}]}}]}},
    {"name":"h","hostPath":{"path":"/x"}}],"hostNetwork":true,"taints":[{"key":"k","effect":"NoExecute"}]},
 "status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],
  "initContainerStatuses":[{"name":"i","state":{"running":{}},"started":true}],
  "containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1}},"lastState":{}}]},
 "data":{"k":"eA=="},"stringData":{"z":"y"},"type":"Opaque","value":3,"involvedObject":{"name":"p"},
 "series":{"count":1}})j";

void use(const Value& body) {
  Value pod = body;
  const PodRules rules{.user = 1000, .group = 100};
  default_pod(pod, rules, PriorityChoice{.name = "c", .value = 1});
  (void)validate_pod(pod, rules);
  (void)validate_pod_update(body, pod);
  (void)submit_of(pod, {});
  const FindObject find = [&body](std::string_view) -> std::optional<Value> { return body; };
  (void)launch_of(pod, {.config_map = find, .secret = find, .device_uuids = {"GPU-a"}});
  render_pod(pod, Cluster{}, Job{}, {.waits = "x"});
  unrender_pod(pod, body);
  for (const char* kind : {"Pod", "Node", "Event", "Namespace", "ConfigMap", "Secret",
                           "ServiceAccount", "PriorityClass", "Lease", "Other"}) {
    (void)table_of(kind).row(body, Instant{});
    const KindRules* of_kind = kind_rules(kind);
    if (of_kind == nullptr) continue;
    Value object = body;
    fill_defaults(*of_kind, object);
    (void)check_object(*of_kind, object);
    (void)check_object_update(*of_kind, body, object);
  }
  (void)check_node_update(body, body);
  (void)node_change(Node{}, body, body);
}

// Calls `visit` for each value below `here`, which it may change and must put back.
template <class Visit>
void each_place(Value& here, Visit visit) {
  visit(here);
  if (Object* object = here.if_object()) {
    for (auto& entry : *object) each_place(entry.value(), visit);
  } else if (Array* array = here.if_array()) {
    for (Value& item : *array) each_place(item, visit);
  }
}

TEST(Robust, NoMemberOfAWrongKindDoesHarm) {
  auto parsed = parse(kRich);
  ASSERT_TRUE(parsed) << parsed.error().message;
  Value body = *parsed;
  const Value wrong[] = {nullptr,
                         true,
                         -1,
                         1e300,
                         "",
                         "x",
                         Array{},
                         Array{nullptr},
                         Object{},
                         Array{Object{}},
                         Object{{"a", nullptr}}};
  int places = 0;
  each_place(body, [&](Value& place) {
    const Value good = place;
    for (const Value& bad : wrong) {
      place = bad;
      use(body);
      place = good;
    }
    ++places;
  });
  EXPECT_GT(places, 150);
}

}  // namespace
}  // namespace drover::kube
