#include "domain/features.h"

#include <algorithm>

#include "base/text.h"

namespace drover {
namespace {

constexpr std::size_t kMaxTerms = 128;
constexpr std::size_t kMaxWays = 32;
constexpr int kMaxDepth = 16;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '=' || c == '/' || c == ':' || c == '+';
}

}  // namespace

class FeatureParser {
 public:
  explicit FeatureParser(std::string_view text) : text_(text) {}

  Result<Features> run() {
    if (text_.empty()) return std::move(features_);
    TRY(list(0, ')'));
    if (at_ < text_.size()) return fail("'" + printable(text_.substr(at_, 1)) + "' is not expected here");
    return std::move(features_);
  }

 private:
  using Kind = Features::Kind;

  Error fail(const std::string& what) const {
    return {Errc::invalid, "column " + std::to_string(at_ + 1) + ": " + what};
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  Result<std::size_t> add(Features::Term term) {
    if (features_.terms_.size() >= kMaxTerms) return fail("the expression is too long");
    features_.terms_.push_back(std::move(term));
    return features_.terms_.size() - 1;
  }

  // Operands of | whose operands are joined by &, so & binds closer.
  Result<std::size_t> list(int depth, char close) {
    if (depth > kMaxDepth) return fail("nested too deeply");
    Features::Term any{.kind = close == ']' ? Kind::choice : Kind::either};
    for (;;) {
      Features::Term all{.kind = Kind::both};
      for (;;) {
        all.parts.push_back(TRY(operand(depth)));
        if (peek() != '&') break;
        ++at_;
      }
      any.parts.push_back(all.parts.size() == 1 ? all.parts.front() : TRY(add(std::move(all))));
      if (peek() != '|') break;
      ++at_;
    }
    if (close == ']') {
      any.stride = features_.ways_;
      if (any.parts.size() * features_.ways_ > kMaxWays) return fail("too many alternatives in brackets");
      features_.ways_ *= any.parts.size();
    } else if (any.parts.size() == 1 && any.parts.front() + 1 == features_.terms_.size()) {
      return any.parts.front();
    }
    return add(std::move(any));
  }
  Result<std::size_t> operand(int depth) {
    if (peek() == '(' || peek() == '[') {
      const char close = peek() == '(' ? ')' : ']';
      ++at_;
      const std::size_t inner = TRY(list(depth + 1, close));
      if (peek() != close) return fail(std::string("a '") + close + "' is missing");
      ++at_;
      TRY(no_count());
      return inner;
    }
    const std::size_t start = at_;
    while (is_word(peek())) ++at_;
    if (at_ == start) return fail("a feature is expected");
    const std::string word(text_.substr(start, at_ - start));
    TRY(no_count());
    return add({.word = word});
  }
  Status no_count() const {
    if (peek() == '*') return fail("counts of nodes per feature (\"*N\") are not supported");
    return Done{};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Features features_;
};

Result<Features> Features::parse(std::string_view text) { return FeatureParser(text).run(); }

bool Features::holds(const std::vector<std::string>& features, std::size_t way) const {
  return terms_.empty() || holds(terms_.size() - 1, features, way);
}

bool Features::holds(std::size_t place, const std::vector<std::string>& features, std::size_t way) const {
  const Term& term = terms_[place];
  const auto part = [&](std::size_t p) { return holds(p, features, way); };
  switch (term.kind) {
    case Kind::both: return std::ranges::all_of(term.parts, part);
    case Kind::either: return std::ranges::any_of(term.parts, part);
    case Kind::choice: return part(term.parts[way / term.stride % term.parts.size()]);
    case Kind::word: return std::ranges::find(features, term.word) != features.end();
  }
  return false;
}

}  // namespace drover
