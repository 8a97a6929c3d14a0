// What an agent must remember of its controller beyond its own death: which cluster it belongs to,
// the highest epoch and the newest head it has seen. On tmpfs: after a reboot nothing runs here, so
// there is nothing to protect. What runs is remembered by the shims' own records; what is only held,
// without a process, here.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "domain/session.h"

namespace drover::agent {

struct Remembered {
  std::string cluster_id;
  Epoch epoch;
  HeadSeen head;
  std::vector<HeldAttempt> holds;  // shares of jobs whose script runs elsewhere, or that have none
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "cluster_id", self.cluster_id);
    visit(2, "epoch", self.epoch);
    visit(3, "head", self.head);
    visit(4, "holds", self.holds);
  }
};

class Journal {
 public:
  // A damaged file is an error: it is not guessed what an older controller said.
  [[nodiscard]] static Result<Journal> open(std::string path);
  [[nodiscard]] const Remembered& seen() const { return seen_; }
  // Keeps what is newer than what it has.
  Status welcomed(const std::string& cluster_id, Epoch epoch);
  Status saw(Epoch epoch, const HeadSeen& head);
  [[nodiscard]] bool holds(const HeldAttempt& held) const;
  Status hold(const HeldAttempt& held);
  Status release(const HeldAttempt& held);

 private:
  explicit Journal(std::string path) : path_(std::move(path)) {}
  Status save() const;
  std::string path_;
  Remembered seen_;
};

}  // namespace drover::agent
