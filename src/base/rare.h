// A part that most values of a kind lack: no more than a pointer until it is set. It reads as T{}
// while it is missing. Copies share it until one of them is changed, so copying a large table stays
// cheap.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace drover {

template <class T>
class Rare {
 public:
  Rare() = default;
  Rare(const Rare& other) : held_(other.held_) {
    if (held_ != nullptr) held_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Rare(Rare&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  Rare& operator=(Rare other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Rare() {
    if (held_ != nullptr && held_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete held_;
  }

  [[nodiscard]] const T& operator*() const {
    static const T kMissing{};
    return held_ == nullptr ? kMissing : held_->value;
  }
  [[nodiscard]] const T* operator->() const { return &**this; }

  // To be changed: this value's own from now on. The reference is good until the next copy of
  // `this`.
  [[nodiscard]] T& edit() {
    if (held_ == nullptr) {
      held_ = new Held;
    } else if (held_->owners.load(std::memory_order_acquire) !=
               1) {  // another thread may drop its copy now
      Rare own;
      own.held_ = new Held{.value = held_->value};
      std::swap(held_, own.held_);
    }
    return held_->value;
  }
  // Gives back the memory of a part that says nothing.
  void trim() {
    if (held_ != nullptr && held_->value == T{}) *this = Rare{};
  }
  [[nodiscard]] bool missing() const { return held_ == nullptr; }

  friend bool operator==(const Rare& a, const Rare& b) { return a.held_ == b.held_ || *a == *b; }

 private:
  struct Held {
    std::atomic<std::uint32_t> owners{1};
    T value{};
  };
  Held* held_ = nullptr;
};

}  // namespace drover
