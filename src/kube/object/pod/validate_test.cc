#include <gtest/gtest.h>

#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/object/pod/defaults.h"
#include "kube/object/pod/validate.h"

namespace drover::kube {
namespace {

constexpr PodRules kRoot{.privileged = true};
const PodRules kUser{.user = 1000, .group = 100, .groups = {100, 200}};

Value json(std::string_view text) {
  auto value = parse(text);
  EXPECT_TRUE(value) << (value ? "" : value.error().message) << text;
  return value ? *value : Value();
}

Problems checked(Value pod, const PodRules& rules = kRoot) {
  default_pod(pod, rules, std::nullopt);
  return validate_pod(pod, rules);
}
// What is wrong with a good pod that has these members in its spec, or in its one container.
Problems spec_with(const std::string& members, const PodRules& rules = kRoot) {
  const std::string more = members.empty() ? "" : "," + members;
  return checked(
      json(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}])" + more +
           "}}"),
      rules);
}
std::string spec(const std::string& members, const PodRules& rules = kRoot) {
  return spec_with(members, rules).text();
}
std::string container(const std::string& members, const PodRules& rules = kRoot,
                      const std::string& image = "i") {
  return checked(json(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":")" +
                      image + "\"," + members + R"(}],"volumes":[{"name":"v","emptyDir":{}}]}})"),
                 rules)
      .text();
}

struct Case {
  std::string members;
  std::string text;
};

// The body and the causes of golden/kubernetes/api-1.20.txt, "422 invalid, several causes".
TEST(PodRules, SayAllThatIsWrongAsARealServerDoes) {
  const Problems problems = checked(json(R"({"metadata":{"name":"Bad_Name","labels":{"app":"t"}},
    "spec":{"restartPolicy":"Sometimes","containers":[{"name":"main","command":["sh"],"resources":
      {"limits":{"nvidia.com/gpu":"2","cpu":"1","memory":"1Gi"}}}]}})"));
  const std::string shape =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
      "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
  EXPECT_EQ(problems.text(),
            "[metadata.name: Invalid value: \"Bad_Name\": " + shape +
                ", spec.containers[0].image: Required value, spec.restartPolicy: Unsupported "
                "value: \"Sometimes\": supported values: \"Always\", \"OnFailure\", \"Never\"]");
  const Array causes = problems.causes();
  ASSERT_EQ(causes.size(), 3U);
  EXPECT_EQ(print(causes[1]), R"({"reason":"FieldValueRequired","message":"Required value",)"
                              R"("field":"spec.containers[0].image"})");
}

TEST(PodRules, TakeAPlainPod) {
  EXPECT_EQ(spec(""), "[]");
  EXPECT_EQ(spec("", kUser), "[]");
  EXPECT_TRUE(spec_with("").warnings().empty());
}

