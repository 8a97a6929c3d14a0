#include "kube/schema/resources.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kube/schema/schema.h"

namespace drover::kube {
namespace {

TEST(Resources, AllHaveAKindInTheSchema) {
  const Schema& schema = Schema::built_in();
  std::set<std::string> seen;
  for (const Resource& resource : resources()) {
    const std::string where = std::string(resource.group) + "/" + std::string(resource.name);
    EXPECT_TRUE(seen.insert(where).second) << where;
    const Message* kind = schema.kind(resource.group, resource.version, resource.kind);
    ASSERT_NE(kind, nullptr) << where;
    EXPECT_EQ(kind->listed, resource.allows("list")) << where;
    EXPECT_NE(kind->find("metadata"), nullptr) << where;
    for (const Subresource& part : resource.subresources) {
      const bool own = part.version.empty();
      EXPECT_NE(schema.kind(own ? resource.group : part.group,
                            own ? resource.version : part.version, part.kind),
                nullptr)
          << where << "/" << part.name;
    }
  }
}

TEST(Resources, EvictionsNameTheirGroup) {
  const Resource* pods = find_resource("", "v1", "pods");
  ASSERT_NE(pods, nullptr);
  // Without these two kubectl would delete pods past their budgets.
  EXPECT_EQ(pods->subresource("eviction")->group, "policy");
  EXPECT_EQ(pods->subresource("eviction")->version, "v1");
  EXPECT_EQ(pods->subresource("nosuch"), nullptr);
  EXPECT_EQ(find_resource("", "v1", "pod"), nullptr);
  EXPECT_FALSE(find_resource("", "v1", "namespaces")->allows("deletecollection"));
}

}  // namespace
}  // namespace drover::kube
