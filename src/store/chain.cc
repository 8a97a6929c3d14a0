#include "store/chain.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <memory>

#include "base/proto.h"

namespace drover::store {

Hash sha256(std::string_view bytes) {
  // Fetched once: looking the algorithm up costs more than hashing a short record.
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  thread_local const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  CHECK(algorithm != nullptr && context != nullptr);
  CHECK(EVP_DigestInit_ex2(context.get(), algorithm, nullptr) == 1);
  CHECK(EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1);
  CHECK(EVP_DigestFinal_ex(context.get(), digest, &size) == 1 && size == 32);
  return Hash(reinterpret_cast<const char*>(digest), size);
}

std::uint32_t crc32_of(std::string_view bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(::crc32_z(0, data, bytes.size()));
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Head genesis(std::string_view cluster) { return Head{.hash = sha256("drover log " + std::string(cluster))}; }

Head head_of(const Row& row, const Record& record) {
  return Head{.position = record.position, .epoch = record.epoch, .at = record.at, .hash = row.hash};
}

std::string fence(const Record& record, const Head& head) {
  if (record.position != head.position + 1) {
    return "position " + std::to_string(record.position) + " does not follow the head " + std::to_string(head.position);
  }
  if (record.epoch < head.epoch) {
    return "epoch " + std::to_string(record.epoch) + " is over: the log is in epoch " + std::to_string(head.epoch);
  }
  return {};
}

Row seal(Record record, Head& head) {
  record.previous = head.hash;
  Row row{.position = record.position, .bytes = encode(record)};
  row.crc = crc32_of(row.bytes);
  row.hash = sha256(row.bytes);
  head = head_of(row, record);
  return row;
}

Result<Record> unseal(const Row& row) {
  const std::string name = "record " + std::to_string(row.position);
  if (crc32_of(row.bytes) != row.crc) return Error{Errc::unavailable, name + " is damaged: its CRC differs"};
  if (sha256(row.bytes) != row.hash) return Error{Errc::unavailable, name + " is damaged: its SHA-256 differs"};
  auto record = decode<Record>(row.bytes);
  if (!record) return std::move(record).error().under(name + " is damaged");
  if (record->position != row.position) {
    return Error{Errc::unavailable, name + " is damaged: it holds record " + std::to_string(record->position)};
  }
  return record;
}

}  // namespace drover::store