TEST(PodRules, CheckContainers) {
  EXPECT_EQ(checked(json(R"({"metadata":{"name":"p"},"spec":{}})")).text(),
            "spec.containers: Required value");
  EXPECT_EQ(spec(R"("initContainers":[{"name":"c","image":"i"}])"),
            "spec.containers[0].name: Duplicate value: \"c\"");
  for (
      const Case& c : {
          Case{R"("command":["a"],"args":["b"],"workingDir":"/w","stdin":true,"tty":true)", "[]"},
          Case{
              R"("imagePullPolicy":"Often")",
              "spec.containers[0].imagePullPolicy: Unsupported value: \"Often\": supported values: "
              "\"Always\", \"IfNotPresent\", \"Never\""},
          Case{R"("ports":[{"containerPort":0}])",
               "spec.containers[0].ports[0].containerPort: Invalid value: 0: must be between 1 and "
               "65535, inclusive"},
          Case{R"("ports":[{"name":"a","containerPort":1},{"name":"a","containerPort":2}])",
               "spec.containers[0].ports[1].name: Duplicate value: \"a\""},
          Case{R"("env":[{"name":"1A","value":"x"}])", ""},
          Case{R"("env":[{"name":"A","valueFrom":{}}])",
               "spec.containers[0].env[0].valueFrom: Invalid value: \"\": must specify one of: "
               "`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"},
          Case{R"("env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.x"}}}])",
               "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "
               "\"spec.x\": supported values: \"metadata.name\", \"metadata.namespace\", "
               "\"metadata.uid\", \"spec.nodeName\", \"spec.serviceAccountName\", "
               "\"status.hostIP\", \"status.hostIPs\", \"status.podIP\", \"status.podIPs\""},
          Case{R"("env":[{"name":"A","valueFrom":{"fileKeyRef":{"path":"x"}}}])",
               "spec.containers[0].env[0].valueFrom.fileKeyRef: Forbidden: drover does not serve "
               "it"},
          Case{R"("envFrom":[{"secretRef":{}}])",
               "spec.containers[0].envFrom[0].secretRef.name: Required value"},
          Case{R"("volumeMounts":[{"name":"v","mountPath":"/v"}])", "[]"},
          Case{R"("volumeMounts":[{"name":"w","mountPath":"/v"}])",
               "spec.containers[0].volumeMounts[0].name: Not found: \"w\""},
          Case{R"("volumeMounts":[{"name":"v","mountPath":"/v"},{"name":"v","mountPath":"/v"}])",
               "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/v\": must be "
               "unique"},
          Case{R"("volumeMounts":[{"name":"v","mountPath":"/v","subPath":"a/../b"}])",
               "spec.containers[0].volumeMounts[0].subPath: Invalid value: \"a/../b\": must not "
               "contain '..'"},
          Case{R"("volumeMounts":[{"name":"v","mountPath":"/v","subPathExpr":"$A"}])",
               "spec.containers[0].volumeMounts[0].subPathExpr: Forbidden: drover does not serve "
               "it"},
          Case{R"("lifecycle":{"preStop":{"httpGet":{"port":1}}})",
               "spec.containers[0].lifecycle.preStop.httpGet: Forbidden: drover runs only commands "
               "here"},
          Case{
              R"("lifecycle":{"postStart":{"exec":{"command":["a"]}},"preStop":{"sleep":{"seconds":1}}})",
              "[]"},
          Case{R"("restartPolicy":"Always")",
               "spec.containers[0].restartPolicy: Forbidden: may not be set for non-init "
               "containers"},
      }) {
    const std::string text = container(c.members);
    if (c.text.empty()) {
      EXPECT_NE(text, "[]") << c.members;
    } else {
      EXPECT_EQ(text, c.text) << c.members;
    }
  }
}

TEST(PodRules, CheckResources) {
  const auto resources = [](const std::string& members) {
    return container(R"("resources":{)" + members + "}");
  };
  const std::string at = "spec.containers[0].resources.";
  EXPECT_EQ(resources(R"("limits":{"nvidia.com/gpu":"2"})"), "[]");
  EXPECT_EQ(resources(R"("requests":{"nvidia.com/gpu":"2"})"),
            at + "limits: Required value: Limit must be set for non overcommitable resources");
  EXPECT_EQ(resources(R"("requests":{"nvidia.com/gpu":1},"limits":{"nvidia.com/gpu":2})"),
            at + "requests: Invalid value: \"1\": must be equal to nvidia.com/gpu limit of 2");
  EXPECT_EQ(resources(R"("limits":{"nvidia.com/gpu":"500m"})").substr(0, 93),
            "[" + at + "limits[nvidia.com/gpu]: Invalid value: \"500m\": must be an integ");
  EXPECT_EQ(
      resources(R"("requests":{"cpu":"2"},"limits":{"cpu":"1500m"})"),
      at + "requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1500m");
  EXPECT_NE(resources(R"("limits":{"cpu":"two"})").find("quantities must match"),
            std::string::npos);
  EXPECT_EQ(resources(R"("requests":{"cpu":"-1"})"),
            at + "requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0");
  EXPECT_NE(resources(R"("limits":{"vpc.amazonaws.com/efa":1})")
                .find("Unsupported value: \"vpc.amazonaws.com/efa\": supported values: \"cpu\", "
                      "\"memory\", \"ephemeral-storage\", \"nvidia.com/gpu\""),
            std::string::npos);
  EXPECT_EQ(resources(R"("claims":[{"name":"x"}])"),
            at + "claims: Forbidden: drover does not serve it");
}

