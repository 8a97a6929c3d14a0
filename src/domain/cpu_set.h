// A set of CPU numbers of one node.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace drover {

class CpuSet {
 public:
  CpuSet() = default;
  // The first `count` CPUs: 0 .. count-1.
  [[nodiscard]] static CpuSet first(std::uint32_t count) {
    CpuSet set;
    for (std::uint32_t cpu = 0; cpu < count; ++cpu) set.add(cpu);
    return set;
  }
  void add(std::uint32_t cpu) {
    if (cpu / 64 >= words_.size()) words_.resize(cpu / 64 + 1);
    words_[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
  }
  void remove(std::uint32_t cpu) {
    if (cpu / 64 < words_.size()) words_[cpu / 64] &= ~(std::uint64_t{1} << (cpu % 64));
    trim();
  }
  [[nodiscard]] bool contains(std::uint32_t cpu) const {
    return cpu / 64 < words_.size() && ((words_[cpu / 64] >> (cpu % 64)) & 1U) != 0;
  }
  [[nodiscard]] std::uint32_t count() const {
    std::uint32_t n = 0;
    for (const std::uint64_t word : words_) n += static_cast<std::uint32_t>(std::popcount(word));
    return n;
  }
  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] bool intersects(const CpuSet& other) const {
    for (std::size_t i = 0; i < words_.size() && i < other.words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }
  CpuSet& operator|=(const CpuSet& other) {
    if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  CpuSet& operator-=(const CpuSet& other) {
    for (std::size_t i = 0; i < words_.size() && i < other.words_.size(); ++i) words_[i] &= ~other.words_[i];
    trim();
    return *this;
  }
  // The members in rising order.
  [[nodiscard]] std::vector<std::uint32_t> list() const {
    std::vector<std::uint32_t> cpus;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        cpus.push_back(static_cast<std::uint32_t>(i * 64) + static_cast<std::uint32_t>(std::countr_zero(word)));
      }
    }
    return cpus;
  }
  // "0-3,8", as the kernel's cpuset files read and write it.
  [[nodiscard]] std::string text() const;

  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "words", self.words_);
  }
  friend bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  void trim() {
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
  }
  std::vector<std::uint64_t> words_;  // no zero word at the end, so equal sets are equal values
};

}  // namespace drover
