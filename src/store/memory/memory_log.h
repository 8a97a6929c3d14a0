// The log in memory: for simulations and tests. It keeps every promise of the port except outliving
// its process. `done` is called within append.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "store/chain.h"
#include "store/log.h"

namespace drover::store {

class MemoryLog final : public Log {
 public:
  explicit MemoryLog(std::string cluster = std::string(32, '0'));

  void append(Batch batch, OnAppended done) override;
  Status read(std::uint64_t from, const Visit& visit) override;
  [[nodiscard]] Head head() const override;
  [[nodiscard]] std::uint64_t first() const override;
  [[nodiscard]] std::string cluster() const override { return cluster_; }
  Status check_seen(std::uint64_t position, const Hash& hash) override;
  Result<std::string> payload(const Hash& hash) override;
  Status write_snapshot(std::uint64_t position, std::string_view bytes, const std::vector<Hash>& payloads) override;
  Result<std::optional<Snapshot>> latest_snapshot() override;
  Result<std::optional<Snapshot>> older_snapshot() override;
  Status trim(std::uint64_t below) override;
  [[nodiscard]] Space space() const override { return {}; }

 private:
  struct Kept {
    std::string bytes;
    std::uint64_t used = 0;
  };
  Appended store(Batch batch);
  [[nodiscard]] Result<Hash> hash_at(std::uint64_t position) const;

  const std::string cluster_;
  mutable std::mutex mutex_;
  Head head_;
  std::map<std::uint64_t, Row> rows_;
  std::map<Hash, Kept> payloads_;
  std::vector<Snapshot> snapshots_;  // at most two, the newest last
};

}  // namespace drover::store
