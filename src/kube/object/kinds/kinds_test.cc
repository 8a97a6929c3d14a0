#include <gtest/gtest.h>

#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/object/kinds/kinds.h"

namespace drover::kube {
namespace {

Value json(std::string_view text) {
  auto value = parse(text);
  EXPECT_TRUE(value) << (value ? "" : value.error().message) << text;
  return value ? *value : Value();
}

std::string filled(const char* kind, std::string_view object) {
  Value value = json(object);
  fill_defaults(*kind_rules(kind), value);
  return print(value);
}
std::string wrong(const char* kind, const std::string& members) {
  return check_object(*kind_rules(kind),
                      json(R"({"metadata":{"name":"x","namespace":"default"})" + members + "}"))
      .text();
}
std::string change(const char* kind, std::string_view was, std::string_view now) {
  Value before = json(was);
  Value after = json(now);
  for (Value* value : {&before, &after}) {
    make_object(value->get_object(), "metadata")["name"] = "x";
  }
  return check_object_update(*kind_rules(kind), before, after).text();
}

TEST(Kinds, FillWhatIsNotSaid) {
  EXPECT_EQ(filled("Namespace", R"({"metadata":{"name":"team"}})"),
            R"({"metadata":{"name":"team","labels":{"kubernetes.io/metadata.name":"team"}},)"
            R"("spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
  EXPECT_EQ(filled("Secret", R"({"data":{"a":"eA=="},"stringData":{"a":"secret","b":""}})"),
            R"({"data":{"a":"c2VjcmV0","b":""},"type":"Opaque"})");
  EXPECT_EQ(filled("PriorityClass", R"({"value":1})"),
            R"({"value":1,"preemptionPolicy":"PreemptLowerPriority"})");
  EXPECT_EQ(filled("ConfigMap", R"({"data":{}})"), R"({"data":{}})");
  EXPECT_EQ(kind_rules("Pod"), nullptr);
}

TEST(Kinds, RefuseWhatCannotBe) {
  struct Case {
    const char* kind;
    const char* members;
    const char* text;
  };
  for (const Case& c :
       {Case{"ConfigMap", R"(,"data":{"a.b":"c"})", "[]"},
        Case{"ConfigMap", R"(,"data":{"..":"c"})",
             "data[..]: Invalid value: \"..\": must not be '..'"},
        Case{"ConfigMap", R"(,"data":{"a":"c"},"binaryData":{"a":""})",
             "data[a]: Invalid value: \"a\": duplicate of key present in binaryData"},
        Case{"ConfigMap", R"(,"binaryData":{"a":"?"})",
             "binaryData[a]: Invalid value: \"\": must be base64"},
        Case{"Secret", R"(,"type":"Opaque","data":{"a":"eA"})",
             "data[a]: Invalid value: \"\": must be base64"},
        Case{"Secret", R"(,"type":"kubernetes.io/tls","data":{"tls.crt":""})",
             "data[tls.key]: Required value"},
        Case{"Secret", R"(,"type":"kubernetes.io/service-account-token")",
             "metadata.annotations[kubernetes.io/service-account.name]: Required value"},
        Case{"Secret", R"(,"type":"helm.sh/release.v1","data":{"release":""})", "[]"},
        Case{"PriorityClass", "", "value: Required value"},
        Case{"PriorityClass", R"(,"value":1000000001)",
             "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
        Case{"PriorityClass", R"(,"value":5,"preemptionPolicy":"Maybe")",
             "preemptionPolicy: Unsupported value: \"Maybe\": supported values: \"Never\", "
             "\"PreemptLowerPriority\""},
        Case{"Lease", R"(,"spec":{"leaseDurationSeconds":0})",
             "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"},
        Case{"Event", R"(,"involvedObject":{"kind":"Node","name":"n1"})", "[]"},
        Case{"Event", R"(,"involvedObject":{"namespace":"other"})",
             "involvedObject.namespace: Invalid value: \"other\": does not match "
             "event.namespace"},
        Case{"ServiceAccount", "", "[]"}}) {
    EXPECT_EQ(wrong(c.kind, c.members), c.text) << c.kind << c.members;
  }
  const std::string big(kMostData + 1, 'a');
  EXPECT_EQ(wrong("ConfigMap", R"(,"data":{"a":")" + big + "\"}"),
            ": Too long: may not be more than 1048576 bytes");
}

TEST(Kinds, KeepWhatMayNotChange) {
  EXPECT_EQ(change("ConfigMap", R"({"data":{"a":"1"}})", R"({"data":{"a":"2"}})"), "[]");
  EXPECT_EQ(change("ConfigMap", R"({"immutable":true,"data":{"a":"1"}})",
                   R"({"immutable":true,"data":{"a":"2"}})"),
            "data: Forbidden: field is immutable when `immutable` is set");
  EXPECT_EQ(change("Secret", R"({"immutable":true,"type":"Opaque"})", R"({"type":"Opaque"})"),
            "immutable: Forbidden: field is immutable when `immutable` is set");
  EXPECT_EQ(change("Secret", R"({"type":"Opaque"})", R"({"type":"other"})"),
            "type: Invalid value: \"other\": field is immutable");
  EXPECT_EQ(change("PriorityClass", R"({"value":1})", R"({"value":2})"),
            "value: Forbidden: may not be changed in an update.");
  EXPECT_EQ(change("PriorityClass", R"({"value":1})", R"({"value":1,"globalDefault":true})"), "[]");
}

TEST(Metadata, IsCheckedForEveryKind) {
  struct Case {
    const char* metadata;
    const char* text;
  };
  const std::string label_rule =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
      "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', "
      " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  const std::string bad_label = "metadata.labels: Invalid value: \"-\": " + label_rule;
  for (const Case& c :
       {Case{"{}", "metadata.name: Required value: name or generateName is required"},
        Case{R"({"generateName":"job-"})", "[]"},
        Case{R"({"name":"x","labels":{"a":"-"}})", bad_label.c_str()},
        Case{R"({"name":"x","annotations":{"/a":""}})",
             "metadata.annotations: Invalid value: \"/a\": prefix part must be non-empty"},
        Case{R"({"name":"x","finalizers":["a"]})",
             "metadata.finalizers: Invalid value: \"a\": name is neither a standard finalizer name "
             "nor is it fully qualified"},
        Case{R"({"name":"x","finalizers":["a/b","orphan"]})", "[]"},
        Case{R"({"name":"x","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p"}]})",
             "metadata.ownerReferences[0].uid: Invalid value: \"\": must not be empty"}}) {
    const Value object = json(R"({"metadata":)" + std::string(c.metadata) + "}");
    EXPECT_EQ(check_metadata(object, NameRule::dns_subdomain).text(), c.text) << c.metadata;
  }
  const std::string big(kMaxAnnotations, 'a');
  EXPECT_EQ(check_metadata(json(R"({"metadata":{"name":"x","annotations":{"a":")" + big + "\"}}}"),
                           NameRule::dns_subdomain)
                .text(),
            "metadata.annotations: Too long: may not be more than 262144 bytes");
}

TEST(Metadata, KeepsItsIdentity) {
  const Value was = json(R"({"metadata":{"name":"x","namespace":"a","uid":"1","finalizers":["a/b"],
                             "deletionTimestamp":"2026-11-30T18:42:10Z"}})");
  const auto now = [&was](std::string_view metadata) {
    return check_metadata_update(was, json(R"({"metadata":)" + std::string(metadata) + "}"),
                                 NameRule::dns_subdomain)
        .text();
  };
  EXPECT_EQ(now(R"({"name":"x"})"), "[]");
  EXPECT_EQ(now(R"({"name":"x","uid":"2"})"),
            "metadata.uid: Invalid value: \"2\": field is immutable");
  EXPECT_EQ(now(R"({"name":"x","finalizers":["a/b","c/d"]})"),
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
            "deleted, found new finalizers []string{\"c/d\"}");
}

// The causes of golden/kubernetes/api-1.20.txt, "422 invalid, several causes".
TEST(Problems, GiveTextAndCauses) {
  Problems problems;
  EXPECT_TRUE(problems.none());
  problems.required(Path("spec") / "image");
  EXPECT_EQ(problems.text(), "spec.image: Required value");
  problems.not_supported(Path("spec") / "restartPolicy", "Sometimes",
                         {"Always", "OnFailure", "Never"});
  problems.duplicate((Path("spec") / "a")[1] / "name", "x");
  problems.too_many(Path("l"), 5, 3);
  EXPECT_EQ(problems.text(),
            "[spec.image: Required value, spec.restartPolicy: Unsupported value: \"Sometimes\": "
            "supported values: \"Always\", \"OnFailure\", \"Never\", spec.a[1].name: Duplicate "
            "value: \"x\", l: Too many: 5: must have at most 3 items]");
  EXPECT_EQ(
      print(problems.causes()[1]),
      R"({"reason":"FieldValueNotSupported","message":"Unsupported value: \"Sometimes\": )"
      R"(supported values: \"Always\", \"OnFailure\", \"Never\"","field":"spec.restartPolicy"})");
}

}  // namespace
}  // namespace drover::kube
