#include "kube/schema/resources.h"

#include <gtest/gtest.h>

#include <set>

namespace drover::kube {
namespace {

TEST(Resources, AllHaveAKindInTheSchema) {
  const Schema& schema = Schema::built_in();
  std::set<std::string> seen;
  for (const Resource& resource : resources()) {
    const std::string where = resource.api_version() + " " + std::string(resource.name);
    EXPECT_TRUE(seen.insert(where).second) << where;
    const Message* kind = schema.kind(resource.group, resource.version, resource.kind);
    ASSERT_NE(kind, nullptr) << where;
    EXPECT_EQ(kind->listed, resource.verbs.has(Verb::list)) << where;
    EXPECT_NE(kind->find("metadata"), nullptr) << where;
    for (const SubResource& part : resource.subresources) {
      const bool own = part.version.empty();
      EXPECT_NE(schema.kind(own ? resource.group : part.group,
                            own ? resource.version : part.version, part.kind),
                nullptr)
          << where << "/" << part.name;
    }
  }
}

TEST(Resources, AreFoundByName) {
  const Resource* pods = find_resource("", "v1", "pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(pods->list_kind(), "PodList");
  EXPECT_EQ(pods->verbs.texts(),
            (std::vector<std::string_view>{"create", "delete", "deletecollection", "get", "list",
                                           "patch", "update", "watch"}));
  // Without these two kubectl would delete pods past their budgets.
  EXPECT_EQ(pods->subresource("eviction")->group, "policy");
  EXPECT_EQ(pods->subresource("eviction")->version, "v1");
  EXPECT_EQ(pods->subresource("nosuch"), nullptr);
  EXPECT_EQ(find_resource("", "v1", "pod"), nullptr);
  EXPECT_FALSE(find_resource("", "v1", "namespaces")->verbs.has(Verb::remove_collection));
  EXPECT_EQ(api_groups().front().name, "");
  EXPECT_EQ(api_groups().size(), 8U);
}

}  // namespace
}  // namespace drover::kube
