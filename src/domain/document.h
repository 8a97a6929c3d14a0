// Objects that only a door understands (config maps, secrets, a pod's manifest): opaque bodies by hash, in
// the same log as everything else. A pod is a document and a job, made in one commit.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

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

// Documents of these kinds have labels that terms about pods select by (domain/pod_term.h).
inline constexpr std::string_view kPodKind = "pods";
inline constexpr std::string_view kSpaceKind = "namespaces";

using Labels = std::map<std::string, std::string>;

struct Document {
  PayloadHash body;
  std::uint64_t made = 0;     // version at which it came into being
  std::uint64_t version = 0;  // of its last change (Cluster::version)
  JobId job;                  // of a pod
  std::shared_ptr<const Labels> labels;  // nullptr: none
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "body", self.body);
    visit(2, "made", self.made);
    visit(3, "version", self.version);
    visit(4, "job", self.job);
    visit(5, "labels", self.labels);
  }
  friend bool operator==(const Document& a, const Document& b);  // by value, through the pointer
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
