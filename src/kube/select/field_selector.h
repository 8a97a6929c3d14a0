// Field selectors: `spec.nodeName=n1,status.phase!=Failed`. Which fields there are is the
// resource's to say; one without terms matches everything.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::kube {

class FieldSelector {
 public:
  struct Term {
    std::string field;
    std::string value;
    bool equal = true;  // else: anything but this value
    friend bool operator==(const Term&, const Term&) = default;
  };

  // Takes = == and !=; `\,` `\=` and `\\` stand for themselves in a value. At most 64 KiB.
  [[nodiscard]] static Result<FieldSelector> parse(std::string_view text);

  // Errc::invalid `field label not supported: spec.foo` for the first one that isn't in the list.
  [[nodiscard]] Status check(std::span<const std::string_view> supported) const;
  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
  [[nodiscard]] bool everything() const { return terms_.empty(); }
  // The value that the field must have, where one term says so: a list may then look it up at once.
  [[nodiscard]] std::optional<std::string_view> exact(std::string_view field) const;
  // std::string_view (or std::string) value_of(std::string_view field); "" for what isn't there.
  template <class ValueOf>
  [[nodiscard]] bool matches(ValueOf value_of) const {
    return std::ranges::all_of(terms_, [&](const Term& term) {
      return (value_of(std::string_view(term.field)) == term.value) == term.equal;
    });
  }

 private:
  std::vector<Term> terms_;
};

}  // namespace drover::kube
