#include "kube/select/field_selector.h"

#include "base/text.h"

namespace drover::kube {
namespace {

// "a=b\,c,d=e" -> {"a=b\,c", "d=e"}.
std::vector<std::string_view> terms_of(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  return terms;
}

Result<std::string> unescaped(std::string_view value) {
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == ',' || value[i] == '=') {
      return Error{
          Errc::invalid,
          std::string("invalid field selector: unescaped character in value: ") + value[i]};
    }
    if (value[i] != '\\') {
      out += value[i];
      continue;
    }
    if (++i == value.size() || std::string_view("\\,=").find(value[i]) == std::string_view::npos) {
      return Error{Errc::invalid, "invalid field selector: invalid escape sequence: " +
                                      printable(value.substr(i - 1, 2))};
    }
    out += value[i];
  }
  return out;
}

// The first operator in the term, with its length.
struct Found {
  std::size_t at = 0;
  std::size_t size = 0;
  bool equal = true;
};
std::optional<Found> find_operator(std::string_view term) {
  for (std::size_t i = 0; i < term.size(); ++i) {
    const std::string_view rest = term.substr(i);
    if (rest.starts_with("!=")) return Found{i, 2, false};
    if (rest.starts_with("==")) return Found{i, 2, true};
    if (rest.starts_with("=")) return Found{i, 1, true};
  }
  return std::nullopt;
}

}  // namespace

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  if (text.size() > 64U << 10U) return Error{Errc::exhausted, "the field selector is too long"};
  FieldSelector selector;
  for (const std::string_view term : terms_of(text)) {
    if (term.empty()) continue;
    const auto found = find_operator(term);
    if (!found) {
      return Error{Errc::invalid, "invalid selector: '" + printable(text) +
                                      "'; can't understand '" + printable(term) + "'"};
    }
    std::string value = TRY(unescaped(term.substr(found->at + found->size)));
    selector.terms_.push_back(
        {std::string(term.substr(0, found->at)), std::move(value), found->equal});
  }
  return selector;
}

Status FieldSelector::check(std::span<const std::string_view> supported) const {
  for (const Term& term : terms_) {
    if (std::ranges::find(supported, term.field) == supported.end()) {
      return Error{Errc::invalid, "field label not supported: " + printable(term.field)};
    }
  }
  return Done{};
}

std::optional<std::string_view> FieldSelector::exact(std::string_view field) const {
  for (const Term& term : terms_) {
    if (term.equal && term.field == field) return term.value;
  }
  return std::nullopt;
}

}  // namespace drover::kube
