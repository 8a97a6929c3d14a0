// Amounts as manifests write them: "100m", "1.5Gi", "2e3". Exact down to one billionth, rounded
// away from zero below that; what is beyond an int64 becomes the largest one.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/json/value.h"

namespace drover::kube {

class Quantity {
 public:
  enum class Format : std::uint8_t { decimal, binary, exponent };  // m k M G; Ki Mi Gi; e3

  Quantity() = default;
  [[nodiscard]] static Quantity of(std::int64_t units, Format format = Format::decimal);
  [[nodiscard]] static Quantity of_milli(std::int64_t thousandths, Format format = Format::decimal);

  // Errc::invalid with the API server's words.
  [[nodiscard]] static Result<Quantity> parse(std::string_view text);
  // A JSON string or number.
  [[nodiscard]] static Result<Quantity> from(const Value& value);

  // Whole units and thousandths, rounded away from zero, within int64.
  [[nodiscard]] std::int64_t units() const;
  [[nodiscard]] std::int64_t milli() const;

  // The canonical text: "1500m" for 1.5, "1Gi" for "1024Mi".
  [[nodiscard]] std::string text() const;

  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nano_ < b.nano_   ? std::strong_ordering::less
           : a.nano_ > b.nano_ ? std::strong_ordering::greater
                               : std::strong_ordering::equal;
  }

 private:
  __extension__ using Wide = __int128;  // the largest int64 in billionths needs 93 bits

  [[nodiscard]] std::int64_t rounded(Wide nano_per_unit) const;
  [[nodiscard]] std::string decimal_text() const;

  Wide nano_ = 0;
  Format format_ = Format::decimal;

  friend class QuantityReader;
};

// True for the usual short forms that are canonical already ("2", "500m", "64Gi"): quick to see, and
// most amounts are. False says nothing.
[[nodiscard]] bool is_canonical(std::string_view text);

}  // namespace drover::kube
