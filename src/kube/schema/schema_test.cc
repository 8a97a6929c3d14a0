#include "kube/schema/schema.h"

#include <gtest/gtest.h>

#include <array>

#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/schema/base64.h"
#include "kube/schema/conform.h"
#include "kube/schema/read.h"
#include "kube/schema/time_text.h"

namespace drover::kube {
namespace {

const Message& pod() { return *Schema::built_in().kind("v1", "Pod"); }

TEST(Schema, KnowsTheKinds) {
  const Schema& schema = Schema::built_in();
  for (const auto& [version, kind] : {std::pair{"v1", "Pod"},
                                      {"v1", "Node"},
                                      {"v1", "Namespace"},
                                      {"v1", "Event"},
                                      {"v1", "ConfigMap"},
                                      {"v1", "Secret"},
                                      {"v1", "ServiceAccount"},
                                      {"v1", "Binding"},
                                      {"v1", "Service"},
                                      {"v1", "Endpoints"},
                                      {"v1", "PersistentVolumeClaim"},
                                      {"coordination.k8s.io/v1", "Lease"},
                                      {"scheduling.k8s.io/v1", "PriorityClass"},
                                      {"policy/v1", "Eviction"},
                                      {"policy/v1", "PodDisruptionBudget"},
                                      {"events.k8s.io/v1", "Event"},
                                      {"autoscaling/v1", "Scale"},
                                      {"metrics.k8s.io/v1beta1", "PodMetrics"},
                                      {"authentication.k8s.io/v1", "SelfSubjectReview"},
                                      {"authorization.k8s.io/v1", "SelfSubjectAccessReview"},
                                      {"policy/v1", "DeleteOptions"},
                                      {"v1", "Status"}}) {
    EXPECT_NE(schema.kind(version, kind), nullptr) << version << " " << kind;
  }
  EXPECT_EQ(schema.kind("v1", "PodSpec"), nullptr);
  EXPECT_EQ(schema.kind("v2", "Pod"), nullptr);
  EXPECT_EQ(schema.kind("v1", "Event")->full_name, "io.k8s.api.core.v1.Event");
  EXPECT_EQ(schema.kind("events.k8s.io/v1", "Event")->full_name, "io.k8s.api.events.v1.Event");
}

TEST(Schema, KnowsFieldsByNameAndNumber) {
  const Field* spec = pod().find("spec");
  ASSERT_NE(spec, nullptr);
  const Field* containers = spec->message->find("containers");
  ASSERT_NE(containers, nullptr);
  EXPECT_TRUE(containers->required);
  EXPECT_EQ(containers->merge_key, "name");
  EXPECT_EQ(containers->list, ListKind::map);
  EXPECT_EQ(containers->message->name, "Container");
  EXPECT_EQ(containers->message->find(9)->name, "volumeMounts");
  EXPECT_EQ(containers->message->find(99), nullptr);
  EXPECT_EQ(containers->message->find("ports")->list_keys,
            (std::vector<std::string_view>{"containerPort", "protocol"}));
  // Inlined: a volume's source and a probe's handler are members of the object around.
  EXPECT_EQ(spec->message->find("volumes")->message->find("emptyDir")->message->name,
            "EmptyDirVolumeSource");
  EXPECT_EQ(spec->message->find("volumes")->message->find("volumeSource"), nullptr);
  EXPECT_NE(containers->message->find("livenessProbe")->message->find("httpGet"), nullptr);
}

TEST(Schema, SaysWhatIsWrongWithAFile) {
  const auto refusal = [](std::string_view text) {
    const std::array texts{text};
    const auto read = read_schema(texts);
    return read ? std::string("none") : read.error().message;
  };
  EXPECT_EQ(refusal("group a/v1 io.a.v1\nmessage A\n  b 1 string"), "none");
  EXPECT_EQ(refusal("message A"), "line 1: a message before its group: A");
  EXPECT_EQ(refusal("group a/v1 io.a.v1\nmessage A\n  b x string"),
            "line 3: not a field number: x");
  EXPECT_EQ(refusal("group a/v1 io.a.v1\nmessage A\n  b 1 string what"),
            "line 3: unknown word: what");
  EXPECT_EQ(refusal("group a/v1 io.a.v1\nmessage A\n  b 1 B"), "there is no message io.a.v1.B");
  EXPECT_EQ(refusal("group a/v1 io.a.v1\nmessage A\nmessage A"),
            "line 3: twice the same message: io.a.v1.A");
  EXPECT_EQ(refusal("group a/v1 io.a.v1\nmessage A\n  b 1 string\n  c 1 string"),
            "twice the same field: io.a.v1.A");
  EXPECT_EQ(refusal("group a/v1 io.a.v1\nmessage A\n  b 1 A inline"),
            "inlined too deep: io.a.v1.A");
  EXPECT_EQ(refusal("what"), "line 1: not a group, kind or message: what");
}

std::string conformed(std::string_view json, FieldProblems* problems = nullptr) {
  Value value = *parse(json);
  FieldProblems own;
  const Status status = conform(value, pod(), problems == nullptr ? own : *problems);
  return status ? print(value) : status.error().message;
}

TEST(Conform, DropsWhatTheKindDoesNotHave) {
  FieldProblems problems;
  EXPECT_EQ(
      conformed(
          R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","creationTimestamp":null,"x":1},
      "spec":{"containerz":[],"containers":[{"name":"c","imag":"i"},{"name":"d","image":"i",)"
          R"("ports":[{"containerPor":1}]}],
              "nodeSelector":{"any":"thing"}}})",
          &problems),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c"},)"
      R"({"name":"d","image":"i","ports":[{}]}],"nodeSelector":{"any":"thing"}}})");
  EXPECT_EQ(problems.unknown,
            (std::vector<std::string>{"metadata.x", "spec.containerz", "spec.containers[0].imag",
                                      "spec.containers[1].ports[0].containerPor"}));
  EXPECT_EQ(check_fields(problems, FieldValidation::strict).error().message.substr(0, 50),
            "strict decoding error: unknown field \"metadata.x\",");
}

TEST(Conform, RefusesWrongTypesInTheServersWords) {
  const std::string start = "json: cannot unmarshal ";
  EXPECT_EQ(conformed(R"({"spec":{"containers":"x"}})"),
            start + "string into Go struct field PodSpec.spec.containers of type []v1.Container");
  EXPECT_EQ(conformed(R"({"spec":{"containers":[{"name":1}]}})"),
            start + "number into Go struct field Container.spec.containers.name of type string");
  EXPECT_EQ(conformed(R"({"spec":{"priority":3000000000}})"),
            start + "number into Go struct field PodSpec.spec.priority of type int32");
  EXPECT_EQ(conformed(R"({"spec":{"activeDeadlineSeconds":1.5}})"),
            start + "number into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64");
  EXPECT_EQ(conformed(R"({"spec":{"hostNetwork":"true"}})"),
            start + "string into Go struct field PodSpec.spec.hostNetwork of type bool");
  EXPECT_EQ(conformed(R"({"metadata":{"labels":{"a":1}}})"),
            start + "number into Go struct field ObjectMeta.metadata.labels.a of type string");
  EXPECT_EQ(conformed(R"({"metadata":[]})"),
            start + "array into Go struct field Pod.metadata of type v1.ObjectMeta");
  EXPECT_EQ(conformed("[]"), "the body is no object");
  EXPECT_EQ(conformed(R"({"metadata":{"deletionTimestamp":"soon"}})"),
            "parsing time soon as RFC 3339 failed");
}

TEST(Conform, WritesAmountsAndTimesInOneWay) {
  EXPECT_EQ(
      conformed(R"({"metadata":{"creationTimestamp":"2026-12-01T01:00:00.5+01:00"},
                         "spec":{"overhead":{"cpu":"0.5","memory":1024,"m":"1024Mi"}}})"),
      R"({"metadata":{"creationTimestamp":"2026-12-01T00:00:00Z"},"spec":{"overhead":{"cpu":"500m",)"
      R"("memory":"1024","m":"1Gi"}}})");
  EXPECT_EQ(conformed(R"({"spec":{"overhead":{"cpu":"a lot"}}})").substr(0, 43),
            "quantities must match the regular expressio");
  Value secret = *parse(R"({"data":{"a":"!"}})");
  FieldProblems problems;
  EXPECT_EQ(conform(secret, *Schema::built_in().kind("v1", "Secret"), problems).error().message,
            "illegal base64 data");
}

