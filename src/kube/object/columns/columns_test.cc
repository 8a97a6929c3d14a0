#include <gtest/gtest.h>

#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/object/columns/columns.h"
#include "kube/object/times.h"

namespace drover::kube {
namespace {

const Instant kNow = *time_of("2026-11-30T18:42:13Z");

Value json(std::string_view text) {
  auto value = parse(text);
  EXPECT_TRUE(value) << (value ? "" : value.error().message) << text;
  return value ? *value : Value();
}

std::string row(const char* kind, std::string_view object) {
  return print(table_of(kind).row(json(object), kNow));
}

std::string names(const char* kind, bool wide) {
  std::string text;
  for (const Column& column : table_of(kind).columns) {
    if (wide == (column.priority == 1)) text.append(column.name).append(" ");
  }
  return text;
}

TEST(Times, AreRfc3339) {
  EXPECT_EQ(time_text(kNow), "2026-11-30T18:42:13Z");
  EXPECT_EQ(micro_time_text(kNow + milliseconds(7)), "2026-11-30T18:42:13.007000Z");
  EXPECT_EQ(time_of("2026-11-30T18:42:13.5Z"), kNow + milliseconds(500));
  EXPECT_EQ(time_of("2026-11-30T18:42:13.123456789Z"), kNow + milliseconds(123));
  EXPECT_EQ(time_of("2026-11-30T19:42:13+01:00"), kNow);
  EXPECT_EQ(time_text(Instant{}), "1970-01-01T00:00:00Z");
  for (const char* bad : {"", "2026-11-30", "2026-13-30T18:42:13Z", "2026-02-30T18:42:13Z",
                          "2026-11-30T18:42:13", "2026-11-30T25:42:13Z", "2026-11-30T18:42:13.Z",
                          "2026-11-30T18:42:13Zx", "2026-11-30 18:42:13Z"}) {
    EXPECT_FALSE(time_of(bad)) << bad;
  }
}

TEST(Times, AgesAreAsKubectlPrintsThem) {
  struct Case {
    std::int64_t age;
    const char* text;
  };
  for (const Case& c :
       {Case{-2, "<invalid>"}, Case{-1, "0s"}, Case{0, "0s"}, Case{119, "119s"}, Case{120, "2m"},
        Case{192, "3m12s"}, Case{599, "9m59s"}, Case{600, "10m"}, Case{179 * 60, "179m"},
        Case{180 * 60, "3h"}, Case{185 * 60, "3h5m"}, Case{8 * 3600 + 60, "8h"},
        Case{47 * 3600, "47h"}, Case{48 * 3600, "2d"}, Case{123 * 3600, "5d3h"},
        Case{8 * 86400 + 3600, "8d"}, Case{700 * 86400, "700d"}, Case{750 * 86400, "2y20d"},
        Case{3000 * 86400LL, "8y"}}) {
    EXPECT_EQ(duration_text(seconds(c.age)), c.text) << c.age;
  }
  EXPECT_EQ(age_text("", kNow), "<unknown>");
}

// Names, types and cells of golden/kubernetes/api-1.20.txt.
TEST(Columns, AreThoseOfARealServer) {
  EXPECT_EQ(names("Pod", false), "Name Ready Status Restarts Age ");
  EXPECT_EQ(names("Pod", true), "IP Node Nominated Node Readiness Gates ");
  EXPECT_EQ(names("Node", false), "Name Status Roles Age Version ");
  EXPECT_EQ(names("Node", true),
            "Internal-IP External-IP OS-Image Kernel-Version Container-Runtime ");
  EXPECT_EQ(names("Event", false), "Last Seen Type Reason Object Message ");
  EXPECT_EQ(names("Event", true), "Subobject Source First Seen Count Name ");
  EXPECT_EQ(names("Nosuch", false), "Name Age ");
  const Array definitions = column_definitions(table_of("Lease"));
  EXPECT_EQ(print(definitions[0].at("format")), "\"name\"");
  EXPECT_EQ(print(definitions[1].at("priority")), "0");
  for (const char* kind : {"Pod", "Node", "Event", "Namespace", "ConfigMap", "Secret",
                           "ServiceAccount", "PriorityClass", "Lease", "Nosuch"}) {
    const Table& table = table_of(kind);
    EXPECT_EQ(table.row(Object{}, kNow).size(), table.columns.size()) << kind;
  }
}

TEST(Columns, ANodesRow) {
  constexpr const char* kNode = R"({"metadata":{"name":"n1","labels":{},
      "creationTimestamp":"2026-11-30T18:42:10Z"},"spec":{},"status":{
    "conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"True"}],
    "addresses":[{"type":"InternalIP","address":"10.1.0.1"},{"type":"Hostname","address":"n1"}],
    "nodeInfo":{"kubeletVersion":"v1.20.2","osImage":"Debian 12","kernelVersion":"6.1",
      "containerRuntimeVersion":"containerd://1.6.20"}}})";
  EXPECT_EQ(row("Node", kNode),
            R"(["n1","Ready","<none>","3s","v1.20.2","10.1.0.1","<none>","Debian 12","6.1",)"
            R"("containerd://1.6.20"])");
  Value node = json(kNode);
  node.at("spec").get_object()["unschedulable"] = true;
  node.at("status").at("conditions").at(1).get_object()["status"] = "Unknown";
  node.at("metadata").at("labels") =
      Object{{"node-role.kubernetes.io/worker", ""}, {"kubernetes.io/role", "gpu"}};
  const Array cells = table_of("Node").row(node, kNow);
  EXPECT_EQ(print(cells[1]), "\"NotReady,SchedulingDisabled\"");
  EXPECT_EQ(print(cells[2]), "\"gpu,worker\"");
}

