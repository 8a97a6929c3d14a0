#include "kube/select/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/text.h"
#include "kube/json/print.h"

namespace drover::kube {
namespace {

__extension__ using Wide = __int128;
constexpr Wide kNano = 1'000'000'000;
constexpr Wide kMost = Wide{std::numeric_limits<std::int64_t>::max()} * kNano;

struct Suffix {
  std::string_view text;
  int power;  // of ten, or of 1024
  Quantity::Format format;
};
constexpr std::array kSuffixes{
    Suffix{"n", -9, Quantity::Format::decimal}, Suffix{"u", -6, Quantity::Format::decimal},
    Suffix{"m", -3, Quantity::Format::decimal}, Suffix{"", 0, Quantity::Format::decimal},
    Suffix{"k", 3, Quantity::Format::decimal},  Suffix{"M", 6, Quantity::Format::decimal},
    Suffix{"G", 9, Quantity::Format::decimal},  Suffix{"T", 12, Quantity::Format::decimal},
    Suffix{"P", 15, Quantity::Format::decimal}, Suffix{"E", 18, Quantity::Format::decimal},
    Suffix{"Ki", 1, Quantity::Format::binary},  Suffix{"Mi", 2, Quantity::Format::binary},
    Suffix{"Gi", 3, Quantity::Format::binary},  Suffix{"Ti", 4, Quantity::Format::binary},
    Suffix{"Pi", 5, Quantity::Format::binary},  Suffix{"Ei", 6, Quantity::Format::binary}};

std::string_view suffix_for(Quantity::Format format, int power) {
  const auto* it = std::ranges::find_if(
      kSuffixes, [&](const Suffix& s) { return s.format == format && s.power == power; });
  return it == kSuffixes.end() ? std::string_view{} : it->text;
}

std::string wide_text(Wide number) {
  std::string digits;
  for (Wide rest = number < 0 ? -number : number; rest != 0; rest /= 10) {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  }
  if (number < 0) digits += '-';
  std::ranges::reverse(digits);
  return digits.empty() ? "0" : digits;
}

Error no_quantity() {
  return {Errc::invalid,
          "quantities must match the regular expression "
          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"};
}

// A power of ten or of 1024 by name, or by an exponent as in "2e-3".
std::optional<Suffix> read_suffix(std::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text == text) return suffix;
  }
  if (text.size() < 2 || (text.front() != 'e' && text.front() != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto power = parse_int(text);
  if (!power || *power > 1000 || *power < -1000) return std::nullopt;
  return Suffix{{}, static_cast<int>(*power), Quantity::Format::exponent};
}

}  // namespace

// Digits to billionths, one at a time, so that nothing overflows on the way.
class QuantityReader {
 public:
  static Quantity read(std::string_view whole, std::string_view fraction, const Suffix& suffix) {
    QuantityReader reader;
    const bool binary = suffix.format == Quantity::Format::binary;
    const int shift = binary ? 0 : suffix.power;
    int place = static_cast<int>(std::min<std::size_t>(whole.size(), 1U << 20U)) - 1 + shift + 9;
    for (const std::string_view part : {whole, fraction}) {
      for (const char digit : part) reader.add(digit - '0', place--);
    }
    Quantity quantity;
    if (binary) {
      for (int i = 0; i < suffix.power; ++i) reader.scale();
    }
    quantity.nano_ = std::min(reader.total_ + (reader.rest_ ? 1 : 0), kMost);
    quantity.format_ = suffix.format;
    return quantity;
  }
  static Quantity negated(Quantity quantity) {
    quantity.nano_ = -quantity.nano_;
    return quantity;
  }

 private:
  void add(int digit, int place) {
    if (digit == 0) return;
    if (place < 0) {
      rest_ = true;
      return;
    }
    Wide amount = digit;
    for (int i = 0; i < place && amount <= kMost; ++i) amount *= 10;
    total_ = std::min(total_ + amount, kMost);
  }
  void scale() { total_ = total_ > kMost / 1024 ? kMost : total_ * 1024; }

  Wide total_ = 0;
  bool rest_ = false;
};

Quantity Quantity::of(std::int64_t units, Format format) {
  Quantity quantity;
  quantity.nano_ = std::max(units, -std::numeric_limits<std::int64_t>::max()) * kNano;
  quantity.format_ = format;
  return quantity;
}

Quantity Quantity::of_milli(std::int64_t thousandths, Format format) {
  Quantity quantity;
  quantity.nano_ = thousandths * (kNano / 1000);
  quantity.format_ = format;
  return quantity;
}

Result<Quantity> Quantity::parse(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto digits = [&text] {
    const auto count = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string_view taken = text.substr(0, count);
    text.remove_prefix(count);
    return taken;
  };
  const std::string_view whole = digits();
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = digits();
  }
  if (whole.empty() && fraction.empty()) return no_quantity();
  const auto suffix = read_suffix(text);
  if (!suffix) {
    const bool known = text.find_first_not_of("eEinumkKMGTP+-0123456789") == std::string_view::npos;
    return known ? Error{Errc::invalid, "unable to parse quantity's suffix"} : no_quantity();
  }
  const Quantity amount = QuantityReader::read(whole, fraction, *suffix);
  return negative ? QuantityReader::negated(amount) : amount;
}

Result<Quantity> Quantity::from(const Value& value) {
  if (value.is_string()) return parse(trim(kube::text(&value)));
  if (value.is_number()) return parse(print(value));
  return no_quantity();
}

std::int64_t Quantity::rounded(Wide nano_per_unit) const {
  const Wide away = nano_ < 0 ? -(nano_per_unit - 1) : nano_per_unit - 1;
  const Wide units = (nano_ + away) / nano_per_unit;
  constexpr Wide kLimit = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(units, -kLimit, kLimit));
}

std::int64_t Quantity::units() const { return rounded(kNano); }
std::int64_t Quantity::milli() const { return rounded(kNano / 1000); }

Quantity& Quantity::operator+=(const Quantity& other) {
  if (nano_ == 0) format_ = other.format_;  // a sum that starts at nothing looks like its parts
  nano_ = std::clamp(nano_ + other.nano_, -kMost, kMost);
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  nano_ = std::clamp(nano_ - other.nano_, -kMost, kMost);
  return *this;
}

std::string Quantity::decimal_text() const {
  Wide mantissa = nano_;
  int power = -9;
  while (mantissa % 1000 == 0 && power < 18) {
    mantissa /= 1000;
    power += 3;
  }
  std::string digits = wide_text(mantissa);
  if (format_ != Format::exponent) return digits.append(suffix_for(Format::decimal, power));
  return power == 0 ? digits : digits + "e" + std::to_string(power);
}

std::string Quantity::text() const {
  if (nano_ == 0) return "0";
  const bool small = nano_ > -1024 * kNano && nano_ < 1024 * kNano;
  if (format_ != Format::binary || small || nano_ % kNano != 0) return decimal_text();
  std::int64_t mantissa = units();
  int power = 0;
  while (mantissa % 1024 == 0 && power < 6) {
    mantissa /= 1024;
    ++power;
  }
  return std::to_string(mantissa).append(power == 0 ? std::string_view{}
                                                    : suffix_for(Format::binary, power));
}

// Up to three digits without a leading zero: no suffix could take more of them in. With E or Ei
// they may be more than there is.
bool is_canonical(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > 3 || text.front() == '0') return false;
  const std::string_view suffix = text.substr(digits);
  return !suffix.starts_with('E') &&
         std::ranges::find(kSuffixes, suffix, &Suffix::text) != kSuffixes.end();
}

}  // namespace drover::kube
