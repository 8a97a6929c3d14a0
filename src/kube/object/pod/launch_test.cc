#include <gtest/gtest.h>

#include <map>

#include "kube/json/parse.h"
#include "kube/object/pod/launch.h"
#include "kube/object/pod/launch/expand.h"
#include "kube/schema/base64.h"

namespace drover::kube {
namespace {

Value json(std::string_view text) {
  auto value = parse(text);
  EXPECT_TRUE(value) << (value ? "" : value.error().message) << text;
  return value ? *value : Value();
}

FindObject known(std::map<std::string, std::string, std::less<>> objects) {
  return [objects = std::move(objects)](std::string_view name) -> std::optional<Value> {
    const auto at = objects.find(name);
    return at == objects.end() ? std::nullopt : std::optional(json(at->second));
  };
}

LaunchLookups lookups() {
  return {.config_map = known({{"cm", R"({"data":{"K":"v","other-key":"w"},
                                          "binaryData":{"bin":"AAE="}})"}}),
          .secret = known({{"sec", R"({"data":{"P":"c2VjcmV0"}})"}}),
          .device_uuids = {"GPU-a", "GPU-b", "GPU-c"},
          .memory = gibibytes(1),
          .user = 1000,
          .group = 100,
          .node_name = "n1",
          .host_ip = "10.0.0.1",
          .node_cpu_milli = 4000,
          .node_memory = 8LL << 30};
}

PodLaunch launched(const std::string& spec, const LaunchLookups& with = lookups()) {
  const auto launch = launch_of(
      json(R"({"metadata":{"name":"p","namespace":"ns","uid":"u-1","labels":{"l":"x","a":"1"},
               "annotations":{"n":"y"}},"spec":{)" +
           spec + "}}"),
      with);
  EXPECT_TRUE(launch);
  return launch ? *launch : PodLaunch{};
}

std::vector<std::string> environment(const std::string& env, std::string* error = nullptr) {
  const PodLaunch launch = launched(R"("containers":[{"name":"c","image":"i",
    "resources":{"limits":{"cpu":"1500m","memory":"64Mi"}},)" +
                                    env + "}]");
  if (error != nullptr) *error = launch.containers.at(0).error;
  return launch.containers.at(0).environment;
}
using Lines = std::vector<std::string>;

TEST(Expand, KnowsKubernetesEscapes) {
  Variables variables;
  variables.set("A", "1");
  variables.set("B", "$(A)");
  struct Case {
    const char* text;
    const char* want;
  };
  for (const Case& c :
       {Case{"x$(A)y", "x1y"}, Case{"$(B)", "$(A)"}, Case{"$(NONE)", "$(NONE)"},
        Case{"$$(A)", "$(A)"}, Case{"$$$(A)", "$1"}, Case{"$A", "$A"}, Case{"$", "$"},
        Case{"$(A", "$(A"}, Case{"$()", "$()"}, Case{"a$$", "a$"}, Case{"$(A)$(A)", "11"}}) {
    EXPECT_EQ(expand(c.text, variables), c.want) << c.text;
  }
}

TEST(Base64, GoesThereAndBack) {
  for (const char* text : {"", "a", "ab", "abc", "abcd", "secret"}) {
    EXPECT_EQ(from_base64(to_base64(text)), text);
  }
  EXPECT_EQ(to_base64("secret"), "c2VjcmV0");
  EXPECT_EQ(from_base64("c2Vj\ncmV0\n"), "secret");
  for (const char* text : {"a", "ab=c", "====", "a===", "ab==cd==", "a b=", "c2VjcmV0="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

TEST(Environment, TakesValuesFromEverywhere) {
  EXPECT_EQ(environment(R"j("envFrom":[{"prefix":"X_","configMapRef":{"name":"cm"}},
                                      {"secretRef":{"name":"sec"}}],
      "env":[{"name":"A","value":"1"},{"name":"B","value":"$(A)-$(P)-$(LATER)"},
             {"name":"C","valueFrom":{"configMapKeyRef":{"name":"cm","key":"K"}}},
             {"name":"D","valueFrom":{"secretKeyRef":{"name":"sec","key":"P"}}},
             {"name":"E","valueFrom":{"configMapKeyRef":{"name":"cm","key":"no","optional":true}}},
             {"name":"A","value":"2"}])j"),
            (Lines{"X_K=v", "X_other-key=w", "P=secret", "A=2", "B=1-secret-$(LATER)", "C=v",
                   "D=secret"}));
}

TEST(Environment, KnowsThePodItself) {
  const auto field = [](const std::string& path) {
    const Lines lines = environment(R"("env":[{"name":"F","valueFrom":{"fieldRef":{"fieldPath":")" +
                                    path + R"("}}}])");
    return lines.empty() ? "none" : lines[0].substr(2);
  };
  EXPECT_EQ(field("metadata.name"), "p");
  EXPECT_EQ(field("metadata.namespace"), "ns");
  EXPECT_EQ(field("metadata.uid"), "u-1");
  EXPECT_EQ(field("metadata.labels['l']"), "x");
  EXPECT_EQ(field("metadata.annotations['n']"), "y");
  EXPECT_EQ(field("metadata.labels['nosuch']"), "");
  EXPECT_EQ(field("spec.nodeName"), "n1");
  EXPECT_EQ(field("status.hostIP"), "10.0.0.1");
  EXPECT_EQ(field("status.podIP"), "10.0.0.1");
  EXPECT_EQ(field("spec.nosuch"), "none");
  const auto amount = [](const std::string& ref) {
    return environment(R"("env":[{"name":"F","valueFrom":{"resourceFieldRef":{)" + ref + "}}}]")[0]
        .substr(2);
  };
  EXPECT_EQ(amount(R"("resource":"limits.cpu")"), "2");
  EXPECT_EQ(amount(R"("resource":"limits.cpu","divisor":"1m")"), "1500");
  EXPECT_EQ(amount(R"("resource":"limits.memory","divisor":"1Mi")"), "64");
  EXPECT_EQ(amount(R"("resource":"limits.memory","divisor":"0")"), std::to_string(64 << 20));
  EXPECT_EQ(amount(R"("resource":"requests.cpu")"), "0");
}

