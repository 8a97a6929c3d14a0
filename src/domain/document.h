// Objects that only a door understands (config maps, secrets, a pod's manifest): opaque bodies by hash, in
// the same log as everything else. A pod is a document and a job, made in one commit.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/describe.h"
#include "base/time.h"
#include "domain/ids.h"

namespace drover {

struct DocumentKey {
  std::string kind;   // the door's word: "pods", "leases.coordination.k8s.io"
  std::string space;  // namespace; "" of the cluster
  std::string name;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "kind", self.kind);
    visit(2, "space", self.space);
    visit(3, "name", self.name);
  }
  friend auto operator<=>(const DocumentKey&, const DocumentKey&) = default;
  friend bool operator==(const DocumentKey&, const DocumentKey&) = default;
};

struct Document {
  PayloadHash body;
  std::uint64_t made = 0;     // version at which it came into being
  std::uint64_t version = 0;  // of its last change (Cluster::version)
  JobId job;                  // of a pod
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "body", self.body);
    visit(2, "made", self.made);
    visit(3, "version", self.version);
    visit(4, "job", self.job);
  }
  friend bool operator==(const Document&, const Document&) = default;
};

// A document that is no more: kept for a while, so that a reader who comes back learns of it.
struct Tombstone {
  DocumentKey key;
  PayloadHash body;  // the last
  std::uint64_t version = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "body", self.body);
    visit(3, "version", self.version);
  }
  friend bool operator==(const Tombstone&, const Tombstone&) = default;
};

}  // namespace drover
