// The hash chain: how a record becomes a row, and how a row proves that it is the record that was
// written there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/record.h"

namespace drover::store {

[[nodiscard]] Hash sha256(std::string_view bytes);
[[nodiscard]] std::uint32_t crc32_of(std::string_view bytes);
[[nodiscard]] std::string hex(std::string_view bytes);

struct Row {
  std::uint64_t position = 0;
  std::uint32_t crc = 0;  // of bytes
  Hash hash;              // of bytes
  std::string bytes;      // the encoded record
};

[[nodiscard]] Head genesis(std::string_view cluster);
[[nodiscard]] Head head_of(const Row& row, const Record& record);

// Why `record` can't follow `head`, or "".
[[nodiscard]] std::string fence(const Record& record, const Head& head);

// Makes the row that follows `head`, and moves `head` to it.
[[nodiscard]] Row seal(Record record, Head& head);

// The record of a row, if CRC, hash and position hold. The error names the position.
Result<Record> unseal(const Row& row);

}  // namespace drover::store
