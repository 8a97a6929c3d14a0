#include "kube/patch/strategic_patch.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "kube/json/print.h"
#include "kube/patch/element_order.h"

namespace drover::kube {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrder = "$setElementOrder/";

Error bad(std::string message) { return {Errc::invalid, std::move(message)}; }

bool is_directive(std::string_view key) {
  return key == kDirective || key == kRetainKeys || key.starts_with(kDelete) ||
         key.starts_with(kOrder);
}

// A patch's value where nothing is to merge with: without nulls and directives.
Value plain(const Value& patch) {
  if (const Object* object = patch.if_object()) {
    Object result;
    for (const auto& entry : *object) {
      if (entry.value().is_null() || is_directive(entry.key())) continue;
      result.emplace(entry.key(), plain(entry.value()));
    }
    return result;
  }
  if (const Array* array = patch.if_array()) {
    Array result;
    for (const Value& item : *array) {
      if (const std::string_view directive = text(member(item, kDirective)); !directive.empty()) {
        if (directive == "delete" || item.get_object().size() == 1) continue;
      }
      result.push_back(plain(item));
    }
    return result;
  }
  return patch;
}

const Field* field_of(const Message* message, std::string_view name) {
  return message == nullptr ? nullptr : message->find(name);
}

class Merger {
 public:
  Status object(Object& target, const Object& patch, const Message* message) {
    if (const Value* directive = patch.if_contains(kDirective)) {
      const std::string_view word = text(directive);
      if (word == "delete") {
        target.clear();
        return Done{};
      }
      if (word == "replace") {
        target = plain(patch).get_object();
        return Done{};
      }
      if (word != "merge") return bad("Unknown patch type found: " + printable(print(*directive)));
    }
    TRY(retain(target, patch));
    for (const auto& entry : patch) {
      if (entry.key().starts_with(kDelete))
        TRY(take_out(target, entry.key().substr(kDelete.size()), entry.value()));
    }
    for (const auto& entry : patch) {
      if (!is_directive(entry.key()))
        TRY(change(target, patch, entry.key(), entry.value(), field_of(message, entry.key())));
    }
    for (const auto& entry : patch) {  // an order alone
      const std::string_view key = entry.key();
      if (!key.starts_with(kOrder) || patch.contains(key.substr(kOrder.size()))) continue;
      const std::string_view list = key.substr(kOrder.size());
      Value* value = target.if_contains(list);
      if (value != nullptr && value->is_array())
        TRY(put_in_order(value->get_array(), patch, list, field_of(message, list), nullptr));
    }
    return Done{};
  }

 private:
  static Status retain(Object& target, const Object& patch) {
    const Value* keys = patch.if_contains(kRetainKeys);
    if (keys == nullptr) return Done{};
    if (!keys->is_array()) return bad("$retainKeys is a list of names");
    std::set<std::string_view> kept;
    for (const Value& key : keys->get_array()) kept.insert(text(&key));
    for (const auto& entry : patch) {
      if (!is_directive(entry.key()) && !entry.value().is_null() && !kept.contains(entry.key())) {
        return bad("$retainKeys doesn't name " + printable(entry.key()) + ", which the patch sets");
      }
    }
    for (auto it = target.begin(); it != target.end();) {
      it = kept.contains(it->key()) ? std::next(it) : remove(target, it);
    }
    return Done{};
  }

  static Status take_out(Object& target, std::string_view list, const Value& values) {
    if (!values.is_array()) return bad("$deleteFromPrimitiveList is followed by a list");
    Value* value = target.if_contains(list);
    if (value == nullptr || !value->is_array()) return Done{};
    std::set<std::string> gone;
    for (const Value& one : values.get_array()) gone.insert(print(one));
    Array& array = value->get_array();
    array.erase(std::remove_if(array.begin(), array.end(),
                               [&](const Value& item) { return gone.contains(print(item)); }),
                array.end());
    return Done{};
  }