TEST(PodRules, CheckProbes) {
  const auto probe = [](const std::string& members) {
    return container(R"("ports":[{"name":"web","containerPort":80}],"livenessProbe":{)" + members +
                     "}");
  };
  const std::string at = "spec.containers[0].livenessProbe";
  EXPECT_EQ(probe(R"("httpGet":{"port":"web"})"), "[]");
  EXPECT_EQ(probe(R"("httpGet":{"port":"nosuch"})"),
            at + ".httpGet.port: Invalid value: \"nosuch\": must be the name of a port of this "
                 "container");
  EXPECT_EQ(probe(R"("tcpSocket":{"port":70000})"),
            at + ".tcpSocket.port: Invalid value: 70000: must be between 1 and 65535, inclusive");
  EXPECT_EQ(probe(R"("periodSeconds":1)"), at + ": Required value: must specify a handler type");
  EXPECT_EQ(probe(R"("grpc":{"port":1})"), at + ".grpc: Forbidden: drover does not serve it");
  EXPECT_EQ(probe(R"("exec":{"command":["a"]},"successThreshold":2)"),
            at + ".successThreshold: Invalid value: 2: must be 1");
  EXPECT_EQ(probe(R"("exec":{"command":["a"]},"tcpSocket":{"port":1})"),
            at + ".tcpSocket: Forbidden: may not specify more than 1 handler type");
  EXPECT_EQ(spec(R"("initContainers":[{"name":"x","image":"i","readinessProbe":{"exec":
                 {"command":["a"]}}}])"),
            "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers "
            "without restartPolicy=Always");
}

TEST(PodRules, CheckVolumes) {
  const auto volume = [](const std::string& members, const PodRules& rules = kRoot) {
    return spec(R"("volumes":[{"name":"v",)" + members + "}]", rules);
  };
  const std::string at = "spec.volumes[0].";
  EXPECT_EQ(volume(R"("configMap":{"name":"a","items":[{"key":"k","path":"d/f","mode":256}]})"),
            "[]");
  EXPECT_EQ(volume(R"("secret":{})"), at + "secret.secretName: Required value");
  EXPECT_EQ(volume(R"("configMap":{"name":"a","items":[{"key":"k","path":"../f"}]})"),
            at + "configMap.items[0].path: Invalid value: \"../f\": must not contain '..'");
  EXPECT_EQ(volume(R"("configMap":{"name":"a","items":[{"key":"k","path":"/f"}]})"),
            at + "configMap.items[0].path: Invalid value: \"/f\": must be a relative path");
  EXPECT_EQ(volume(R"("secret":{"secretName":"a","defaultMode":512})"),
            at + "secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 "
                 "(octal), both inclusive");
  EXPECT_EQ(volume(R"("emptyDir":{},"hostPath":{"path":"/"})"),
            at + "hostPath: Forbidden: may not specify more than 1 volume type");
  EXPECT_EQ(volume(R"("hostPath":{"path":"/data"})"), "[]");
  EXPECT_EQ(volume(R"("hostPath":{"path":"/data"})", kUser),
            at + "hostPath: Forbidden: only administrators may mount host paths");
  EXPECT_EQ(volume(R"("persistentVolumeClaim":{"claimName":"x"})"),
            at + "persistentVolumeClaim: Forbidden: drover does not serve this kind of volume; it "
                 "has configMap, downwardAPI, emptyDir, hostPath, projected and secret");
  EXPECT_EQ(volume(R"("projected":{"sources":[{"clusterTrustBundle":{"path":"t"}}]})"),
            at + "projected.sources[0].clusterTrustBundle: Forbidden: drover does not serve it");
  EXPECT_EQ(volume(R"("projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]})"), "[]");
  EXPECT_EQ(volume(R"("projected":{"sources":[{"serviceAccountToken":{"path":"../t"}}]})"),
            at + "projected.sources[0].serviceAccountToken.path: Invalid value: \"../t\": must not contain '..'");
  EXPECT_EQ(
      volume(
          R"("downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.labels"}}]})"),
      "[]");
  EXPECT_EQ(spec(R"("volumes":[{"name":"v"},{"name":"v"}])"),
            "spec.volumes[1].name: Duplicate value: \"v\"");
}

