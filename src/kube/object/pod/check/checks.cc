#include "kube/object/pod/check/checks.h"

#include <algorithm>
#include <set>

namespace drover::kube {

void check_word(Problems& problems, const Value& holder, std::string_view name, const Path& path,
                const std::vector<std::string_view>& words) {
  const Value* value = member(holder, name);
  if (value == nullptr || value->is_null()) return;
  if (std::ranges::find(words, text(value)) == words.end()) {
    problems.not_supported(path / name, text(value), words);
  }
}

void check_least(Problems& problems, const Value& holder, std::string_view name, const Path& path,
                 std::int64_t least) {
  const Value* value = member(holder, name);
  const auto number = integer(value);
  if (!number || *number >= least) return;
  problems.invalid(path / name, *value,
                   "must be greater than or equal to " + std::to_string(least));
}

bool is_given(const Value* value) {
  if (value == nullptr || value->is_null()) return false;
  if (value->is_bool()) return value->get_bool();
  if (value->is_string()) return !value->get_string().empty();
  if (value->is_array()) return !value->get_array().empty();
  return !value->is_object() || !value->get_object().empty();
}

void check_unserved(Problems& problems, const Value& holder, std::string_view name,
                    const Path& path, std::string_view why) {
  if (is_given(member(holder, name))) problems.forbidden(path / name, why);
}

void check_unique(Problems& problems, const Array* list, std::string_view name, const Path& path) {
  if (list == nullptr) return;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string_view value = text_at((*list)[i], name);
    if (!value.empty() && !seen.insert(value).second) {
      problems.duplicate(path[i] / name, value);
    }
  }
}

}  // namespace drover::kube
