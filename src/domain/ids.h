// The names of the cluster's things. Doors translate their own names to these.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "base/describe.h"
#include "base/id.h"

namespace drover {

using JobId = Id<struct JobKind>;        // strictly increasing, never reused
using NodeId = Id<struct NodeKind>;      // dense, given at the first registration, kept for ever
using DeviceId = Id<struct DeviceKind>;  // dense over the cluster, one per device UUID
using Epoch = Id<struct EpochKind>;      // rises with each leader
using Position = Id<struct PositionKind>;  // of a record in the log; the first is 1
using Revision = Id<struct RevisionKind>;  // of a node's wanted set within an epoch

// A text that many jobs share (user, account, partition), as its number in Cluster::symbols.
class Symbol {
 public:
  constexpr Symbol() = default;
  constexpr explicit Symbol(std::uint32_t index) : index_(index) {}
  [[nodiscard]] constexpr std::uint32_t index() const { return index_; }
  friend constexpr auto operator<=>(Symbol, Symbol) = default;

 private:
  std::uint32_t index_ = 0;  // 0 is the empty text
};

// An interned Request (Cluster::shapes): a hundred thousand jobs are a few hundred shapes.
using ShapeId = Id<struct ShapeKind>;

// SHA-256 of a payload that is stored once beside the log.
struct PayloadHash {
  std::array<std::uint64_t, 4> words{};
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "a", self.words[0]);
    visit(2, "b", self.words[1]);
    visit(3, "c", self.words[2]);
    visit(4, "d", self.words[3]);
  }
  explicit operator bool() const { return words != std::array<std::uint64_t, 4>{}; }
  friend auto operator<=>(const PayloadHash&, const PayloadHash&) = default;
};

template <>
struct Plain<Symbol> : std::true_type {
  static constexpr std::int64_t to(Symbol v) { return v.index(); }
  static constexpr Symbol from(std::int64_t n) { return Symbol(static_cast<std::uint32_t>(n)); }
  static constexpr bool is_signed = false;
};

}  // namespace drover