TEST(TimeText, ReadsAndWrites) {
  EXPECT_EQ(time_text({0, 0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(time_text({1'780'099'445, 9}), "2026-05-30T00:04:05Z");
  EXPECT_EQ(micro_time_text({-1, 5000}), "1969-12-31T23:59:59.000005Z");
  EXPECT_EQ(time_text({std::int64_t{1} << 60, 0}), "");
  EXPECT_EQ(parse_time("2026-05-30T00:04:05Z"), (Moment{1'780'099'445, 0}));
  EXPECT_EQ(parse_time("2026-05-30t02:04:05.000000001+02:00"), (Moment{1'780'099'445, 1}));
  for (const char* bad :
       {"", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-05-30T00:04:05", "2026-05-30",
        "2026-05-30T24:00:00Z", "2026-05-30T00:04:05.Z", "2026-05-30T00:04:05Zx", "x"}) {
    EXPECT_EQ(parse_time(bad), std::nullopt) << bad;
  }
}

TEST(Base64, ThereAndBack) {
  for (const auto& [bytes, text] : {std::pair{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  EXPECT_EQ(from_base64("Zm\n9v"), "foo");
  for (const char* bad : {"Z", "Zg", "Zg=", "Zg=a", "Z===", "!!!!", "Zm9v="})
    EXPECT_FALSE(is_base64(bad)) << bad;
}

}  // namespace
}  // namespace drover::kube
