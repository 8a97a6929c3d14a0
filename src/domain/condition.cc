#include "domain/condition.h"

#include <compare>
#include <optional>

#include "base/text.h"

namespace drover {
namespace {

constexpr std::size_t kMaxTerms = 64;
constexpr int kMaxDepth = 32;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '/' || c == ':'; }

// "8.0" -> 8000. At most three digits after the point; nothing for other texts and for overflow.
std::optional<std::int64_t> thousandths(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto whole = parse_uint(text.substr(0, point));
  if (!whole || *whole > 1'000'000'000'000ULL) return std::nullopt;
  std::int64_t value = static_cast<std::int64_t>(*whole) * 1000;
  if (point == std::string_view::npos) return value;
  std::string digits(text.substr(point + 1));
  if (digits.empty() || digits.size() > 3) return std::nullopt;
  digits.resize(3, '0');
  const auto part = parse_uint(digits);
  if (!part) return std::nullopt;
  return value + static_cast<std::int64_t>(*part);
}

// Bytes in one of a unit of memory; 0 for no such unit.
std::int64_t unit_bytes(std::string_view unit) {
  struct Unit {
    std::string_view word;
    std::int64_t bytes;
  };
  static constexpr Unit kUnits[] = {
      {"mb", 1'000'000},          {"gb", 1'000'000'000},        {"tb", 1'000'000'000'000},
      {"m", 1'000'000},           {"g", 1'000'000'000},         {"t", 1'000'000'000'000},
      {"mib", std::int64_t{1} << 20}, {"gib", std::int64_t{1} << 30}, {"tib", std::int64_t{1} << 40}};
  for (const Unit& u : kUnits) {
    if (iequals(u.word, unit)) return u.bytes;
  }
  return 0;
}

struct Attribute {
  bool present = false;
  bool number = false;
  std::int64_t value = 0;
  std::string_view word;
};

Attribute attribute_of(const DeviceInfo& device, std::string_view name) {
  const auto number = [](std::int64_t n) { return Attribute{.present = true, .number = true, .value = n, .word = {}}; };
  const auto text = [](std::string_view t) { return Attribute{.present = !t.empty(), .word = t}; };
  if (name == "gpu_memory") return number(device.memory.count());
  if (name == "compute_capability") return number(std::int64_t{device.capability} * 100);
  if (name == "model") return text(device.model);
  if (name == "product") return text(device.product);
  if (name == "nvlink") return number(static_cast<std::int64_t>(device.links.size()) * 1000);
  if (name == "numa") return number(std::int64_t{device.numa} * 1000);
  if (name == "index") return number(std::int64_t{device.index} * 1000);
  const auto found = device.attributes.find(std::string(name));
  if (found == device.attributes.end()) return {};
  Attribute a = text(found->second);
  if (const auto value = thousandths(found->second)) {
    a.number = true;
    a.value = *value;
  }
  return a;
}

}  // namespace

class ConditionParser {
 public:
  explicit ConditionParser(std::string_view text) : text_(text) {}

  Result<Condition> run() {
    skip();
    if (at_end()) return std::move(condition_);
    TRY(either(0));
    if (!at_end()) return fail("'" + std::string(1, text_[at_]) + "' is not expected here");
    return std::move(condition_);
  }

 private:
  using Kind = Condition::Kind;
  using Compare = Condition::Compare;

  Error fail(const std::string& what) const {
    return {Errc::invalid, "column " + std::to_string(at_ + 1) + ": " + what};
  }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  void skip() {
    while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool eat(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    skip();
    return true;
  }
  Result<std::size_t> add(Condition::Term term) {
    if (condition_.terms_.size() >= kMaxTerms) return fail("the condition is too long");
    condition_.terms_.push_back(std::move(term));
    return condition_.terms_.size() - 1;
  }

  Result<std::size_t> either(int depth) {
    std::size_t left = TRY(both(depth));
    while (eat("||") || eat("|")) {
      const std::size_t right = TRY(both(depth));
      left = TRY(add({.kind = Kind::either, .left = left, .right = right}));
    }
    return left;
  }
  Result<std::size_t> both(int depth) {
    std::size_t left = TRY(single(depth));
    while (eat("&&") || eat("&")) {
      const std::size_t right = TRY(single(depth));
      left = TRY(add({.kind = Kind::both, .left = left, .right = right}));
    }
    return left;
  }
  Result<std::size_t> single(int depth) {
    if (depth > kMaxDepth) return fail("nested too deeply");
    if (!text_.substr(at_).starts_with("!=") && eat("!")) {
      const std::size_t inner = TRY(single(depth + 1));
      return add({.kind = Kind::negation, .left = inner});
    }
    if (eat("(")) {
      const std::size_t inner = TRY(either(depth + 1));
      if (!eat(")")) return fail("a ')' is missing");
      return inner;
    }
    return comparison();
  }
  Result<std::size_t> comparison() {
    if (at_end() || !is_letter(text_[at_])) return fail("a GPU attribute is expected, e.g. gpu_memory");
    const std::size_t start = at_;
    while (!at_end() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    Condition::Term term{.attribute = std::string(text_.substr(start, at_ - start))};
    skip();
    const auto compare = comparison_sign();
    if (!compare) {
      if (term.attribute == "gpu_memory" || term.attribute == "compute_capability") {
        return fail("a comparison is expected after " + term.attribute);
      }
      return add(std::move(term));  // "nvlink": present and not zero
    }
    term.kind = Kind::compare;
    term.compare = *compare;
    TRY(value(term));
    return add(std::move(term));
  }
  std::optional<Compare> comparison_sign() {
    if (eat(">=")) return Compare::at_least;
    if (eat("<=")) return Compare::at_most;
    if (eat("!=")) return Compare::not_equal;
    if (eat("==") || eat("=")) return Compare::equal;
    if (eat(">")) return Compare::more;
    if (eat("<")) return Compare::less;
    return std::nullopt;
  }
  Status value(Condition::Term& term) {
    const std::size_t start = at_;
    if (!at_end() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const std::size_t close = text_.find(text_[at_], at_ + 1);
      if (close == std::string_view::npos) return fail("the quotation is not closed");
      term.word = std::string(text_.substr(at_ + 1, close - at_ - 1));
      at_ = close + 1;
    } else {
      while (!at_end() && is_word(text_[at_])) ++at_;
      term.word = std::string(text_.substr(start, at_ - start));
    }
    const std::size_t after = at_;
    at_ = start;  // errors below are about the value
    if (term.word.empty()) return fail("a value is expected");
    if (term.attribute == "gpu_memory") {
      TRY(memory(term));
    } else if (const auto number = thousandths(term.word)) {
      term.number = true;
      term.value = *number;
    } else if (term.attribute == "compute_capability" || term.attribute == "nvlink" || term.attribute == "numa" ||
               term.attribute == "index") {
      return fail("'" + printable(term.word) + "' is not a number");
    } else if (term.compare != Compare::equal && term.compare != Compare::not_equal) {
      return fail("'" + printable(term.word) + "' can only be compared by = and !=");
    }
    at_ = after;
    skip();
    return Done{};
  }
  Status memory(Condition::Term& term) {
    std::size_t digits = 0;
    while (digits < term.word.size() && (is_digit(term.word[digits]) || term.word[digits] == '.')) ++digits;
    const auto amount = thousandths(std::string_view(term.word).substr(0, digits));
    if (!amount) return fail("'" + printable(term.word) + "' is not an amount of memory");
    const std::int64_t unit = unit_bytes(std::string_view(term.word).substr(digits));
    if (unit == 0) return fail("'" + printable(term.word) + "' needs a unit, e.g. 40GB or 40GiB");
    if (__builtin_mul_overflow(*amount, unit / 1000 + (unit % 1000 != 0 ? 1 : 0), &term.value)) {
      return fail("'" + printable(term.word) + "' is too much");
    }
    term.value = *amount % 1000 == 0 ? *amount / 1000 * unit : *amount * (unit / 1000);
    term.number = true;
    return Done{};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Condition condition_;
};

Result<Condition> Condition::parse(std::string_view text) { return ConditionParser(text).run(); }

bool Condition::holds(const DeviceInfo& device) const {
  return terms_.empty() || holds(terms_.size() - 1, device);
}

bool Condition::holds(std::size_t place, const DeviceInfo& device) const {
  const Term& term = terms_[place];
  switch (term.kind) {
    case Kind::both: return holds(term.left, device) && holds(term.right, device);
    case Kind::either: return holds(term.left, device) || holds(term.right, device);
    case Kind::negation: return !holds(term.left, device);
    case Kind::compare: return compares(term, device);
    case Kind::present: {
      const Attribute a = attribute_of(device, term.attribute);
      return a.present && (a.number ? a.value != 0 : a.word != "false");
    }
  }
  return false;
}

bool Condition::compares(const Term& term, const DeviceInfo& device) {
  const Attribute a = attribute_of(device, term.attribute);
  if (!a.present) return false;
  if (!term.number || !a.number) {
    return iequals(a.word, term.word) == (term.compare == Compare::equal);
  }
  switch (term.compare) {
    case Compare::equal: return a.value == term.value;
    case Compare::not_equal: return a.value != term.value;
    case Compare::less: return a.value < term.value;
    case Compare::at_most: return a.value <= term.value;
    case Compare::more: return a.value > term.value;
    case Compare::at_least: return a.value >= term.value;
  }
  return false;
}

}  // namespace drover
