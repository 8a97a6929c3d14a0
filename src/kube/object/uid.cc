#include "kube/object/uid.h"

#include <array>
#include <cstdint>
#include <cstdio>

#include "base/hash.h"

namespace drover::kube {

std::string stable_uid(std::string_view cluster, std::string_view thing) {
  const std::uint64_t start = fnv1a(cluster.size(), fnv1a(cluster));
  const std::uint64_t high = fnv1a(thing, start);
  const std::uint64_t low = fnv1a(thing, fnv1a(high));
  std::array<char, 40> text{};
  (void)std::snprintf(text.data(), text.size(), "%08llx-%04llx-8%03llx-%04llx-%012llx",
                      static_cast<unsigned long long>(high >> 32U),
                      static_cast<unsigned long long>(high >> 16U & 0xffffU),
                      static_cast<unsigned long long>(high & 0xfffU),
                      static_cast<unsigned long long>((low >> 48U & 0x3fffU) | 0x8000U),
                      static_cast<unsigned long long>(low & 0xffffffffffffU));
  return text.data();
}

}  // namespace drover::kube
