#include "engine/class_list.h"

#include <algorithm>

#include "base/check.h"

namespace drover::engine {

void ClassList::Chunk::measure() {
  least = Duration::max();
  for (const Entry& entry : entries) least = std::min(least, entry.least);
}

// The chunk whose last key is not before `key`, or the last one.
std::size_t ClassList::chunk_for(const policy::OrderKey& key) const {
  const auto found = std::ranges::lower_bound(chunks_, key, {}, [](const Chunk& c) { return c.entries.back().key; });
  return std::min(static_cast<std::size_t>(found - chunks_.begin()), chunks_.size() - 1);
}

void ClassList::insert(const Entry& entry) {
  if (chunks_.empty()) chunks_.push_back({.entries = {}});
  const std::size_t place = chunks_.size() == 1 ? 0 : chunk_for(entry.key);
  Chunk& chunk = chunks_[place];
  chunk.entries.insert(std::ranges::lower_bound(chunk.entries, entry.key, {}, &Entry::key), entry);
  chunk.least = std::min(chunk.least, entry.least);
  ++size_;
  if (chunk.entries.size() <= kMost) return;
  // Most entries come in order, at the end: then the lower part stays full.
  const std::size_t kept = place + 1 == chunks_.size() && chunk.entries.back().key == entry.key ? kMost : kMost / 2;
  Chunk upper{.entries = {chunk.entries.begin() + static_cast<std::ptrdiff_t>(kept), chunk.entries.end()}};
  chunk.entries.resize(kept);
  chunk.entries.shrink_to_fit();
  chunk.measure();
  upper.measure();
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(place) + 1, std::move(upper));
}

void ClassList::erase(const policy::OrderKey& key) {
  CHECK(!chunks_.empty());
  const std::size_t place = chunk_for(key);
  Chunk& chunk = chunks_[place];
  const auto found = std::ranges::lower_bound(chunk.entries, key, {}, &Entry::key);
  CHECK(found != chunk.entries.end() && found->key == key);
  const bool shortest = found->least == chunk.least;
  chunk.entries.erase(found);
  --size_;
  if (chunk.entries.empty()) {
    chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(place));
  } else if (shortest) {
    chunk.measure();
  }
}

std::optional<ClassList::Entry> ClassList::first(const policy::OrderKey* after, Duration window) const {
  if (chunks_.empty()) return std::nullopt;
  for (std::size_t place = after == nullptr ? 0 : chunk_for(*after); place < chunks_.size(); ++place) {
    const Chunk& chunk = chunks_[place];
    if (chunk.least > window) continue;
    auto at = chunk.entries.begin();
    if (after != nullptr) at = std::ranges::upper_bound(chunk.entries, *after, {}, &Entry::key);
    for (; at != chunk.entries.end(); ++at) {
      if (at->least <= window) return *at;
    }
  }
  return std::nullopt;
}

}  // namespace drover::engine
