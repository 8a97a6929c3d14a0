// Why a request failed, as Kubernetes says it: a Status object with a code, a reason that programs match
// on, and details.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"
#include "domain/refusal.h"
#include "kube/json/value.h"
#include "kube/rest/resource.h"
#include "wire/http.h"

namespace drover::kube {

class Problems;

struct Failure {
  int code = 500;
  std::string reason;  // "NotFound"; "" none
  std::string message;
  Object details;  // empty and no_details: the Status has none at all
  bool no_details = false;
  int retry_after = 0;  // seconds; 0: not said

  [[nodiscard]] Value status() const;
  [[nodiscard]] wire::Answer answer() const;
};

// A value or why there is none; TRY works on it.
template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Outcome(Failure failure)
      : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] T& value() & {
    CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& {
    CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    CHECK(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  [[nodiscard]] const Failure& error() const& {
    CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  [[nodiscard]] Failure&& error() && {
    CHECK(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  const T* operator->() const { return &value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }

 private:
  std::variant<T, Failure> state_;
};

[[nodiscard]] Failure bad_request(std::string message);
[[nodiscard]] Failure unauthorized();
[[nodiscard]] Failure no_such_path();
[[nodiscard]] Failure not_found(const Resource& resource, std::string_view name);
[[nodiscard]] Failure already_exists(const Resource& resource, std::string_view name);
[[nodiscard]] Failure modified_meanwhile(const Resource& resource, std::string_view name);
[[nodiscard]] Failure conflict(const Resource& resource, std::string_view name, std::string_view why);
[[nodiscard]] Failure invalid(const Resource& resource, std::string_view name, const Problems& problems);
[[nodiscard]] Failure forbidden(const Resource& resource, std::string_view name, std::string_view why);
[[nodiscard]] Failure method_not_allowed();
[[nodiscard]] Failure not_acceptable();
[[nodiscard]] Failure unknown_media_type(std::string_view accepted);
[[nodiscard]] Failure too_large(std::string message);
[[nodiscard]] Failure unprocessable(std::string message);
// The version is older than what is remembered (410).
[[nodiscard]] Failure expired(std::string message);
[[nodiscard]] Failure version_too_large(std::uint64_t asked, std::uint64_t current);
[[nodiscard]] Failure internal(std::string message);
[[nodiscard]] Failure unavailable(std::string message);
// What the cluster refused.
[[nodiscard]] Failure refused(const Resource& resource, std::string_view name, const Refusal& refusal);

}  // namespace drover::kube
