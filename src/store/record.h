// What the log keeps. The store knows no job: inputs, facts and payloads are bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace drover::store {

// The 32 raw bytes of a SHA-256.
using Hash = std::string;

// One group commit of the driver: the inputs it answers and the facts they became.
struct Record {
  std::uint64_t position = 0;  // 1, 2, 3 ... without a gap
  std::uint64_t epoch = 0;     // of the leader that wrote it; never falls
  Instant at;
  std::vector<std::string> inputs;
  std::vector<std::string> facts;
  Hash previous;  // hash of the record before it, filled in by the log

  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "position", self.position);
    visit(2, "epoch", self.epoch);
    visit(3, "at", self.at);
    visit(4, "inputs", self.inputs);
    visit(5, "facts", self.facts);
    visit(6, "previous", self.previous);
  }
  friend bool operator==(const Record&, const Record&) = default;
};

// A script, an environment, the body of a document: stored once, whoever refers to it.
struct Payload {
  Hash hash;  // SHA-256 of bytes
  std::string bytes;
};

// What becomes durable together or not at all.
struct Batch {
  std::vector<Record> records;  // at least one
  std::vector<Payload> payloads;
};

// The newest record. Position 0 is the log before its first record; its hash is made from the
// cluster's id, so the chains of two clusters share no hash.
struct Head {
  std::uint64_t position = 0;
  std::uint64_t epoch = 0;
  Instant at;
  Hash hash;
  friend bool operator==(const Head&, const Head&) = default;
};

enum class Outcome : std::uint8_t {
  stored,  // durable
  fenced,  // not stored: another leader wrote, or a position that isn't the next
  unknown  // may be stored or not: read the position back, or stop
};
[[nodiscard]] constexpr std::string_view word(Outcome outcome) {
  switch (outcome) {
    case Outcome::stored: return "stored";
    case Outcome::fenced: return "fenced";
    case Outcome::unknown: return "unknown";
  }
  return "";
}

struct Appended {
  Outcome outcome = Outcome::unknown;
  Head head;          // stored: after this batch; otherwise the last head that is known durable
  std::string error;  // why it isn't stored
};

struct Snapshot {
  std::uint64_t position = 0;  // the state after this record
  Hash hash;                   // of that record
  std::string bytes;
  std::string warning;  // set when a newer snapshot is damaged and this older one stands in for it
};

// Room on the disk of the log.
struct Space {
  bool low = false;  // refuse wishes; facts from agents still go in
  std::uint64_t free_bytes = 0;
  std::uint64_t reserve_bytes = 0;  // what the reserve holds now
  friend bool operator==(const Space&, const Space&) = default;
};

}  // namespace drover::store
