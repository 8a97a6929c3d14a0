#include "store/sqlite/payload_table.h"

#include <algorithm>

#include "store/chain.h"
#include "store/rules.h"

namespace drover::store {
namespace {

std::int64_t signed_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

Error damaged(const Database& database, std::string_view what) {
  return Error{Errc::unavailable, "it is damaged: " + std::string(what)}.under(database.path());
}

}  // namespace

std::optional<PayloadTable::Key> PayloadTable::key_of(const Hash& hash) {
  Key key;
  if (hash.size() != key.size()) return std::nullopt;
  std::copy(hash.begin(), hash.end(), key.begin());
  return key;
}

Status PayloadTable::load() {
  insert_ = TRY(Statement::prepare(database_, "INSERT INTO payloads(hash, body) VALUES(?1, ?2)"));
  insert_use_ = TRY(Statement::prepare(database_, "INSERT INTO payload_uses VALUES(?1, ?2)"));
  touch_ = TRY(Statement::prepare(database_, "UPDATE payload_uses SET used = ?2 WHERE id = ?1"));
  read_ = TRY(Statement::prepare(database_, "SELECT body FROM payloads WHERE id = ?1"));
  delete_ = TRY(Statement::prepare(database_, "DELETE FROM payloads WHERE id = ?1"));
  delete_use_ = TRY(Statement::prepare(database_, "DELETE FROM payload_uses WHERE id = ?1"));
  const Statement all = TRY(Statement::prepare(
      database_, "SELECT id, used, hash, body FROM payload_uses LEFT JOIN payloads USING (id) ORDER BY id"));
  Query query(database_, all);
  while (TRY(query.step())) {
    const Hash hash = query.bytes(2);
    const auto key = key_of(hash);
    if (!key || sha256(query.view(3)) != hash) {
      return damaged(database_, "payload " + std::to_string(query.number(0)) + ", " + hex(hash));
    }
    index_[*key] = {query.number(0), static_cast<std::uint64_t>(query.number(1))};
  }
  const Statement count = TRY(Statement::prepare(database_, "SELECT count(*) FROM payloads"));
  Query counted(database_, count);
  TRY(counted.step());
  if (counted.number(0) == static_cast<std::int64_t>(index_.size())) return Done{};
  return damaged(database_, "it holds " + std::to_string(counted.number(0)) + " payloads, " +
                                std::to_string(index_.size()) + " of them in use");
}

void PayloadTable::remember(const Key& key) {
  const auto found = index_.find(key);
  undo_.emplace_back(key, found == index_.end() ? std::nullopt : std::optional(found->second));
}

void PayloadTable::rolled_back() {
  for (auto change = undo_.rbegin(); change != undo_.rend(); ++change) {
    if (change->second) {
      index_[change->first] = *change->second;
    } else {
      index_.erase(change->first);
    }
  }
  undo_.clear();
}

Status PayloadTable::put(const Payload& payload, std::uint64_t used) {
  const auto key = key_of(payload.hash);
  CHECK(key && sha256(payload.bytes) == payload.hash);
  if (index_.contains(*key)) return touch(payload.hash, used);
  {
    Query query(database_, insert_);
    TRY(query.blob(1, payload.hash).blob(2, payload.bytes).run());
  }
  const std::int64_t id = sqlite3_last_insert_rowid(database_.handle());
  Query query(database_, insert_use_);
  TRY(query.number(1, id).number(2, signed_of(used)).run());
  remember(*key);
  index_[*key] = {id, used};
  return Done{};
}

Status PayloadTable::touch(const Hash& hash, std::uint64_t used) {
  const auto key = key_of(hash);
  const auto found = key ? index_.find(*key) : index_.end();
  if (found == index_.end()) return no_such_payload(hash);
  if (found->second.used >= used) return Done{};
  Query query(database_, touch_);
  TRY(query.number(1, found->second.id).number(2, signed_of(used)).run());
  remember(*key);
  found->second.used = used;
  return Done{};
}

Result<std::uint64_t> PayloadTable::drop(std::uint64_t below, std::uint64_t most) {
  std::vector<std::pair<Key, Place>> stale;
  for (const auto& [key, place] : index_) {
    if (place.used < below && stale.size() < most) stale.emplace_back(key, place);
  }
  for (const auto& [key, place] : stale) {
    Query body(database_, delete_);
    TRY(body.number(1, place.id).run());
    Query use(database_, delete_use_);
    TRY(use.number(1, place.id).run());
    remember(key);
    index_.erase(key);
  }
  return std::uint64_t{stale.size()};
}

Result<std::string> PayloadTable::read(const Hash& hash) {
  const auto key = key_of(hash);
  const auto found = key ? index_.find(*key) : index_.end();
  if (found == index_.end()) return no_such_payload(hash);
  Query query(database_, read_);
  if (!TRY(query.number(1, found->second.id).step())) return damaged(database_, "payload " + hex(hash) + " is gone");
  std::string bytes = query.bytes(0);
  if (sha256(bytes) == hash) return bytes;
  return damaged(database_, "payload " + hex(hash));
}

}  // namespace drover::store
