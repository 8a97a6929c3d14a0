// JSON into any described value; the counterpart of to_json.h. Missing members keep their defaults;
// a member that nobody knows, a wrong kind or a number out of range is an error that names its path.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "base/text.h"
#include "native/hash_text.h"
#include "native/json_value.h"

namespace drover::native {

namespace json_detail {

[[nodiscard]] Error wrong(const std::string& path, std::string_view wanted, const Json& found);
[[nodiscard]] Error unknown(const std::string& path, std::string_view what, std::string_view word,
                            const std::vector<std::string_view>& known);
[[nodiscard]] inline std::string below(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

template <class T>
Status read(const Json& json, const std::string& path, T& value);

struct MemberReader {
  const Json& object;
  const std::string& path;
  std::vector<std::string_view> names;
  Status status = Done{};
  template <class T>
  void operator()(std::uint32_t, std::string_view name, T& value) {
    names.push_back(name);
    const Json* found = object.member(name);
    if (found != nullptr && status) status = read(*found, below(path, name), value);
  }
};

template <class T>
Status read_plain(const Json& json, const std::string& path, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (json.kind != Json::Kind::boolean) return wrong(path, "true or false", json);
    value = json.boolean;
  } else if constexpr (Worded<T>) {
    if (json.kind != Json::Kind::text) return wrong(path, "a text", json);
    const auto found = from_word<T>(json.text);
    if (!found) {
      std::vector<std::string_view> words;
      for (int i = 0; !word(static_cast<T>(i)).empty(); ++i) words.push_back(word(static_cast<T>(i)));
      return unknown(path, "word", json.text, words);
    }
    value = *found;
  } else {
    const bool natural = json.kind == Json::Kind::natural && !Plain<T>::is_signed;
    if (json.kind != Json::Kind::integer && !natural) return wrong(path, "a whole number", json);
    const std::int64_t number = natural ? static_cast<std::int64_t>(json.natural) : json.integer;
    const bool negative = !natural && number < 0 && !Plain<T>::is_signed;
    value = Plain<T>::from(number);
    if (negative || Plain<T>::to(value) != number) return Error{Errc::invalid, path + ": the number is out of range"};
  }
  return Done{};
}

template <class Variant, std::size_t I = 0>
Status read_alternative(const std::string& kind, const Json& json, const std::string& path, Variant& value) {
  if constexpr (I < std::variant_size_v<Variant>) {
    using Alternative = std::variant_alternative_t<I, Variant>;
    if (kind != Alternative::kName) return read_alternative<Variant, I + 1>(kind, json, path, value);
    Alternative alternative;
    TRY(read(json, below(path, kind), alternative));
    value = std::move(alternative);
    return Done{};
  } else {
    std::vector<std::string_view> kinds;
    [&]<std::size_t... Is>(std::index_sequence<Is...>) {
      (kinds.push_back(std::variant_alternative_t<Is, Variant>::kName), ...);
    }(std::make_index_sequence<std::variant_size_v<Variant>>{});
    return unknown(path, "kind", kind, kinds);
  }
}

template <class T>
Status read_object(const Json& json, const std::string& path, T& value) {
  if (json.kind != Json::Kind::object) return wrong(path, "an object", json);
  if constexpr (kIsMap<T>) {
    for (const auto& [name, member] : json.members) TRY(read(member, below(path, name), value[name]));
  } else if constexpr (kIsVariant<T>) {
    if (json.members.size() != 1) return wrong(path, "an object with one member, the kind", json);
    return read_alternative(json.members.front().first, json.members.front().second, path, value);
  } else {
    MemberReader reader{json, path, {}};
    T::describe(value, reader);
    TRY(std::move(reader.status));
    for (const auto& [name, member] : json.members) {
      if (std::ranges::find(reader.names, name) == reader.names.end()) {
        return unknown(path, "field", name, reader.names);
      }
    }
  }
  return Done{};
}

template <class T>
Status read(const Json& json, const std::string& path, T& value) {
  if constexpr (std::is_same_v<T, PayloadHash>) {
    const auto hash = json.text.empty() ? PayloadHash{} : hash_from_text(json.text);
    if (json.kind != Json::Kind::text || !hash) return wrong(path, "64 hexadecimal digits", json);
    value = *hash;
  } else if constexpr (Plain<T>::value) {
    return read_plain(json, path, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (json.kind != Json::Kind::text) return wrong(path, "a text", json);
    value = json.text;
  } else if constexpr (kIsOptional<T>) {
    if (json.kind == Json::Kind::null) {
      value.reset();
      return Done{};
    }
    return read(json, path, value.emplace());
  } else if constexpr (kIsVector<T>) {
    if (json.kind != Json::Kind::list) return wrong(path, "a list", json);
    for (std::size_t i = 0; i < json.items.size(); ++i) {
      TRY(read(json.items[i], path + "[" + std::to_string(i) + "]", value.emplace_back()));
    }
  } else {
    return read_object(json, path, value);
  }
  return Done{};
}

}  // namespace json_detail

template <class T>
[[nodiscard]] Result<T> from_json(std::string_view text) {
  const Json json = TRY(parse_json(text));
  T value{};
  TRY(json_detail::read(json, "", value));
  return value;
}

}  // namespace drover::native
