#include "kube/select/requirement.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "kube/json/print.h"
#include "kube/select/names.h"

namespace drover::kube {
namespace {

struct Word {
  std::string_view text;
  Requirement::Op op;
  Expressions since;
};
constexpr std::array kWords{Word{"In", Requirement::Op::in, Expressions::labels},
                            Word{"NotIn", Requirement::Op::not_in, Expressions::labels},
                            Word{"Exists", Requirement::Op::exists, Expressions::labels},
                            Word{"DoesNotExist", Requirement::Op::absent, Expressions::labels},
                            Word{"Gt", Requirement::Op::greater, Expressions::nodes},
                            Word{"Lt", Requirement::Op::less, Expressions::nodes}};

std::string quoted(std::string_view text) {
  std::string out;
  print_string(out, text);
  return out;
}

Error invalid(std::string_view field, std::string_view value, std::string_view why) {
  return {Errc::invalid,
          std::string(field) + ": Invalid value: " + std::string(value) + ": " + std::string(why)};
}

std::string list_text(const std::vector<std::string>& values) {
  std::vector<std::string> items;
  for (const std::string& value : values) items.push_back(quoted(value));
  return "[" + join(items, ",") + "]";
}

Status check_values(const Requirement& requirement) {
  const auto& values = requirement.values;
  switch (requirement.op) {
    case Requirement::Op::in:
    case Requirement::Op::not_in:
      if (!values.empty()) return Done{};
      return invalid("values", "[]", "for 'in', 'notin' operators, values set can't be empty");
    case Requirement::Op::exists:
    case Requirement::Op::absent:
      if (values.empty()) return Done{};
      return invalid("values", list_text(values),
                     "values set must be empty for exists and does not exist");
    case Requirement::Op::greater:
    case Requirement::Op::less:
      break;
  }
  if (values.size() != 1) {
    return invalid("values", list_text(values),
                   "for 'Gt', 'Lt' operators, exactly one value is required");
  }
  if (parse_int(values.front())) return Done{};
  return invalid("values[0]", quoted(values.front()),
                 "for 'Gt', 'Lt' operators, the value must be an integer");
}

}  // namespace

bool Requirement::holds(std::optional<std::string_view> value) const {
  const auto listed = [&] { return std::ranges::binary_search(values, *value, std::less<>{}); };
  switch (op) {
    case Op::in:
      return value && listed();
    case Op::not_in:
      return !value || !listed();
    case Op::exists:
      return value.has_value();
    case Op::absent:
      return !value;
    case Op::greater:
    case Op::less:
      break;
  }
  const auto number = value ? parse_int(*value) : std::nullopt;
  const auto limit = values.size() == 1 ? parse_int(values.front()) : std::nullopt;
  if (!number || !limit) return false;
  return op == Op::greater ? *number > *limit : *number < *limit;
}

std::string Requirement::text() const {
  const bool single = values.size() == 1;
  switch (op) {
    case Op::in:
      return key + (single ? "=" + values.front() : " in (" + join(values, ",") + ")");
    case Op::not_in:
      return key + (single ? "!=" + values.front() : " notin (" + join(values, ",") + ")");
    case Op::exists:
      return key;
    case Op::absent:
      return "!" + key;
    case Op::greater:
      return key + ">" + join(values, ",");
    case Op::less:
      return key + "<" + join(values, ",");
  }
  return key;
}

Result<Requirement> checked(Requirement requirement) {
  if (const Complaints bad = qualified_name(requirement.key); !bad.empty()) {
    return invalid("key", quoted(requirement.key), bad.front());
  }
  std::ranges::sort(requirement.values);
  const auto [first, last] = std::ranges::unique(requirement.values);
  requirement.values.erase(first, last);
  TRY(check_values(requirement));
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    if (const Complaints bad = label_value(requirement.values[i]); !bad.empty()) {
      const std::string field = "values[" + std::to_string(i) + "][" + requirement.key + "]";
      return invalid(field, quoted(requirement.values[i]), bad.front());
    }
  }
  return requirement;
}

Result<Requirement> requirement_from(const Value& expression, Expressions allowed) {
  const std::string_view word = text_at(expression, "operator");
  const auto* it = std::ranges::find(kWords, word, &Word::text);
  if (it == kWords.end() || (it->since == Expressions::nodes && allowed == Expressions::labels)) {
    const std::string_view kind = allowed == Expressions::nodes ? "node" : "label";
    return Error{Errc::invalid,
                 quoted(word) + " is not a valid " + std::string(kind) + " selector operator"};
  }
  Requirement requirement{.key = std::string(text_at(expression, "key")), .op = it->op};
  if (const Array* values = array_at(expression, "values")) {
    for (const Value& value : *values) requirement.values.emplace_back(text(&value));
  }
  return checked(std::move(requirement));
}

}  // namespace drover::kube
