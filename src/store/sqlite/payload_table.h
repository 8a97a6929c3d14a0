// Payloads in log.db. They are written in the order of their coming, because a tree by hash would
// rewrite a page for each; who is where is an index in memory, made when the log is opened and every
// payload is checked anyway.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/record.h"
#include "store/sqlite/database.h"

namespace drover::store {

class PayloadTable {
 public:
  explicit PayloadTable(const Database& database) : database_(database) {}

  // Reads and checks all of them.
  Status load();
  // These belong to the transaction that is open; one of the next two ends it for the index as well.
  Status put(const Payload& payload, std::uint64_t used);
  // Errc::not_found when there is none.
  Status touch(const Hash& hash, std::uint64_t used);
  // Deletes at most `most` of those last used before `below`; how many it was.
  Result<std::uint64_t> drop(std::uint64_t below, std::uint64_t most);
  void committed() { undo_.clear(); }
  void rolled_back();

  Result<std::string> read(const Hash& hash);

 private:
  using Key = std::array<char, 32>;
  struct Spread {
    // A SHA-256 needs no more mixing.
    std::size_t operator()(const Key& key) const noexcept {
      std::size_t first = 0;
      std::memcpy(&first, key.data(), sizeof first);
      return first;
    }
  };
  struct Place {
    std::int64_t id = 0;
    std::uint64_t used = 0;
  };
  static std::optional<Key> key_of(const Hash& hash);
  void remember(const Key& key);

  const Database& database_;
  Statement insert_, insert_use_, touch_, read_, delete_, delete_use_;
  std::unordered_map<Key, Place, Spread> index_;
  std::vector<std::pair<Key, std::optional<Place>>> undo_;  // what was there before the transaction
};

}  // namespace drover::store
