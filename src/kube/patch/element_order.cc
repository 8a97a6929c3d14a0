#include "kube/patch/element_order.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kube/json/print.h"

namespace drover::kube {
namespace {

std::string identity(const Value& item, std::string_view key) {
  if (key.empty()) return print(item);
  const Value* value = member(item, key);
  return value == nullptr ? std::string{} : print(*value);
}

using Places = std::map<std::string, std::size_t>;
Places places_of(const Array& list, std::string_view key) {
  Places places;
  for (std::size_t i = 0; i < list.size(); ++i) places.emplace(identity(list[i], key), i);
  return places;
}

struct Item {
  std::size_t at;      // in the list
  std::size_t wanted;  // place in the wanted order
  std::size_t before;  // place before the patch, or kNew
};
constexpr std::size_t kNew = std::size_t(-1);

}  // namespace

void order_elements(Array& list, const Array& wanted, const Array& before, std::string_view key) {
  const Places order = places_of(wanted, key);
  const Places old = places_of(before, key);
  std::vector<Item> named;
  std::vector<Item> others;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string id = identity(list[i], key);
    const auto place = order.find(id);
    const auto was = old.find(id);
    const std::size_t stood = was == old.end() ? kNew : was->second;
    if (place == order.end()) {
      others.push_back({i, 0, stood});
    } else {
      named.push_back({i, place->second, stood});
    }
  }
  std::ranges::stable_sort(named, {}, &Item::wanted);
  std::ranges::stable_sort(others, {}, &Item::before);
  Array result(list.storage());
  result.reserve(list.size());
  auto next = others.begin();
  for (const Item& item : named) {
    for (; next != others.end() && item.before != kNew && next->before < item.before; ++next) {
      result.push_back(std::move(list[next->at]));
    }
    result.push_back(std::move(list[item.at]));
  }
  for (; next != others.end(); ++next) result.push_back(std::move(list[next->at]));
  list = std::move(result);
}

}  // namespace drover::kube