TEST(PodRules, CheckWhatItSaysOfOtherPods) {
  const std::string at =
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].";
  const auto term = [&](const std::string& members) {
    const std::string text = spec(R"("affinity":{"podAntiAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{)" +
                                  members + "}]}}");
    return text.starts_with(at) ? text.substr(at.size()) : text;
  };
  EXPECT_EQ(term(R"("topologyKey":"x","labelSelector":{"matchLabels":{"a":"b"}},"namespaces":["n"],
                    "namespaceSelector":{},"matchLabelKeys":["v"])"),
            "[]");
  EXPECT_EQ(term(R"("labelSelector":{})"), "topologyKey: Required value: can not be empty");
  EXPECT_NE(term(R"("topologyKey":"a b")").find("topologyKey: Invalid value: \"a b\""),
            std::string::npos);
  EXPECT_EQ(term(R"("topologyKey":"x","labelSelector":{"matchExpressions":[
                   {"key":"k","operator":"Gt","values":["1"]}]})"),
            "labelSelector.matchExpressions[0].operator: Invalid value: \"Gt\": not a valid "
            "selector operator");
  EXPECT_EQ(term(R"("topologyKey":"x","labelSelector":{"matchExpressions":[
                   {"key":"k","operator":"In"}]})"),
            "labelSelector.matchExpressions[0].values: Required value: must be specified when "
            "`operator` is 'In' or 'NotIn'");
  EXPECT_EQ(term(R"("topologyKey":"x","matchLabelKeys":["v"])"),
            "matchLabelKeys: Forbidden: must not be specified when labelSelector is not set");
  EXPECT_EQ(term(R"("topologyKey":"x","labelSelector":{},"matchLabelKeys":["v"],
                   "mismatchLabelKeys":["v"])"),
            "matchLabelKeys[0]: Invalid value: \"v\": exists in both matchLabelKeys and "
            "mismatchLabelKeys");
}

TEST(PodRules, CheckHowItSpreads) {
  const auto spread = [](const std::string& members) {
    return spec(R"("topologySpreadConstraints":[{)" + members + "}]");
  };
  const std::string at = "spec.topologySpreadConstraints[0].";
  const std::string good = R"("topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",)";
  EXPECT_EQ(spread(good + R"("maxSkew":1,"minDomains":2,"nodeTaintsPolicy":"Honor")"), "[]");
  EXPECT_EQ(spread(good + R"("maxSkew":0)"),
            at + "maxSkew: Invalid value: 0: must be greater than zero");
  EXPECT_EQ(spread(good + R"("maxSkew":1,"minDomains":0)"),
            at + "minDomains: Invalid value: 0: must be greater than zero");
  EXPECT_EQ(spread(R"("topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","maxSkew":1,
                      "minDomains":2)"),
            at + "minDomains: Invalid value: 2: can only use minDomains if "
                 "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway");
  EXPECT_NE(spread(R"("topologyKey":"zone","whenUnsatisfiable":"Never","maxSkew":1)")
                .find(at + "whenUnsatisfiable: Unsupported value: \"Never\""),
            std::string::npos);
  EXPECT_EQ(spec(R"("topologySpreadConstraints":[{)" + good + R"("maxSkew":1},{)" + good +
                 R"("maxSkew":2}])"),
            "spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "
            "\"{zone, DoNotSchedule}\"");
}

TEST(PodRules, CheckWhereItMayRun) {
  const auto affinity = [](const std::string& members) {
    return spec(R"("affinity":{)" + members + "}");
  };
  const std::string required = "requiredDuringSchedulingIgnoredDuringExecution";
  const auto expression = [&](const std::string& one) {
    return affinity(R"("nodeAffinity":{")" + required +
                    R"(":{"nodeSelectorTerms":[{"matchExpressions":[)" + one + "]}]}}");
  };
  EXPECT_EQ(expression(R"({"key":"a","operator":"Gt","values":["15"]})"), "[]");
  EXPECT_EQ(expression(R"({"key":"a","operator":"Near"})"),
            "spec.affinity.nodeAffinity." + required +
                ".nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: \"Near\": not "
                "a valid selector operator");
  EXPECT_NE(expression(R"({"key":"a","operator":"Gt","values":["x"]})"), "[]");
  const Problems preferred = spec_with(
      R"("topologySpreadConstraints":[{"whenUnsatisfiable":"ScheduleAnyway","maxSkew":1,
           "topologyKey":"zone"}],
         "affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{}]}})");
  EXPECT_TRUE(preferred.none());
  EXPECT_EQ(preferred.warnings().size(), 2U);
  EXPECT_EQ(spec(R"("tolerations":[{"key":"k","operator":"Exists","value":"v"}])"),
            "spec.tolerations[0].operator: Invalid value: \"v\": value must be empty when "
            "`operator` is 'Exists'");
  EXPECT_NE(spec(R"("nodeSelector":{"a b":"c"})").find("spec.nodeSelector: Invalid value: \"a b\""),
            std::string::npos);
  const auto annotated = checked(json(R"({"metadata":{"name":"p","annotations":{"drover.dev/gpu":
    "gpu_memory>>1"}},"spec":{"containers":[{"name":"c","image":"i"}]}})"));
  EXPECT_NE(annotated.text().find("metadata.annotations[drover.dev/gpu]: Invalid value: "
                                  "\"gpu_memory>>1\": "),
            std::string::npos);
}

