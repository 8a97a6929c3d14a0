#include "agent/session/journal.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/proto.h"
#include "os/file.h"

namespace drover::agent {

Result<Journal> Journal::open(std::string path) {
  Journal journal(std::move(path));
  auto bytes = read_file(journal.path_);
  if (!bytes) {
    if (bytes.error().code == Errc::not_found) return journal;
    return std::move(bytes).error();
  }
  auto seen = decode<Remembered>(*bytes);
  if (!seen) return std::move(seen).error().under(journal.path_);
  journal.seen_ = *std::move(seen);
  return journal;
}

Status Journal::welcomed(const std::string& cluster_id, Epoch epoch) {
  if (seen_.cluster_id == cluster_id && seen_.epoch >= epoch) return Done{};
  seen_.cluster_id = cluster_id;
  seen_.epoch = std::max(seen_.epoch, epoch);
  return save();
}

Status Journal::saw(Epoch epoch, const HeadSeen& head) {
  if (epoch < seen_.epoch || head.position <= seen_.head.position) return Done{};
  seen_.head = head;
  return save();
}

bool Journal::holds(const HeldAttempt& held) const {
  return std::find(seen_.holds.begin(), seen_.holds.end(), held) != seen_.holds.end();
}

Status Journal::hold(const HeldAttempt& held) {
  if (holds(held)) return Done{};
  seen_.holds.push_back(held);
  return save();
}

Status Journal::release(const HeldAttempt& held) {
  if (std::erase(seen_.holds, held) == 0) return Done{};
  return save();
}

// Not synced: the file has to outlive a process, not the machine.
Status Journal::save() const {
  const std::string bytes = encode(seen_);
  const std::string fresh = path_ + ".new";
  const Fd file = TRY(open_file(fresh, O_WRONLY | O_CREAT | O_TRUNC));
  TRY(write_at(file, bytes, 0, fresh));
  if (std::rename(fresh.c_str(), path_.c_str()) != 0) return system_error(errno, path_);
  return Done{};
}

}  // namespace drover::agent
