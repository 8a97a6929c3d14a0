// A value or the reason there is none. Result is for what can go wrong in a correct program (input,
// files, peers); CHECK is for what cannot. The names are those of std::expected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

namespace drover {

// What the caller can do about a failure. Few on purpose: each door maps this list to its own codes
// in one table.
enum class Errc : std::uint8_t { invalid, not_found, denied, conflict, exhausted, unavailable };

struct Error {
  Errc code = Errc::invalid;
  std::string message;

  // Adds context on the way up, once, at the layer that knows it: "line 12: " + message.
  [[nodiscard]] Error under(std::string_view context) && {
    message.insert(0, ": ").insert(0, context);
    return std::move(*this);
  }
  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] T& value() & { CHECK(has_value()); return *std::get_if<0>(&state_); }
  [[nodiscard]] const T& value() const& { CHECK(has_value()); return *std::get_if<0>(&state_); }
  [[nodiscard]] T&& value() && { CHECK(has_value()); return std::move(*std::get_if<0>(&state_)); }
  [[nodiscard]] const Error& error() const& { CHECK(!has_value()); return *std::get_if<1>(&state_); }
  [[nodiscard]] Error&& error() && { CHECK(!has_value()); return std::move(*std::get_if<1>(&state_)); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};
using Status = Result<Done>;

}  // namespace drover

// TRY(expr): the value of expr, or return its error from this function.
// A GNU statement expression; g++ and clang++ both take it.
#define TRY(expr)                                                        \
  __extension__({                                                        \
    auto try_result = (expr);                                            \
    if (!try_result.has_value()) return std::move(try_result).error();   \
    std::move(try_result).value();                                       \
  })
