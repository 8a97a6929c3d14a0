// Facts about documents, about what people write on nodes, and about pods.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/describe.h"
#include "domain/document.h"
#include "domain/node.h"
#include "domain/pod.h"

namespace drover {

struct DocumentStored {
  static constexpr std::string_view kName = "document_stored";
  DocumentKey key;
  PayloadHash body;
  JobId job;  // that it came into being with; none: as before
  Instant at;
  Labels labels;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "body", self.body);
    visit(3, "job", self.job);
    visit(4, "at", self.at);
    visit(5, "labels", self.labels);
  }
  friend bool operator==(const DocumentStored&, const DocumentStored&) = default;
};
struct DocumentRemoved {
  static constexpr std::string_view kName = "document_removed";
  DocumentKey key;
  JobId job;  // of it, which may be forgotten from now on
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "job", self.job);
    visit(3, "at", self.at);
  }
  friend bool operator==(const DocumentRemoved&, const DocumentRemoved&) = default;
};
struct NodeMarked {
  static constexpr std::string_view kName = "node_marked";
  NodeId node;
  NodeMarks marks;
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "marks", self.marks);
    visit(3, "at", self.at);
  }
  friend bool operator==(const NodeMarked&, const NodeMarked&) = default;
};
struct PodReported {
  static constexpr std::string_view kName = "pod_reported";
  JobId job;
  std::uint32_t attempt = 1;
  PodStatus status;
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "status", self.status);
    visit(4, "at", self.at);
  }
  friend bool operator==(const PodReported&, const PodReported&) = default;
};

}  // namespace drover
