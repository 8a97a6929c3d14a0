#include "store/sqlite/recover.h"

#include <map>

#include "store/rules.h"

namespace drover::store {
namespace {

constexpr std::string_view kRestore = "; restore the folder from a copy";

// The hashes that something beside the log says its records have, by position.
struct Claim {
  Hash hash;
  std::string source;
};
using Claims = std::map<std::uint64_t, Claim>;

Error refusal(const std::string& log_path, std::string why) {
  return Error{Errc::unavailable, why.append(kRestore)}.under(log_path);
}

// Walks the chain. `claims` that it meets are compared and removed.
Result<Recovered> walk(Tables& tables, const std::string& cluster, Claims& claims, const std::string& log_path) {
  Recovered found{.head = genesis(cluster)};
  const auto meet = [&](std::uint64_t position, const Hash& hash) -> Status {
    const auto claim = claims.find(position);
    if (claim == claims.end()) return Done{};
    if (claim->second.hash != hash) {
      return refusal(log_path, "record " + std::to_string(position) + " is not the one that " + claim->second.source +
                                   " speaks of");
    }
    claims.erase(claim);
    return Done{};
  };
  bool any = false;
  for (std::uint64_t from = 1;;) {
    const auto rows = TRY(tables.rows(from, 4096, 4 << 20));
    if (rows.empty()) break;
    for (const Row& row : rows) {
      auto unsealed = unseal(row);
      if (!unsealed) return refusal(log_path, unsealed.error().message);
      if (!any) {
        found.first = row.position;
        TRY(meet(row.position - 1, unsealed->previous));
        if (row.position == 1 && unsealed->previous != found.head.hash) {
          return refusal(log_path, "record 1 is that of another cluster");
        }
      } else if (row.position != found.head.position + 1 || unsealed->previous != found.head.hash) {
        return refusal(log_path, "the chain is broken after record " + std::to_string(found.head.position) + ": " +
                                     std::to_string(row.position) + " does not follow");
      }
      any = true;
      found.head = head_of(row, *unsealed);
      TRY(meet(row.position, row.hash));
    }
    from = found.head.position + 1;
  }
  if (!any) TRY(meet(0, found.head.hash));
  return found;
}

}  // namespace

Result<Recovered> recover(Tables& tables, const SnapshotFiles& snapshots, const HeadFile::Seen& evidence,
                          const std::string& log_path) {
  TRY(tables.check());
  Claims claims;
  for (const SnapshotFiles::File& file : snapshots.whole()) {
    claims[file.position] = {file.hash, "snapshot-" + std::to_string(file.position)};
  }
  Claim head{evidence.head.hash, "the file head"};
  const auto same = claims.find(evidence.head.position);
  if (same != claims.end() && same->second.hash != head.hash) {
    return refusal(log_path, "the file head and " + same->second.source + " tell two stories");
  }
  claims[evidence.head.position] = std::move(head);
  Recovered found = TRY(walk(tables, evidence.cluster, claims, log_path));
  const std::uint64_t end = found.head.position;
  if (!claims.empty() && claims.rbegin()->first > end) {
    const auto& [position, claim] = *claims.rbegin();
    return refusal(log_path + " with its -wal", "it ends at position " + std::to_string(end) + " but " + claim.source +
                                                    " says " + std::to_string(position) +
                                                    ": the tail is missing or damaged");
  }
  if (claims.contains(evidence.head.position)) {
    return refusal(log_path, "it begins at record " + std::to_string(found.first) + ", after the position " +
                                 std::to_string(evidence.head.position) + " of the file head, which is an older copy");
  }
  if (found.first > 1) {
    std::string damaged;
    for (const std::string& message : snapshots.damaged()) damaged += "; " + message;
    if (snapshots.whole().empty() || snapshots.whole().back().position + 1 < found.first) {
      return refusal(log_path, "it begins at record " + std::to_string(found.first) +
                                   " and no whole snapshot leads there" + damaged);
    }
  }
  return found;
}

}  // namespace drover::store
