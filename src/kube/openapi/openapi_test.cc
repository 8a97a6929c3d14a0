#include "kube/openapi/openapi.h"

#include <gtest/gtest.h>

#include <protozero/pbf_reader.hpp>

#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/schema/resources.h"

namespace drover::kube {
namespace {

const OpenApi& documents() {
  static const OpenApi all = make_open_api("v1.33.0");
  return all;
}

Value parsed(const OpenApiText& text) {
  auto value = parse(text.body, {.bytes = 16U << 20U});
  EXPECT_TRUE(value) << value.error().message;
  return value ? std::move(*value) : Value{};
}

const Value& pods() {
  static const Value document = parsed(*documents().find_v3("api/v1"));
  return document;
}

const Value* schema(const Value& document, std::string_view name) {
  return member(*at(document, "components.schemas"), name);
}

// Every reference leads somewhere.
void check_references(const Value& document, const Object& names, std::string_view start,
                      const Value& value) {
  if (const Object* object = value.if_object()) {
    for (const auto& entry : *object) {
      if (entry.key() == "$ref") {
        const std::string_view target = text(&entry.value());
        ASSERT_TRUE(target.starts_with(start)) << target;
        EXPECT_TRUE(names.contains(target.substr(start.size()))) << target;
      } else {
        check_references(document, names, start, entry.value());
      }
    }
  } else if (const Array* array = value.if_array()) {
    for (const Value& item : *array) check_references(document, names, start, item);
  }
}

TEST(OpenApi, IndexNamesAllGroups) {
  const Value index = parsed(documents().v3_index);
  for (const OpenApiText& document : documents().v3) {
    const Value* entry = member(*at(index, "paths"), document.path);
    ASSERT_NE(entry, nullptr) << document.path;
    EXPECT_EQ(text_at(*entry, "serverRelativeURL"),
              "/openapi/v3/" + document.path + "?hash=" + document.hash);
  }
  EXPECT_NE(documents().find_v3("apis/coordination.k8s.io/v1"), nullptr);
  EXPECT_EQ(documents().find_v3("apis/nosuch/v1"), nullptr);
}

TEST(OpenApi, ReferencesLeadSomewhere) {
  for (const OpenApiText& text : documents().v3) {
    const Value document = parsed(text);
    check_references(document, *object_at(document, "components.schemas"), "#/components/schemas/",
                     document);
  }
  const Value old = parsed(documents().v2_json);
  check_references(old, *object_at(old, "definitions"), "#/definitions/", old);
}

TEST(OpenApi, DescribesKinds) {
  const Value& pod = *schema(pods(), "io.k8s.api.core.v1.Pod");
  EXPECT_EQ(print(*member(pod, "x-kubernetes-group-version-kind")),
            R"([{"group":"","kind":"Pod","version":"v1"}])");
  EXPECT_EQ(print(*at(pod, "properties.spec")),
            R"({"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.PodSpec"}],)"
            R"("description":"What a pod is to run, and under which conditions."})");
  const Value& spec = *schema(pods(), "io.k8s.api.core.v1.PodSpec");
  EXPECT_EQ(
      print(*at(spec, "properties.containers")),
      R"({"type":"array","items":{"$ref":"#/components/schemas/io.k8s.api.core.v1.Container"},)"
      R"("description":"The programs of the pod; at least one.","x-kubernetes-list-type":"map",)"
      R"("x-kubernetes-list-map-keys":["name"],"x-kubernetes-patch-merge-key":"name",)"
      R"("x-kubernetes-patch-strategy":"merge"})");
  EXPECT_EQ(print(*at(spec, "required")), R"(["containers"])");
  EXPECT_NE(schema(pods(), "io.k8s.api.core.v1.PodList"), nullptr);
  EXPECT_NE(schema(pods(), "io.k8s.api.policy.v1.Eviction"), nullptr);
}

TEST(OpenApi, PatchesTakeFieldValidationAndDryRun) {
  for (const char* path : {"/api/v1/namespaces/{namespace}/pods/{name}",
                           "/api/v1/namespaces/{name}", "/api/v1/nodes/{name}"}) {
    const Value* patch = member(*member(*member(pods(), "paths"), path), "patch");
    ASSERT_NE(patch, nullptr) << path;
    std::string names;
    for (const Value& one : *array_at(*patch, "parameters"))
      names.append(text_at(one, "name")).append(" ");
    EXPECT_EQ(names, "dryRun fieldManager fieldValidation force ");
  }
  const Object& paths = *object_at(pods(), "paths");
  EXPECT_TRUE(paths.contains("/api/v1/pods"));
  EXPECT_TRUE(paths.contains("/api/v1/namespaces/{namespace}/pods/{name}/eviction"));
}

TEST(OpenApi, OldFormHoldsTheSameDefinitions) {
  const Value old = parsed(documents().v2_json);
  std::size_t found = 0;
  protozero::pbf_reader document(documents().v2_protobuf.body);
  while (document.next(9)) {
    protozero::pbf_reader definitions = document.get_message();
    while (definitions.next(1)) {
      protozero::pbf_reader named = definitions.get_message();
      ASSERT_TRUE(named.next(1));
      EXPECT_TRUE(object_at(old, "definitions")->contains(named.get_string()));
      ++found;
    }
  }
  EXPECT_EQ(found, object_at(old, "definitions")->size());
}

}  // namespace
}  // namespace drover::kube
