// Described structs <-> protobuf wire format (readable by `protoc --decode_raw`), on protozero.
// Numbers, ids and amounts are varints (zigzag where signed), and are always written; empty strings,
// vectors, maps and optionals are not. A variant is a message with one field: index + 1, so new
// alternatives are only ever appended.
#pragma once

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <string>
#include <utility>

#include "base/describe.h"
#include "base/result.h"

namespace drover {

template <class T>
void encode_field(protozero::pbf_writer& out, std::uint32_t number, const T& value);
template <class T>
void decode_field(protozero::pbf_reader& in, T& value);

namespace proto_detail {

struct Writer {
  protozero::pbf_writer& out;
  template <class T>
  void operator()(std::uint32_t number, std::string_view, const T& value) {
    encode_field(out, number, value);
  }
};

struct Reader {
  protozero::pbf_reader* in;
  bool taken = false;
  template <class T>
  void operator()(std::uint32_t number, std::string_view, T& value) {
    if (taken || in->tag() != number) return;
    decode_field(*in, value);
    taken = true;
  }
};

// A field that has another wire type than its number promises is damage, not a default.
inline void expect(const protozero::pbf_reader& in, protozero::pbf_wire_type type) {
  if (!in.has_wire_type(type)) throw protozero::unknown_pbf_wire_type_exception{};
}

template <class K, class V>
struct Entry {
  K key{};
  V value{};
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "value", self.value);
  }
};

template <class T>
void encode_variant(protozero::pbf_writer& out, std::uint32_t number, const T& value) {
  protozero::pbf_writer inner(out, number);
  std::visit([&](const auto& v) { encode_field(inner, static_cast<std::uint32_t>(value.index()) + 1, v); },
             value);
}

template <class Variant, std::size_t I = 0>
void decode_alternative(protozero::pbf_reader& in, Variant& value) {
  if constexpr (I < std::variant_size_v<Variant>) {
    if (in.tag() == I + 1) {
      std::variant_alternative_t<I, Variant> alternative{};
      decode_field(in, alternative);
      value = std::move(alternative);
    } else {
      decode_alternative<Variant, I + 1>(in, value);
    }
  } else {
    throw protozero::unknown_pbf_wire_type_exception{};  // a fact of a later version
  }
}

template <Described T>
void decode_message(protozero::pbf_reader in, T& value) {
  while (in.next()) {
    Reader reader{&in};
    T::describe(value, reader);
    if (!reader.taken) in.skip();
  }
}

}  // namespace proto_detail

template <class T>
void encode_field(protozero::pbf_writer& out, std::uint32_t number, const T& value) {
  if constexpr (Plain<T>::value) {
    if constexpr (Plain<T>::is_signed) {
      out.add_sint64(number, Plain<T>::to(value));
    } else {
      out.add_uint64(number, static_cast<std::uint64_t>(Plain<T>::to(value)));
    }
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.empty()) out.add_bytes(number, value);
  } else if constexpr (kIsOptional<T> || kIsShared<T>) {
    if (value) {
      protozero::pbf_writer inner(out, number);
      encode_field(inner, 1, *value);
    }
  } else if constexpr (kIsVector<T>) {
    // A repeated string may be empty, so strings are written without the emptiness rule.
    for (const auto& item : value) {
      if constexpr (std::is_same_v<typename T::value_type, std::string>) {
        out.add_bytes(number, item);
      } else {
        encode_field(out, number, item);
      }
    }
  } else if constexpr (kIsMap<T>) {
    for (const auto& [key, mapped] : value) {
      encode_field(out, number, proto_detail::Entry<typename T::key_type, typename T::mapped_type>{key, mapped});
    }
  } else if constexpr (kIsVariant<T>) {
    proto_detail::encode_variant(out, number, value);
  } else {
    static_assert(Described<T>);
    protozero::pbf_writer inner(out, number);
    proto_detail::Writer writer{inner};
    T::describe(value, writer);
  }
}

template <class T>
void decode_field(protozero::pbf_reader& in, T& value) {
  using Wire = protozero::pbf_wire_type;
  if constexpr (!kIsVector<T>) {
    proto_detail::expect(in, Plain<T>::value ? Wire::varint : Wire::length_delimited);
  }
  if constexpr (Plain<T>::value) {
    if constexpr (Plain<T>::is_signed) {
      value = Plain<T>::from(in.get_sint64());
    } else {
      value = Plain<T>::from(static_cast<std::int64_t>(in.get_uint64()));
    }
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = in.get_bytes();
  } else if constexpr (kIsOptional<T>) {
    protozero::pbf_reader inner = in.get_message();
    value.emplace();
    while (inner.next()) {
      if (inner.tag() == 1) decode_field(inner, *value);
      else inner.skip();
    }
  } else if constexpr (kIsShared<T>) {
    protozero::pbf_reader inner = in.get_message();
    auto shared = std::make_shared<std::remove_const_t<typename T::element_type>>();
    while (inner.next()) {
      if (inner.tag() == 1) decode_field(inner, *shared);
      else inner.skip();
    }
    value = std::move(shared);
  } else if constexpr (kIsVector<T>) {
    typename T::value_type item{};
    decode_field(in, item);
    value.push_back(std::move(item));
  } else if constexpr (kIsMap<T>) {
    proto_detail::Entry<typename T::key_type, typename T::mapped_type> entry;
    decode_field(in, entry);
    value.insert_or_assign(std::move(entry.key), std::move(entry.value));
  } else if constexpr (kIsVariant<T>) {
    protozero::pbf_reader inner = in.get_message();
    while (inner.next()) proto_detail::decode_alternative(inner, value);
  } else {
    static_assert(Described<T>);
    proto_detail::decode_message(in.get_message(), value);
  }
}

// The bytes of one value. Described structs are messages; a variant is a message with one field.
template <class T>
[[nodiscard]] std::string encode(const T& value) {
  std::string bytes;
  protozero::pbf_writer out(bytes);
  if constexpr (Described<T>) {
    proto_detail::Writer writer{out};
    T::describe(value, writer);
  } else {
    std::visit([&](const auto& v) { encode_field(out, static_cast<std::uint32_t>(value.index()) + 1, v); },
               value);
  }
  return bytes;
}

template <class T>
[[nodiscard]] Result<T> decode(std::string_view bytes) {
  try {
    T value{};
    protozero::pbf_reader in(bytes.data(), bytes.size());
    if constexpr (Described<T>) {
      proto_detail::decode_message(in, value);
    } else {
      bool any = false;
      while (in.next()) {
        proto_detail::decode_alternative(in, value);
        any = true;
      }
      if (!any) return Error{Errc::invalid, "empty message"};
    }
    return value;
  } catch (const protozero::exception& e) {
    return Error{Errc::invalid, std::string("malformed message: ") + e.what()};
  }
}

}  // namespace drover
