// The grammar of label selectors, and the words for where a text leaves it.
#include "kube/select/label_selector.h"

#include <array>

#include "base/text.h"

namespace drover::kube {
namespace {

enum class Mark : std::uint8_t {
  end,
  open,
  close,
  comma,
  bang,
  equal,
  not_equal,
  in,
  not_in,
  greater,
  less,
  word,
  bad
};

struct Token {
  Mark mark = Mark::end;
  std::string_view text;
};

struct Sign {
  std::string_view text;
  Mark mark;
};
// Longer signs first.
constexpr std::array kSigns{
    Sign{"==", Mark::equal}, Sign{"!=", Mark::not_equal}, Sign{"=", Mark::equal},
    Sign{"!", Mark::bang},   Sign{"(", Mark::open},       Sign{")", Mark::close},
    Sign{",", Mark::comma},  Sign{">", Mark::greater},    Sign{"<", Mark::less}};
constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kEndsWord = " \t\r\n=!(),><";

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) { advance(); }

  Result<LabelSelector> all() {
    std::vector<Requirement> list;
    if (next_.mark == Mark::end) return LabelSelector{};
    while (true) {
      if (next_.mark != Mark::bang && !is_word()) {
        return expected(list.empty() ? "!, identifier, or 'end of string'"
                                     : "identifier after ','");
      }
      if (list.size() == 1000)
        return Error{Errc::exhausted, "a selector has at most 1000 requirements"};
      auto one = requirement();
      if (!one) return std::move(one).error().under("unable to parse requirement");
      list.push_back(std::move(*one));
      if (next_.mark == Mark::end) return LabelSelector(std::move(list));
      if (next_.mark != Mark::comma) return expected("',' or 'end of string'");
      advance();
    }
  }

 private:
  // "in" and "notin" are operators only where an operator stands.
  [[nodiscard]] bool is_word() const {
    return next_.mark == Mark::word || next_.mark == Mark::in || next_.mark == Mark::not_in;
  }
  void advance() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlank), rest_.size()));
    next_ = {};
    if (rest_.empty()) return;
    for (const Sign& sign : kSigns) {
      if (rest_.starts_with(sign.text)) return take(sign.mark, sign.text.size());
    }
    take(Mark::word, std::min(rest_.find_first_of(kEndsWord), rest_.size()));
    if (next_.text == "in") next_.mark = Mark::in;
    if (next_.text == "notin") next_.mark = Mark::not_in;
  }
  void take(Mark mark, std::size_t size) {
    next_ = {mark, rest_.substr(0, size)};
    rest_.remove_prefix(size);
  }
  [[nodiscard]] Error expected(std::string_view what) const {
    return {Errc::invalid, "found '" + printable(next_.text) + "', expected: " + std::string(what)};
  }

  Result<Requirement> requirement() {
    Requirement one{.op = Requirement::Op::exists};
    if (next_.mark == Mark::bang) {
      one.op = Requirement::Op::absent;
      advance();
    }
    if (!is_word()) return expected("identifier");
    one.key = next_.text;
    advance();
    if (next_.mark == Mark::end || next_.mark == Mark::comma || one.op == Requirement::Op::absent) {
      return checked(std::move(one));
    }
    const Mark sign = next_.mark;
    switch (sign) {
      case Mark::in:
      case Mark::equal:
        one.op = Requirement::Op::in;
        break;
      case Mark::not_in:
      case Mark::not_equal:
        one.op = Requirement::Op::not_in;
        break;
      case Mark::greater:
        one.op = Requirement::Op::greater;
        break;
      case Mark::less:
        one.op = Requirement::Op::less;
        break;
      case Mark::end:
      case Mark::open:
      case Mark::close:
      case Mark::comma:
      case Mark::bang:
      case Mark::word:
      case Mark::bad:
        return expected("in, notin, =, ==, !=, gt, lt");
    }
    advance();
    const bool list = sign == Mark::in || sign == Mark::not_in;
    one.values = list ? TRY(values()) : TRY(value());
    return checked(std::move(one));
  }

  Result<std::vector<std::string>> value() {
    if (next_.mark == Mark::end || next_.mark == Mark::comma) return std::vector<std::string>{""};
    if (!is_word()) return expected("identifier");
    std::vector<std::string> one{std::string(next_.text)};
    advance();
    return one;
  }

  // Between commas may stand nothing: that is the empty value.
  Result<std::vector<std::string>> values() {
    std::vector<std::string> list;
    if (next_.mark != Mark::open) return expected("'('");
    advance();
    if (next_.mark == Mark::close) {
      advance();
      return list;
    }
    while (true) {
      list.emplace_back(is_word() ? next_.text : std::string_view{});
      if (is_word()) advance();
      const Mark mark = next_.mark;
      if (mark != Mark::comma && mark != Mark::close) return expected("',' or ')'");
      advance();
      if (mark == Mark::close) return list;
    }
  }

  std::string_view rest_;
  Token next_;
};

}  // namespace

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  if (text.size() > 64U << 10U) return Error{Errc::exhausted, "the label selector is too long"};
  return Parser(text).all();
}

Result<LabelSelector> LabelSelector::from(const Value& selector) {
  std::vector<Requirement> list;
  if (const Object* labels = object_at(selector, "matchLabels")) {
    for (const auto& label : *labels) {
      list.push_back(TRY(checked(
          {.key = std::string(label.key()), .values = {std::string(kube::text(&label.value()))}})));
    }
  }
  if (const Array* expressions = array_at(selector, "matchExpressions")) {
    for (const Value& expression : *expressions) {
      list.push_back(TRY(requirement_from(expression, Expressions::labels)));
    }
  }
  return LabelSelector(std::move(list));
}

bool LabelSelector::matches(const Object* labels) const {
  return matches_by([labels](std::string_view key) -> std::optional<std::string_view> {
    const Value* value = labels == nullptr ? nullptr : labels->if_contains(key);
    if (value == nullptr) return std::nullopt;
    return kube::text(value);
  });
}

std::string LabelSelector::text() const {
  std::vector<std::string> parts;
  for (const Requirement& one : all_) parts.push_back(one.text());
  return join(parts, ",");
}

}  // namespace drover::kube
