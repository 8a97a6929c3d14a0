// One description of a struct serves every representation of it: the log and the wire (base/proto.h),
// JSON (native/json.h), equality of texts in tests.
//
//   struct Point {
//     std::int32_t x = 0;
//     std::string label;
//     template <class Self, class Visit>
//     static void describe(Self& self, Visit& visit) {
//       visit(1, "x", self.x);
//       visit(2, "label", self.label);
//     }
//   };
//
// Numbers are for ever: never reuse one, never change the type behind one. A reader skips numbers
// that it doesn't know and keeps the default of fields that are missing.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"
#include "base/time.h"

namespace drover {

struct AnyVisit {
  template <class T>
  void operator()(std::uint32_t, std::string_view, T&) {}
};

template <class T>
concept Described = requires(T& value, AnyVisit& visit) { T::describe(value, visit); };

// Enums have words: `constexpr std::string_view word(E)` beside the enum, contiguous from 0, and ""
// for a value past the last one.
template <class E>
concept Worded = std::is_enum_v<E> && requires(E e) {
  { word(e) } -> std::convertible_to<std::string_view>;
};

template <Worded E>
[[nodiscard]] constexpr std::optional<E> from_word(std::string_view text) {
  for (int i = 0;; ++i) {
    const E e = static_cast<E>(i);
    if (word(e).empty()) return std::nullopt;
    if (word(e) == text) return e;
  }
}

// Integer-like types and their plain number.
template <class T>
struct Plain : std::false_type {};
template <class T>
  requires std::is_integral_v<T>
struct Plain<T> : std::true_type {
  static constexpr std::int64_t to(T v) { return static_cast<std::int64_t>(v); }
  static constexpr T from(std::int64_t n) { return static_cast<T>(n); }
  static constexpr bool is_signed = std::is_signed_v<T>;
};
template <class T>
  requires std::is_enum_v<T>
struct Plain<T> : std::true_type {
  static constexpr std::int64_t to(T v) { return static_cast<std::int64_t>(v); }
  static constexpr T from(std::int64_t n) { return static_cast<T>(n); }
  static constexpr bool is_signed = false;
};
template <class Kind>
struct Plain<Id<Kind>> : std::true_type {
  static constexpr std::int64_t to(Id<Kind> v) { return static_cast<std::int64_t>(v.value()); }
  static constexpr Id<Kind> from(std::int64_t n) { return Id<Kind>(static_cast<std::uint64_t>(n)); }
  static constexpr bool is_signed = false;
};
template <class Unit>
struct Plain<Quantity<Unit>> : std::true_type {
  static constexpr std::int64_t to(Quantity<Unit> v) { return v.count(); }
  static constexpr Quantity<Unit> from(std::int64_t n) { return Quantity<Unit>::of(n); }
  static constexpr bool is_signed = true;
};
template <>
struct Plain<Duration> : std::true_type {
  static constexpr std::int64_t to(Duration v) { return v.count(); }
  static constexpr Duration from(std::int64_t n) { return Duration(n); }
  static constexpr bool is_signed = true;
};
template <>
struct Plain<Instant> : std::true_type {
  static constexpr std::int64_t to(Instant v) { return v.time_since_epoch().count(); }
  static constexpr Instant from(std::int64_t n) { return Instant(Duration(n)); }
  static constexpr bool is_signed = true;
};

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVariant = false;
template <class... Ts>
inline constexpr bool kIsVariant<std::variant<Ts...>> = true;
// A shared, unchanging part: written as its value, or not at all when null.
template <class T>
inline constexpr bool kIsShared = false;
template <class T>
inline constexpr bool kIsShared<std::shared_ptr<const T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class K, class V>
inline constexpr bool kIsMap<std::map<K, V>> = true;

}  // namespace drover
