// The waiting jobs of one class in order, in chunks that each know their smallest limit: the first
// job after a place that ends within a window is found without looking at each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "policy/order.h"

namespace drover::engine {

class ClassList {
 public:
  struct Entry {
    policy::OrderKey key;
    Duration least{0};  // the shortest time that will do; Duration::max(): no limit
  };
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void insert(const Entry& entry);
  void erase(const policy::OrderKey& key);
  // The first entry whose key is beyond `after` (none: from the start) and whose time is at most `window`.
  [[nodiscard]] std::optional<Entry> first(const policy::OrderKey* after, Duration window) const;

  template <class Visit>
  void each(Visit visit) const {
    for (const Chunk& chunk : chunks_) {
      for (const Entry& entry : chunk.entries) visit(entry);
    }
  }

 private:
  static constexpr std::size_t kMost = 256;
  struct Chunk {
    std::vector<Entry> entries;
    Duration least = Duration::max();
    void measure();
  };
  [[nodiscard]] std::size_t chunk_for(const policy::OrderKey& key) const;

  std::vector<Chunk> chunks_;  // none is empty
  std::size_t size_ = 0;
};

}  // namespace drover::engine
