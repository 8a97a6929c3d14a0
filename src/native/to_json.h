// Any described value as JSON, written straight into a string: names from describe(), enums by their
// words, amounts and times as integers (milliseconds, bytes), variants as {"kind": {...}}.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>

#include "api/views.h"
#include "base/describe.h"
#include "native/hash_text.h"

namespace drover::native {

// A quoted JSON string. Bytes that are no UTF-8 become U+FFFD: JSON can't carry them.
void append_json_string(std::string& out, std::string_view text);

template <class T>
void append_json(std::string& out, const T& value);

// Writes the members of an object; only those of `fields`.
struct JsonMembers {
  std::string& out;
  const api::Fields& fields;
  bool first = true;

  void name(std::string_view name) {
    if (!first) out += ',';
    first = false;
    out += '"';
    out += name;
    out += "\":";
  }
  template <class T>
  void operator()(std::uint32_t number, std::string_view name_of, const T& value) {
    if (!fields.has(number)) return;
    if constexpr (kIsOptional<T>) {
      if (!value) return;
      name(name_of);
      append_json(out, *value);
    } else {
      name(name_of);
      append_json(out, value);
    }
  }
};

template <class T>
void append_json_fields(std::string& out, const T& value, const api::Fields& fields) {
  out += '{';
  JsonMembers members{out, fields};
  T::describe(value, members);
  out += '}';
}

template <class Number>
void append_json_number(std::string& out, Number number) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end);
}

template <class T>
void append_json_plain(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (Worded<T>) {
    append_json_string(out, word(value));
  } else if constexpr (Plain<T>::is_signed) {
    append_json_number(out, Plain<T>::to(value));
  } else {
    append_json_number(out, static_cast<std::uint64_t>(Plain<T>::to(value)));
  }
}

template <class T>
void append_json(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, PayloadHash>) {
    append_json_string(out, value ? hash_text(value) : std::string{});
  } else if constexpr (Plain<T>::value) {
    append_json_plain(out, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    append_json_string(out, value);
  } else if constexpr (kIsVector<T>) {
    out += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) out += ',';
      append_json(out, value[i]);
    }
    out += ']';
  } else if constexpr (kIsMap<T>) {
    out += '{';
    bool first = true;
    for (const auto& [key, mapped] : value) {
      if (!first) out += ',';
      first = false;
      append_json_string(out, key);
      out += ':';
      append_json(out, mapped);
    }
    out += '}';
  } else if constexpr (kIsVariant<T>) {
    std::visit(
        [&out](const auto& alternative) {
          out += "{\"";
          out += std::decay_t<decltype(alternative)>::kName;
          out += "\":";
          append_json(out, alternative);
          out += '}';
        },
        value);
  } else {
    static_assert(Described<T>);
    append_json_fields(out, value, api::Fields{});
  }
}

template <class T>
[[nodiscard]] std::string to_json(const T& value) {
  std::string out;
  append_json(out, value);
  return out;
}

}  // namespace drover::native
