// One object as it was at one version: immutable, shared by all who read or watch it.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kube/json/peek.h"
#include "kube/json/value.h"

namespace drover::kube {

struct ObjectName {
  std::string space;  // namespace; "" for what belongs to the cluster
  std::string name;
  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

struct Entry {
  ObjectName name;
  std::uint64_t version = 0;  // its resourceVersion, which stands in `value` too
  std::uint64_t made = 0;     // version at which it came into being
  std::uint64_t stored = 0;   // version of the document alone, for replacing it
  std::string text;           // the whole object, printed: read anew when somebody asks for more of it
  [[nodiscard]] Peek look() const { return Peek(text); }
  [[nodiscard]] Value value() const;  // some tens of microseconds
};
using EntryPtr = std::shared_ptr<const Entry>;

// Puts the version into the object and prints it.
[[nodiscard]] EntryPtr make_entry(ObjectName name, std::uint64_t version, std::uint64_t made, Value value,
                                  std::uint64_t stored = 0);
// The object as it was, at the version of its end.
[[nodiscard]] EntryPtr at_version(const Entry& entry, std::uint64_t version);

}  // namespace drover::kube