TEST(Environment, SaysWhatIsMissing) {
  struct Case {
    const char* env;
    const char* error;
  };
  for (const Case& c :
       {Case{R"("env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"x","key":"k"}}}])",
             "configmap \"x\" not found"},
        Case{R"("env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"cm","key":"k"}}}])",
             "couldn't find key k in ConfigMap ns/cm"},
        Case{R"("env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"sec","key":"k"}}}])",
             "couldn't find key k in Secret ns/sec"},
        Case{R"("envFrom":[{"secretRef":{"name":"y"}}])", "secret \"y\" not found"},
        Case{R"("envFrom":[{"secretRef":{"name":"y","optional":true}}])", ""}}) {
    std::string error;
    (void)environment(c.env, &error);
    EXPECT_EQ(error, c.error) << c.env;
  }
}

std::string files_of(const PodVolume& volume) {
  std::string text;
  for (const PodFile& file : volume.files) {
    text += file.path + "=" + file.bytes + "(" + std::to_string(file.mode) + ") ";
  }
  return text;
}

TEST(Launch, FillsVolumes) {
  const PodLaunch launch = launched(R"("containers":[{"name":"c","image":"i"}],"volumes":[
    {"name":"e","emptyDir":{"sizeLimit":"1Gi"}},{"name":"m","emptyDir":{"medium":"Memory"}},
    {"name":"c","configMap":{"name":"cm","items":[{"key":"K","path":"d/f","mode":384}]}},
    {"name":"s","secret":{"secretName":"sec","defaultMode":256}},
    {"name":"p","projected":{"defaultMode":292,"sources":[{"secret":{"name":"sec"}},
       {"downwardAPI":{"items":[{"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}},
         {"path":"mem","resourceFieldRef":{"containerName":"c","resource":"limits.memory",
           "divisor":"1Gi"}}]}}]}},
    {"name":"b","configMap":{"name":"cm"}},
    {"name":"h","hostPath":{"path":"/data","type":"Directory"}}])");
  ASSERT_EQ(launch.volumes.size(), 7U);
  EXPECT_EQ(launch.volumes[0].size_limit, gibibytes(1));
  EXPECT_EQ(launch.volumes[1].kind, VolumeKind::memory);
  EXPECT_EQ(files_of(launch.volumes[2]), "d/f=v(384) ");
  EXPECT_EQ(files_of(launch.volumes[3]), "P=secret(256) ");
  EXPECT_EQ(files_of(launch.volumes[4]), "P=secret(292) labels=a=\"1\"\nl=\"x\"(292) mem=8(292) ");
  EXPECT_EQ(launch.volumes[5].files.size(), 3U);
  EXPECT_EQ(launch.volumes[5].files[2].bytes, std::string("\0\1", 2));
  EXPECT_EQ(launch.volumes[6].host_path, "/data");
  EXPECT_EQ(launch.volumes[6].host_type, "Directory");
}

TEST(Launch, BlamesAMissingVolumeOnThoseThatMountIt) {
  const PodLaunch launch = launched(R"("containers":[
      {"name":"a","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]},
      {"name":"b","image":"i","volumeMounts":[{"name":"o","mountPath":"/o"}]}],
    "volumes":[{"name":"v","secret":{"secretName":"x"}},
               {"name":"o","configMap":{"name":"x","optional":true}}])");
  EXPECT_EQ(launch.containers[0].error, "secret \"x\" not found");
  EXPECT_EQ(launch.containers[1].error, "");
}

