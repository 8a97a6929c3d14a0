// A table keyed by ids that only ever grow: pages of slots, O(1) look-up, iteration in id order.
// A page is freed when its last entry leaves, so memory follows what is held, not what was.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/check.h"

namespace drover {

template <class Id, class T>
class IdTable {
  static constexpr std::uint64_t kPageSize = 64;
  // Whether a slot is taken is a bit of the page, not a flag with its padding in each slot.
  class Page {
   public:
    Page() {}  // no `= default`: that would clear the slots
    Page(const Page& other) {
      other.each([this](std::uint64_t place, const T& value) { emplace(place, value); });
    }
    Page& operator=(const Page&) = delete;
    ~Page() {
      for (; taken_ != 0; taken_ &= taken_ - 1) std::destroy_at(at(first_from(0)));
    }
    [[nodiscard]] bool has(std::uint64_t place) const { return (taken_ >> place & 1) != 0; }
    [[nodiscard]] bool empty() const { return taken_ == 0; }
    [[nodiscard]] const T* at(std::uint64_t place) const { return reinterpret_cast<const T*>(bytes_) + place; }
    [[nodiscard]] T* at(std::uint64_t place) { return reinterpret_cast<T*>(bytes_) + place; }
    // The first taken place that is at least `place`, or kPageSize.
    [[nodiscard]] std::uint64_t first_from(std::uint64_t place) const {
      return static_cast<std::uint64_t>(std::countr_zero(taken_ & ~std::uint64_t{0} << place));
    }
    template <class... Parts>
    T& emplace(std::uint64_t place, Parts&&... parts) {
      T* made = std::construct_at(at(place), std::forward<Parts>(parts)...);
      taken_ |= std::uint64_t{1} << place;
      return *made;
    }
    void erase(std::uint64_t place) {
      taken_ &= ~(std::uint64_t{1} << place);
      std::destroy_at(at(place));
    }
    template <class Visit>
    void each(Visit visit) const {
      for (std::uint64_t left = taken_; left != 0; left &= left - 1) {
        const auto place = static_cast<std::uint64_t>(std::countr_zero(left));
        visit(place, *at(place));
      }
    }
    friend bool operator==(const Page& a, const Page& b) {
      if (a.taken_ != b.taken_) return false;
      bool same = true;
      a.each([&](std::uint64_t place, const T& value) { same = same && value == *b.at(place); });
      return same;
    }

   private:
    alignas(T) std::byte bytes_[sizeof(T) * kPageSize];
    std::uint64_t taken_ = 0;
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
    const std::uint64_t place = id.value() % kPageSize;
    return page->second->has(place) ? page->second->at(place) : nullptr;
  }
  [[nodiscard]] T* find(Id id) { return const_cast<T*>(std::as_const(*this).find(id)); }
  [[nodiscard]] const T& at(Id id) const { const T* t = find(id); CHECK(t != nullptr); return *t; }
  [[nodiscard]] T& at(Id id) { T* t = find(id); CHECK(t != nullptr); return *t; }
  [[nodiscard]] bool contains(Id id) const { return find(id) != nullptr; }

  T& insert(Id id, T value) {
    auto& page = pages_[id.value() / kPageSize];
    if (!page) page = std::make_unique<Page>();
    CHECK(!page->has(id.value() % kPageSize));
    ++size_;
    return page->emplace(id.value() % kPageSize, std::move(value));
  }
  void erase(Id id) {
    const auto page = pages_.find(id.value() / kPageSize);
    CHECK(page != pages_.end());
    CHECK(page->second->has(id.value() % kPageSize));
    page->second->erase(id.value() % kPageSize);
    --size_;
    if (page->second->empty()) pages_.erase(page);
  }

  // Calls visit(const T&) for every entry, in id order. The table must not change meanwhile.
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [number, page] : pages_) {
      page->each([&](std::uint64_t, const T& value) { visit(value); });
    }
  }
  // The first entry whose id is at least `from`, or nullptr: for cursors that outlive changes.
  [[nodiscard]] const T* first_from(Id from) const {
    for (auto page = pages_.lower_bound(from.value() / kPageSize); page != pages_.end(); ++page) {
      const std::uint64_t base = page->first * kPageSize;
      const std::uint64_t begin = from.value() > base ? from.value() - base : 0;
      const std::uint64_t place = page->second->first_from(begin);
      if (place < kPageSize) return page->second->at(place);
    }
    return nullptr;
  }

  friend bool operator==(const IdTable& a, const IdTable& b) {
    if (a.size_ != b.size_) return false;
    auto it = b.pages_.begin();
    for (const auto& [number, page] : a.pages_) {
      if (it == b.pages_.end() || it->first != number || !(*it->second == *page)) return false;
      ++it;
    }
    return true;
  }

 private:
  Pages pages_;
  std::size_t size_ = 0;
};

}  // namespace drover