  Status change(Object& target, const Object& patch, std::string_view name, const Value& value,
                const Field* field) {
    if (value.is_null()) {
      remove(target, name);
      return Done{};
    }
    Value* here = target.if_contains(name);
    if (value.is_object() && here != nullptr && here->is_object()) {
      return object(here->get_object(), value.get_object(),
                    field == nullptr || field->shape != Shape::one ? nullptr : field->message);
    }
    const bool merges =
        value.is_array() && field != nullptr && field->merge && field->shape == Shape::list;
    if (!merges) {
      target[name] = plain(value);
      return Done{};
    }
    if (here == nullptr || !here->is_array()) {
      here = &target[name];
      here->emplace_array();
    }
    return list(here->get_array(), patch, name, value.get_array(), *field);
  }

  Status list(Array& target, const Object& patch, std::string_view name, const Array& changes,
              const Field& field) {
    const Array before = target;
    if (field.merge_key.empty()) {
      TRY(scalars(target, changes));
    } else {
      TRY(items(target, changes, field));
    }
    return put_in_order(target, patch, name, &field, &before, &changes);
  }

  static Status scalars(Array& target, const Array& changes) {
    std::set<std::string> there;
    for (const Value& item : target) there.insert(print(item));
    for (const Value& item : changes) {
      if (item.is_object() || item.is_array()) return bad("the list has scalars only");
      if (there.insert(print(item)).second) target.push_back(item);
    }
    return Done{};
  }

  Status items(Array& target, const Array& changes, const Field& field) {
    const bool replace = std::ranges::any_of(
        changes, [](const Value& item) { return text(member(item, kDirective)) == "replace"; });
    if (replace) {
      target = plain(changes).get_array();
      return Done{};
    }
    // By key in maps, since lists may have thousands of items. Deletions come first.
    std::set<std::string> gone;
    for (const Value& item : changes) {
      if (text(member(item, kDirective)) == "delete") gone.insert(TRY(key_of(item, field)));
    }
    if (!gone.empty()) {
      const auto named = [&](const Value& one) {
        const Value* key = member(one, field.merge_key);
        return key != nullptr && gone.contains(print(*key));
      };
      target.erase(std::remove_if(target.begin(), target.end(), named), target.end());
    }
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < target.size(); ++i) {
      if (const Value* key = member(target[i], field.merge_key)) places.emplace(print(*key), i);
    }
    for (const Value& item : changes) {
      if (text(member(item, kDirective)) == "delete") continue;
      const std::string key = TRY(key_of(item, field));
      const auto [place, added] = places.emplace(key, target.size());
      if (added) {
        target.push_back(plain(item));
      } else {
        TRY(object(target[place->second].get_object(), item.get_object(), field.message));
      }
    }
    return Done{};
  }

  static Result<std::string> key_of(const Value& item, const Field& field) {
    const Value* key = member(item, field.merge_key);
    if (key != nullptr) return print(*key);
    return bad("map: " + printable(print(item)) +
               " does not contain declared merge key: " + std::string(field.merge_key));
  }
  // `before` and `changes` are null when only an order was given.
  static Status put_in_order(Array& target, const Object& patch, std::string_view name,
                             const Field* field, const Array* before,
                             const Array* changes = nullptr) {
    const Value* order = patch.if_contains(std::string(kOrder) + std::string(name));
    if (order != nullptr && !order->is_array())
      return bad("$setElementOrder is followed by a list");
    const Array* wanted = order == nullptr ? changes : &order->get_array();
    const std::string_view key = field == nullptr ? std::string_view{} : field->merge_key;
    order_elements(target, *wanted, before == nullptr ? target : *before, key);
    return Done{};
  }
};

}  // namespace

Result<Value> apply_strategic_patch(Value document, const Value& patch, const Message& kind) {
  if (!patch.is_object()) return bad("a strategic merge patch is an object");
  if (!document.is_object()) document.emplace_object();
  TRY(Merger().object(document.get_object(), patch.get_object(), &kind));
  return document;
}

}  // namespace drover::kube