TEST(Launch, SharesTheDevicesInOrder) {
  const std::string gpus = R"("resources":{"limits":{"nvidia.com/gpu":)";
  const PodLaunch launch =
      launched(R"("initContainers":[{"name":"side","restartPolicy":"Always",)" + gpus + R"("1"}}},
         {"name":"init",)" +
               gpus + R"("2"}}}],
         "containers":[{"name":"a",)" +
               gpus + R"("1"}}},{"name":"none"},{"name":"b",)" + gpus + R"("1"}}}])");
  const auto devices = [&](std::size_t i) { return launch.containers.at(i).device_uuids; };
  EXPECT_EQ(devices(0), (Lines{"GPU-a"}));
  EXPECT_EQ(devices(1), (Lines{"GPU-b", "GPU-c"}));
  EXPECT_EQ(devices(2), (Lines{"GPU-b"}));
  EXPECT_EQ(devices(3), Lines{});
  EXPECT_EQ(devices(4), (Lines{"GPU-c"}));
  EXPECT_TRUE(launch.containers[0].sidecar);
  EXPECT_TRUE(launch.containers[1].init);
  EXPECT_FALSE(launch.containers[2].init);
}

TEST(Launch, ReadsTheContainer) {
  const PodLaunch launch =
      launched(R"j("restartPolicy":"OnFailure","terminationGracePeriodSeconds":5,
    "activeDeadlineSeconds":60,"hostname":"h","hostAliases":[{"ip":"1.2.3.4","hostnames":["a","b"]}],
    "securityContext":{"runAsUser":7,"fsGroup":9,"supplementalGroups":[11],"runAsNonRoot":true},
    "containers":[{"name":"c","image":"i","imagePullPolicy":"Never","command":["sh","$(A)"],
      "args":["$(NOT)"],"workingDir":"/w","env":[{"name":"A","value":"x"}],
      "ports":[{"name":"web","containerPort":8080}],
      "livenessProbe":{"httpGet":{"port":"web","path":"/ok","scheme":"HTTPS",
        "httpHeaders":[{"name":"H","value":"v"}]},"periodSeconds":3},
      "readinessProbe":{"tcpSocket":{"port":81}},
      "startupProbe":{"exec":{"command":["true"]},"failureThreshold":30},
      "lifecycle":{"postStart":{"exec":{"command":["up"]}},"preStop":{"sleep":{"seconds":2}}},
      "terminationMessagePolicy":"FallbackToLogsOnError","stdin":true,"tty":true,
      "securityContext":{"runAsUser":8,"readOnlyRootFilesystem":true,
        "allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}},
      "volumeMounts":[{"name":"v","mountPath":"/m","subPath":"s","readOnly":true}],
      "resources":{"requests":{"cpu":"100m"},"limits":{"cpu":"2","memory":"1Gi"}}}],
    "volumes":[{"name":"v","emptyDir":{}}])j");
  EXPECT_EQ(launch.restart, RestartPolicy::on_failure);
  EXPECT_EQ(launch.grace, seconds(5));
  EXPECT_EQ(launch.deadline, seconds(60));
  EXPECT_EQ(launch.host_name, "h");
  EXPECT_EQ(launch.host_aliases, (Lines{"1.2.3.4\ta\tb"}));
  EXPECT_EQ(launch.user, 1000U);
  EXPECT_EQ(launch.fs_group, 9);
  EXPECT_EQ(launch.more_groups, (std::vector<std::uint32_t>{11}));
  const PodContainer& c = launch.containers.at(0);
  EXPECT_EQ(c.pull, PullPolicy::never);
  EXPECT_EQ(c.command, (Lines{"sh", "x"}));
  EXPECT_EQ(c.arguments, (Lines{"$(NOT)"}));
  EXPECT_EQ(c.work_dir, "/w");
  ASSERT_TRUE(c.liveness);
  EXPECT_EQ(c.liveness->kind, ProbeKind::http);
  EXPECT_EQ(c.liveness->port, 8080U);
  EXPECT_TRUE(c.liveness->https);
  EXPECT_EQ(c.liveness->headers, (Lines{"H: v"}));
  EXPECT_EQ(c.liveness->period, seconds(3));
  EXPECT_EQ(c.readiness->port, 81U);
  EXPECT_EQ(c.startup->failures, 30U);
  EXPECT_EQ(c.startup->command, (Lines{"true"}));
  EXPECT_EQ(c.after_start, (Lines{"up"}));
  EXPECT_EQ(c.before_stop_sleep, seconds(2));
  EXPECT_TRUE(c.message_from_log && c.input && c.terminal);
  EXPECT_EQ(c.security.user, 8);
  EXPECT_TRUE(c.security.must_not_be_root && c.security.read_only_root);
  EXPECT_FALSE(c.security.may_gain_privileges);
  EXPECT_EQ(c.security.drop_capabilities, (Lines{"ALL"}));
  EXPECT_EQ(
      c.mounts,
      (std::vector<PodMount>{{.volume = "v", .path = "/m", .sub_path = "s", .read_only = true}}));
  EXPECT_EQ(c.cpu_request_milli, 100);
  EXPECT_EQ(c.cpu_limit_milli, 2000);
  EXPECT_EQ(c.memory_limit, gibibytes(1));
}

TEST(Launch, CutsALongHostName) {
  const auto launch = launch_of(json(R"({"metadata":{"name":")" + std::string(62, 'a') +
                                     R"(-b"},"spec":{"containers":[{}]}})"),
                                {});
  EXPECT_EQ(launch->host_name, std::string(62, 'a'));
  EXPECT_FALSE(launch_of(json("{}"), {}));
}

}  // namespace
}  // namespace drover::kube