TEST(Columns, AnEventsRow) {
  EXPECT_EQ(row("Event", R"({"metadata":{"name":"too-big.18ec"},"type":"Warning",
      "reason":"FailedScheduling","message":"no room\n","eventTime":"2026-11-30T18:42:10.000000Z",
      "involvedObject":{"kind":"Pod","name":"too-big"},"firstTimestamp":null,
      "reportingComponent":"default-scheduler","reportingInstance":"ctl"})"),
            R"(["3s","Warning","FailedScheduling","pod/too-big","","default-scheduler, ctl",)"
            R"("no room","3s",1,"too-big.18ec"])");
  EXPECT_EQ(row("Event", R"({"metadata":{"name":"e"},"series":{"count":4,
      "lastObservedTime":"2026-11-30T18:42:12Z"},"firstTimestamp":"2026-11-30T18:40:13Z",
      "source":{"component":"x"},"involvedObject":{"kind":"Node"}})"),
            R"(["1s","","","node","","x","","2m",4,"e"])");
}

TEST(Columns, RowsOfTheOthers) {
  const std::string meta = R"("metadata":{"name":"x","creationTimestamp":"2026-11-30T18:42:10Z"})";
  EXPECT_EQ(row("Namespace", "{" + meta + R"(,"status":{"phase":"Active"}})"),
            R"(["x","Active","3s"])");
  EXPECT_EQ(row("ConfigMap", "{" + meta + R"(,"data":{"a":"b"},"binaryData":{"c":""}})"),
            R"(["x",2,"3s"])");
  EXPECT_EQ(row("Secret", "{" + meta + R"(,"type":"Opaque","data":{"a":"b"}})"),
            R"(["x","Opaque",1,"3s"])");
  EXPECT_EQ(row("ServiceAccount", "{" + meta + "}"), R"(["x",0,"3s"])");
  EXPECT_EQ(row("PriorityClass",
                "{" + meta + R"(,"value":7,"globalDefault":true,"preemptionPolicy":"Never"})"),
            R"(["x",7,true,"3s","Never"])");
  EXPECT_EQ(row("Lease", "{" + meta + R"(,"spec":{"holderIdentity":"me"}})"), R"(["x","me","3s"])");
  EXPECT_EQ(row("Role", "{" + meta + "}"), R"(["x","3s"])");
}

// READY STATUS RESTARTS of a pod with containers a and b.
std::string pod_cells(const std::string& status, const std::string& meta = "",
                      const std::string& init = "[]") {
  const Array cells = table_of("Pod").row(
      json(R"({"metadata":{"name":"p")" + meta + R"(},"spec":{"initContainers":)" + init +
           R"(,"containers":[{"name":"a"},{"name":"b"}]},"status":{)" + status + "}}"),
      kNow);
  std::string text;
  for (const std::size_t i : {1U, 2U, 3U}) text += std::string(kube::text(&cells[i])) + " ";
  return text;
}

