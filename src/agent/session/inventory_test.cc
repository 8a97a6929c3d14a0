#include "agent/session/inventory.h"

#include <gtest/gtest.h>

namespace drover::agent {
namespace {

TEST(Inventory, ModelsAreTheWordsPeopleAskFor) {
  EXPECT_EQ(model_word("NVIDIA A100-SXM4-80GB"), "a100");
  EXPECT_EQ(model_word("Tesla T4"), "t4");
  EXPECT_EQ(model_word("NVIDIA H200"), "h200");
  EXPECT_EQ(model_word("NVIDIA GeForce RTX 4090"), "rtx4090");
  EXPECT_EQ(model_word("NVIDIA L40S"), "l40s");
  EXPECT_EQ(model_word(""), "gpu");
}

TEST(Inventory, DeclaredBeyondTheMachineIsSaid) {
  InventoryParts parts;
  parts.host.cpus = {0, 1};
  parts.host.memory_bytes = std::int64_t{24} << 30;
  parts.declared.cpus = 64;
  parts.declared.memory = gibibytes(512);
  const NodeInventory node = make_inventory(parts);
  EXPECT_EQ(node.cpus, 64U);
  EXPECT_EQ(node.limitations.size(), 2U);
}

}  // namespace
}  // namespace drover::agent