TEST(PodRules, OrdinaryUsersAreThemselves) {
  EXPECT_EQ(spec(R"("securityContext":{"runAsUser":1000,"runAsGroup":200,"fsGroup":100,
                 "supplementalGroups":[200]})",
                 kUser),
            "[]");
  EXPECT_EQ(spec(R"("securityContext":{"runAsUser":0})", kUser),
            "spec.securityContext.runAsUser: Forbidden: you may run as your own user 1000 only");
  EXPECT_EQ(spec(R"("securityContext":{"fsGroup":0})", kUser),
            "spec.securityContext.fsGroup: Forbidden: you aren't a member of that group");
  EXPECT_EQ(spec(R"("securityContext":{"supplementalGroups":[7]})", kUser),
            "spec.securityContext.supplementalGroups[0]: Forbidden: you aren't a member of that "
            "group");
  EXPECT_EQ(spec(R"("hostPID":true,"hostIPC":true)", kUser),
            "[spec.hostPID: Forbidden: only administrators may, spec.hostIPC: Forbidden: only "
            "administrators may]");
  const std::string at = "spec.containers[0].securityContext.";
  for (const Case& c : {Case{R"("privileged":true)", "privileged"},
                        Case{R"("allowPrivilegeEscalation":true)", "allowPrivilegeEscalation"},
                        Case{R"("capabilities":{"add":["SYS_ADMIN"]})", "capabilities.add"}}) {
    const std::string members = R"("securityContext":{)" + c.members + "}";
    EXPECT_NE(container(members, kUser).find(at + c.text + ": Forbidden: only administrators may"),
              std::string::npos)
        << c.members;
    EXPECT_EQ(container(members, kRoot), "[]") << c.members;
  }
  // A number that can't be read would leave the user to the image.
  EXPECT_NE(container(R"("securityContext":{"runAsUser":18446744073709551615})", kUser), "[]");
  EXPECT_NE(container(R"("securityContext":{"runAsUser":"0"})", kUser), "[]");
  EXPECT_EQ(container(R"("securityContext":{"runAsUser":7})", kUser),
            at + "runAsUser: Forbidden: you may run as your own user 1000 only");
  EXPECT_EQ(container(R"("securityContext":{"capabilities":{"drop":["ALL"]},
                         "seccompProfile":{"type":"RuntimeDefault"}})",
                      kUser),
            "[]");
  EXPECT_EQ(container(R"("securityContext":{"seccompProfile":{"type":"Unconfined"}})"),
            at + "seccompProfile: Forbidden: drover serves RuntimeDefault only");
}

TEST(PodRules, NameWhatIsNotServed) {
  for (const char* members :
       {R"("dnsConfig":{"nameservers":["1.1.1.1"]})", R"("readinessGates":[{"conditionType":"x"}])",
        R"("resourceClaims":[{"name":"x"}])", R"("runtimeClassName":"kata")",
        R"("schedulingGates":[{"name":"x"}])", R"("hostUsers":false)",
        R"("ephemeralContainers":[{"name":"d"}])", R"("setHostnameAsFQDN":true)"}) {
    const std::string text = spec(members);
    EXPECT_NE(text.find("Forbidden: drover does not serve it"), std::string::npos)
        << members << text;
  }
  EXPECT_EQ(spec(R"("priority":1000000)"),
            "spec.priority: Forbidden: it comes from the pod's priorityClassName alone");
  EXPECT_EQ(spec(R"("schedulerName":"volcano")"),
            "spec.schedulerName: Unsupported value: \"volcano\": supported values: "
            "\"default-scheduler\", \"drover\"");
  EXPECT_EQ(spec(R"("os":{"name":"windows"})"),
            "spec.os.name: Unsupported value: \"windows\": supported values: \"linux\"");
  EXPECT_EQ(
      container(R"("stdin":true,"livenessProbe":{"exec":{"command":["a"]}})", kRoot, "host"),
      "[spec.containers[0].stdin: Forbidden: a process of the host (image \"host\") can't have "
      "it, spec.containers[0].livenessProbe.exec: Forbidden: a process of the host (image "
      "\"host\") can't have it]");
  EXPECT_EQ(container(R"("readinessProbe":{"tcpSocket":{"port":1}})", kRoot, "host"), "[]");
  EXPECT_EQ(spec(R"("initContainers":[{"name":"h","image":"host"}])"),
            "spec.containers[0].image: Forbidden: a pod is either of images or of the host");
  EXPECT_EQ(spec_with(R"("volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}])").warnings(),
            (std::vector<std::string>{
                "spec.volumes[0].emptyDir.sizeLimit: only that of medium Memory is watched"}));
  const Problems idle = spec_with(R"("imagePullSecrets":[{"name":"r"}],"subdomain":"s")");
  EXPECT_TRUE(idle.none());
  EXPECT_EQ(idle.warnings().front(),
            "spec.imagePullSecrets: images are pulled without credentials");
}