TEST(Columns, APodsStatusIsTheWordThatSaysMost) {
  const std::string on = R"({"name":"a","ready":true,"state":{"running":{}}})";
  const std::string off = R"({"name":"b","ready":false,"state":{"running":{}}})";
  const std::string done =
      R"({"name":"b","state":{"terminated":{"exitCode":0,"reason":"Completed"}}})";
  const auto waits = [](const std::string& why) {
    return R"({"name":"b","restartCount":2,"state":{"waiting":{"reason":")" + why +
           R"("}},"lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-11-30T18:42:03Z"}}})";
  };
  const auto with = [](const std::string& phase, const std::string& statuses,
                       const std::string& more = "") {
    return R"("phase":")" + phase + R"(","containerStatuses":[)" + statuses + "]" + more;
  };
  EXPECT_EQ(pod_cells(R"("phase":"Pending")"), "0/2 Pending 0 ");
  EXPECT_EQ(pod_cells(with("Running", on + "," + off)), "1/2 Running 0 ");
  EXPECT_EQ(pod_cells(with("Running", on + "," + waits("CrashLoopBackOff"))),
            "1/2 CrashLoopBackOff 2 (10s ago) ");
  EXPECT_EQ(pod_cells(with("Running", on + "," + done)), "1/2 NotReady 0 ");
  EXPECT_EQ(pod_cells(with("Running", on + "," + done,
                           R"(,"conditions":[{"type":"Ready","status":"True"}])")),
            "1/2 Running 0 ");
  EXPECT_EQ(pod_cells(with("Succeeded", done)), "0/2 Completed 0 ");
  EXPECT_EQ(pod_cells(with("Failed", R"({"state":{"terminated":{"exitCode":3}}})")),
            "0/2 ExitCode:3 0 ");
  EXPECT_EQ(pod_cells(with("Failed", R"({"state":{"terminated":{"exitCode":137,
                                        "reason":"OOMKilled"}}})")),
            "0/2 OOMKilled 0 ");
  EXPECT_EQ(pod_cells(R"("phase":"Failed","reason":"Evicted")"), "0/2 Evicted 0 ");
  const std::string deleted = R"(,"deletionTimestamp":"2026-11-30T18:42:50Z")";
  EXPECT_EQ(pod_cells(with("Running", on), deleted), "1/2 Terminating 0 ");
  EXPECT_EQ(pod_cells(with("Succeeded", done), deleted), "0/2 Completed 0 ");
  EXPECT_EQ(pod_cells(R"("phase":"Running","reason":"NodeLost")", deleted), "0/2 Unknown 0 ");
}

TEST(Columns, APodThatStartsShowsItsInitContainers) {
  const std::string init = R"([{"name":"i"},{"name":"s","restartPolicy":"Always"}])";
  const auto with = [](const std::string& first, const std::string& second,
                       const std::string& more = "") {
    return R"("phase":"Pending","initContainerStatuses":[)" + first + "," + second + "]" + more;
  };
  const std::string waiting = R"({"name":"x","state":{"waiting":{"reason":"PodInitializing"}}})";
  const std::string over = R"({"name":"i","restartCount":5,"state":{"terminated":{"exitCode":0}}})";
  EXPECT_EQ(pod_cells(with(waiting, waiting), "", init), "0/3 Init:0/2 0 ");
  EXPECT_EQ(pod_cells(with(over, waiting), "", init), "0/3 Init:1/2 5 ");
  EXPECT_EQ(pod_cells(with(R"({"name":"i","state":{"terminated":{"exitCode":2,"reason":"Error"}}})",
                           waiting),
                      "", init),
            "0/3 Init:Error 0 ");
  EXPECT_EQ(
      pod_cells(with(R"({"name":"i","state":{"waiting":{"reason":"ErrImagePull"}}})", waiting), "",
                init),
      "0/3 Init:ErrImagePull 0 ");
  const std::string side =
      R"({"name":"s","restartCount":1,"started":true,"ready":true,"state":{"running":{}}})";
  EXPECT_EQ(
      pod_cells(with(over, side,
                     R"(,"containerStatuses":[{"name":"a","ready":true,"state":{"running":{}}}])"),
                "", init),
      "2/3 Pending 1 ");
}

}  // namespace
}  // namespace drover::kube
