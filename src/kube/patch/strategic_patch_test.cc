#include "kube/patch/strategic_patch.h"

#include <gtest/gtest.h>

#include "kube/json/parse.h"
#include "kube/json/print.h"

namespace drover::kube {
namespace {

std::string patched(std::string_view kind, std::string_view document, std::string_view patch) {
  const auto result =
      apply_strategic_patch(*parse(document), *parse(patch), *Schema::built_in().kind("v1", kind));
  return result ? print(*result) : "error: " + result.error().message;
}

struct Case {
  const char* what;
  const char* document;
  const char* patch;
  const char* result;
};

TEST(StrategicPatch, MergesListsByTheirKeys) {
  for (
      const Case& c : {
          Case{"as a merge patch", R"({"metadata":{"labels":{"a":"b","c":"d"}}})",
               R"({"metadata":{"labels":{"c":null,"e":"f"}}})",
               R"({"metadata":{"labels":{"a":"b","e":"f"}}})"},
          Case{
              "a list with a key",
              R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]}})",
              R"({"spec":{"containers":[{"name":"b","image":"3"},{"name":"c"}]}})",
              R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"3"},{"name":"c"}]}})"},
          Case{"lists inside",
               R"({"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"}]}]}})",
               R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"}]}]}})",
               R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"},{"name":"X",)"
               R"("value":"1"}]}]}})"},
          Case{"atomic lists replace", R"({"spec":{"tolerations":[{"key":"a"}]}})",
               R"({"spec":{"tolerations":[{"key":"b"}]}})",
               R"({"spec":{"tolerations":[{"key":"b"}]}})"},
          Case{"scalars", R"({"metadata":{"finalizers":["a","b"]}})",
               R"({"metadata":{"finalizers":["b","c"]}})",
               R"({"metadata":{"finalizers":["a","b","c"]}})"},
          Case{
              "numbers as keys",
              R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"x"}]}]}})",
              R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"y"}]}]}})",
              R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"y"}]}]}})"},
          Case{"a new list", R"({"spec":{}})",
               R"({"spec":{"volumes":[{"name":"v","emptyDir":{},"x":null}]}})",
               R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})"},
      }) {
    EXPECT_EQ(patched("Pod", c.document, c.patch), c.result) << c.what;
  }
  EXPECT_EQ(
      patched("Node", R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})",
              R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"New"}]}})"),
      R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"New"}]}})");
}

TEST(StrategicPatch, FollowsDirectives) {
  for (
      const Case& c : {
          Case{"delete an item", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
               R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
               R"({"spec":{"containers":[{"name":"b"}]}})"},
          Case{"replace a list", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
               R"({"spec":{"containers":[{"name":"c"},{"$patch":"replace"}]}})",
               R"({"spec":{"containers":[{"name":"c"}]}})"},
          Case{"replace an object", R"({"spec":{"securityContext":{"runAsUser":1,"fsGroup":2}}})",
               R"({"spec":{"securityContext":{"$patch":"replace","runAsUser":3}}})",
               R"({"spec":{"securityContext":{"runAsUser":3}}})"},
          Case{"delete an object's members", R"({"spec":{"securityContext":{"runAsUser":1}}})",
               R"({"spec":{"securityContext":{"$patch":"delete"}}})",
               R"({"spec":{"securityContext":{}}})"},
          Case{"merge, said", R"({"spec":{"hostNetwork":true}})",
               R"({"spec":{"$patch":"merge","hostPID":true}})",
               R"({"spec":{"hostNetwork":true,"hostPID":true}})"},
          Case{
              "delete scalars", R"({"metadata":{"finalizers":["a","b","c"]}})",
              R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a","c"],"finalizers":["d"]}})",
              R"({"metadata":{"finalizers":["d","b"]}})"},
          Case{
              "retain keys", R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
              R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","configMap"],"configMap":{"name":"c"}}]}})",
              R"({"spec":{"volumes":[{"name":"v","configMap":{"name":"c"}}]}})"},
          Case{
              "an order", R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
              R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}],"containers":[{"name":"a",)"
              R"("image":"i"}]}})",
              R"({"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"a","image":"i"}]}})"},
          Case{"an order alone", R"({"metadata":{"finalizers":["a","b"]}})",
               R"({"metadata":{"$setElementOrder/finalizers":["b","a"]}})",
               R"({"metadata":{"finalizers":["b","a"]}})"},
          Case{
              "a new item before an old one", R"({"spec":{"containers":[{"name":"b"}]}})",
              R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"a"}]}})",
              R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})"},
          Case{"directives on nothing", "{}",
               R"({"spec":{"containers":[{"name":"a","$patch":"delete"}],"$setElementOrder/x":[],)"
               R"("securityContext":{"$patch":"replace","runAsUser":1}}})",
               R"({"spec":{"containers":[],"securityContext":{"runAsUser":1}}})"},
      }) {
    EXPECT_EQ(patched("Pod", c.document, c.patch), c.result) << c.what;
  }
}

TEST(StrategicPatch, RefusesWhatItCannotDo) {
  EXPECT_EQ(patched("Pod", "{}", "[]"), "error: a strategic merge patch is an object");
  EXPECT_EQ(patched("Pod", R"({"spec":{"containers":[{"name":"a"}]}})",
                    R"({"spec":{"containers":[{"image":"i"}]}})"),
            "error: map: {\"image\":\"i\"} does not contain declared merge key: name");
  EXPECT_EQ(patched("Pod", R"({"spec":{}})", R"({"spec":{"$patch":"explode"}})"),
            "error: Unknown patch type found: \"explode\"");
  EXPECT_EQ(patched("Pod", R"({"spec":{}})", R"({"spec":{"$retainKeys":["a"],"b":1}})"),
            "error: $retainKeys doesn't name b, which the patch sets");
  EXPECT_EQ(patched("Pod", "{}", R"({"metadata":{"finalizers":[{}]}})").substr(0, 6), R"({"meta)");
  EXPECT_EQ(
      patched("Pod", R"({"metadata":{"finalizers":["a"]}})", R"({"metadata":{"finalizers":[{}]}})"),
      "error: the list has scalars only");
}

}  // namespace
}  // namespace drover::kube
