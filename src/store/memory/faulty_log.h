// Wraps a log and does to it what crashes and disks do: tests and the simulator hold appends back,
// lose them, break the log or fill its disk. For use from one thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/log.h"

namespace drover::store {

class FaultyLog final : public Log {
 public:
  explicit FaultyLog(Log& inner) : inner_(inner) {}

  // From now on appends wait, as in a disk's cache, until sync() or crash().
  void hold_back() { holding_ = true; }
  // Stores what waits, in order, answers, and holds nothing back any more.
  void sync();
  // The first `survivors` of the waiting appends are stored, though nobody is told; the others are
  // lost. Nothing is answered until restart(); appends in between vanish.
  void crash(std::size_t survivors = 0);
  void restart();
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  // The next append answers unknown, stored or not, and every later one too, as of a broken log.
  void break_next(bool stored) { break_next_ = stored; }
  void set_space(Space space) { space_ = space; }

  void append(Batch batch, OnAppended done) override;
  Status read(std::uint64_t from, const Visit& visit) override { return inner_.read(from, visit); }
  [[nodiscard]] Head head() const override { return inner_.head(); }
  [[nodiscard]] std::uint64_t first() const override { return inner_.first(); }
  [[nodiscard]] std::string cluster() const override { return inner_.cluster(); }
  Status check_seen(std::uint64_t position, const Hash& hash) override { return inner_.check_seen(position, hash); }
  Result<std::string> payload(const Hash& hash) override { return inner_.payload(hash); }
  Status write_snapshot(std::uint64_t position, std::string_view bytes, const std::vector<Hash>& payloads) override {
    return inner_.write_snapshot(position, bytes, payloads);
  }
  Result<std::optional<Snapshot>> latest_snapshot() override { return inner_.latest_snapshot(); }
  Result<std::optional<Snapshot>> older_snapshot() override { return inner_.older_snapshot(); }
  Status trim(std::uint64_t below) override { return inner_.trim(below); }
  [[nodiscard]] Space space() const override { return space_; }

 private:
  Log& inner_;
  Space space_;
  std::deque<std::pair<Batch, OnAppended>> waiting_;
  std::optional<bool> break_next_;
  bool holding_ = false;
  bool down_ = false;
  bool broken_ = false;
};

}  // namespace drover::store
