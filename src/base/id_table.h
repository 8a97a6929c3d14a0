// A table keyed by ids that only ever grow: pages of slots, O(1) look-up, iteration in id order.
// A page is freed when its last entry leaves, so memory follows what is held, not what was.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"

namespace drover {

template <class Id, class T>
class IdTable {
  static constexpr std::uint64_t kPageSize = 64;
  struct Page {
    std::array<std::optional<T>, kPageSize> slots;
    std::size_t held = 0;
  };
  using Pages = std::map<std::uint64_t, std::unique_ptr<Page>>;

 public:
  IdTable() = default;
  IdTable(IdTable&&) noexcept = default;
  IdTable& operator=(IdTable&&) noexcept = default;
  IdTable(const IdTable& other) : size_(other.size_) {
    for (const auto& [number, page] : other.pages_) pages_.emplace(number, std::make_unique<Page>(*page));
  }
  IdTable& operator=(const IdTable& other) {
    if (this != &other) *this = IdTable(other);
    return *this;
  }
  ~IdTable() = default;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  [[nodiscard]] const T* find(Id id) const {
    const auto page = pages_.find(id.value() / kPageSize);
    if (page == pages_.end()) return nullptr;
    const auto& slot = page->second->slots[id.value() % kPageSize];
    return slot ? &*slot : nullptr;
  }
  [[nodiscard]] T* find(Id id) { return const_cast<T*>(std::as_const(*this).find(id)); }
  [[nodiscard]] const T& at(Id id) const { const T* t = find(id); CHECK(t != nullptr); return *t; }
  [[nodiscard]] T& at(Id id) { T* t = find(id); CHECK(t != nullptr); return *t; }
  [[nodiscard]] bool contains(Id id) const { return find(id) != nullptr; }

  T& insert(Id id, T value) {
    auto& page = pages_[id.value() / kPageSize];
    if (!page) page = std::make_unique<Page>();
    auto& slot = page->slots[id.value() % kPageSize];
    CHECK(!slot);
    ++page->held;
    ++size_;
    return slot.emplace(std::move(value));
  }
  void erase(Id id) {
    const auto page = pages_.find(id.value() / kPageSize);
    CHECK(page != pages_.end());
    auto& slot = page->second->slots[id.value() % kPageSize];
    CHECK(slot.has_value());
    slot.reset();
    --size_;
    if (--page->second->held == 0) pages_.erase(page);
  }

  // Calls visit(const T&) for every entry, in id order. The table must not change meanwhile.
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [number, page] : pages_) {
      for (const auto& slot : page->slots) {
        if (slot) visit(*slot);
      }
    }
  }
  // The first entry whose id is at least `from`, or nullptr: for cursors that outlive changes.
  [[nodiscard]] const T* first_from(Id from) const {
    for (auto page = pages_.lower_bound(from.value() / kPageSize); page != pages_.end(); ++page) {
      const std::uint64_t base = page->first * kPageSize;
      const std::uint64_t begin = from.value() > base ? from.value() - base : 0;
      for (std::uint64_t i = begin; i < kPageSize; ++i) {
        if (page->second->slots[i]) return &*page->second->slots[i];
      }
    }
    return nullptr;
  }

  friend bool operator==(const IdTable& a, const IdTable& b) {
    if (a.size_ != b.size_) return false;
    auto it = b.pages_.begin();
    for (const auto& [number, page] : a.pages_) {
      if (it == b.pages_.end() || it->first != number || it->second->slots != page->slots) return false;
      ++it;
    }
    return true;
  }

 private:
  Pages pages_;
  std::size_t size_ = 0;
};

}  // namespace drover
