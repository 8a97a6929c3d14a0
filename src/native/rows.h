// Lists as a compact stream: length-prefixed protobuf messages (base/proto.h), first the list's
// header, then rows that carry only the fields that were asked for.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/views.h"
#include "base/proto.h"
#include "base/result.h"

namespace drover::native {

inline constexpr std::string_view kRowsType = "application/x-drover-rows";
inline constexpr std::string_view kProtoType = "application/x-protobuf";
inline constexpr std::string_view kJsonType = "application/json";

struct MaskedWriter {
  protozero::pbf_writer& out;
  const api::Fields& fields;
  template <class T>
  void operator()(std::uint32_t number, std::string_view, const T& value) {
    if (fields.has(number)) encode_field(out, number, value);
  }
};

// Appends one row of `list`.
template <Described T>
void append_row(std::string& list, const T& row, const api::Fields& fields = {}) {
  std::string bytes;
  protozero::pbf_writer out(bytes);
  MaskedWriter writer{out, fields};
  T::describe(row, writer);
  protozero::write_varint(std::back_inserter(list), bytes.size());
  list += bytes;
}

// Cuts a stream that arrives in pieces into its rows.
class RowCutter {
 public:
  explicit RowCutter(std::size_t max_row = 64U << 20U) : max_row_(max_row) {}
  // Calls `visit` for each whole row; its status ends the work.
  [[nodiscard]] Status feed(std::string_view piece, const std::function<Status(std::string_view)>& visit);
  // All that came was whole rows.
  [[nodiscard]] bool at_border() const { return rest_.empty(); }

 private:
  const std::size_t max_row_;
  std::string rest_;
};

// "id,name,phase" -> numbers of the fields of T.
template <Described T>
[[nodiscard]] Result<std::vector<std::uint32_t>> field_numbers(std::string_view names);

struct FieldNames {
  std::vector<std::string_view> names;
  std::vector<std::uint32_t> numbers;
  template <class T>
  void operator()(std::uint32_t number, std::string_view name, T&) {
    numbers.push_back(number);
    names.push_back(name);
  }
};
[[nodiscard]] Result<std::vector<std::uint32_t>> pick_fields(const FieldNames& known, std::string_view names);

template <Described T>
Result<std::vector<std::uint32_t>> field_numbers(std::string_view names) {
  FieldNames known;
  T value;
  T::describe(value, known);
  return pick_fields(known, names);
}

}  // namespace drover::native