TEST(PodRules, SayWhatComesTooLate) {
  Value was = json(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  default_pod(was, kRoot, std::nullopt);
  Value now = was;
  now.at("spec").at("containers").at(0).get_object()["image"] = "j";
  EXPECT_TRUE(
      validate_pod_update(was, now).warnings().empty());  // the node will be given the new one
  was.at("spec").get_object()["nodeName"] = "n1";
  now.at("spec").get_object()["nodeName"] = "n1";
  now.at("spec").get_object()["activeDeadlineSeconds"] = 5;
  now.at("spec").at("tolerations").get_array().push_back(Object{{"operator", "Exists"}});
  const Problems problems = validate_pod_update(was, now);
  EXPECT_TRUE(problems.none()) << problems.text();
  EXPECT_EQ(problems.warnings().size(), 3U);
}

TEST(PodRules, LetFewThingsChange) {
  Value was = json(R"({"metadata":{"name":"p","uid":"1"},"spec":{"nodeName":"n1",
    "activeDeadlineSeconds":60,"containers":[{"name":"c","image":"i"}]}})");
  default_pod(was, kRoot, std::nullopt);
  const auto changed = [&was](auto change) {
    Value now = was;
    change(now);
    const Problems problems = validate_pod_update(was, now);
    return problems.none() ? std::string() : problems.list().front().text().substr(0, 75);
  };
  const auto set = [](std::string_view path, std::string_view name, Value value) {
    return [=](Value& pod) { at(pod, path)->get_object()[name] = value; };
  };
  EXPECT_EQ(changed([](Value&) {}), "");
  EXPECT_EQ(changed(set("metadata", "labels", Object{{"a", "b"}})), "");
  EXPECT_EQ(changed(set("metadata", "annotations", Object{{"drover.dev/gpu", "gpu_memory>=1GB"}})),
            "metadata.annotations[drover.dev/gpu]: Forbidden: it can't be changed once t");
  EXPECT_EQ(changed(set("spec", "activeDeadlineSeconds", 30)), "");
  EXPECT_EQ(changed(set("spec", "activeDeadlineSeconds", 90)),
            "spec.activeDeadlineSeconds: Invalid value: 90: must be less than or equal t");
  EXPECT_EQ(changed([](Value& pod) {
              pod.at("spec").at("containers").at(0).get_object()["image"] = "j";
            }),
            "");
  EXPECT_EQ(changed([](Value& pod) {
              pod.at("spec").at("containers").at(0).get_object()["command"] = Array{"x"};
            }),
            "spec: Forbidden: pod updates may not change fields other than `spec.contain");
  EXPECT_EQ(changed(set("spec", "nodeName", "n2")),
            "spec: Forbidden: pod updates may not change fields other than `spec.contain");
  EXPECT_EQ(changed([](Value& pod) {
              at(pod, "spec.tolerations")->get_array().push_back(Object{{"operator", "Exists"}});
            }),
            "");
  EXPECT_EQ(changed([](Value& pod) { at(pod, "spec.tolerations")->get_array().clear(); }),
            "spec.tolerations: Forbidden: existing toleration can not be modified except");
}

}  // namespace
}  // namespace drover::kube
