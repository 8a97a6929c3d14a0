// Why a wish was refused, as data: a code, what it is about, amounts, and the nearest wish that
// would do. Texts are made at the doors, one table each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/result.h"

namespace drover {

enum class RefusalCode : std::uint8_t {
  invalid_request,      // subject: which field
  unknown_job,
  already_ended,
  not_waiting,          // the wish needs a waiting job
  not_running,
  not_permitted,
  unknown_partition,
  no_default_partition,
  unknown_node,
  unknown_dependency,
  dependency_on_itself,
  invalid_array,
  invalid_condition,    // GPU condition or feature expression; subject: what and where
  no_such_gpu,          // no node has that model, or meets that condition
  too_many_gpus,        // amounts: have, want per node
  too_many_nodes,       // amounts: have, want
  no_node_fits,         // no set of nodes of the partition can hold it; nearest says what would fit
  not_requeueable,
  invalid_limit,
  too_many_jobs,
  no_space,             // the store is at its reserve
  overloaded,           // try again in a moment
  unavailable,          // not leading, store broken, shutting down
  too_many_cpus,        // amounts: have, want per node
  too_much_memory,      // amounts: have, want per node
  too_little_disk,
  no_such_feature,      // no node satisfies the feature expression
  node_closed,          // one node: drained or lost; subject: why
  node_excluded,        // one node: by the request
  node_taken,           // one node: exclusive to somebody, or not free of others
  gpus_busy,            // one node: amounts free, want
  cpus_busy,
  memory_busy,
  step_busy,            // other steps hold what the step needs; subject: which resource
  step_too_large,       // the job itself has not as much; amounts: have, want
  unknown_document,
  document_exists,
  document_changed,     // it isn't at the version that the wish expects; amounts: have, want
  document_in_use,      // its job still holds something
  no_such_label,        // no node, or not this one, has the labels that are asked for
  node_tainted,         // one node; subject: the taint
  not_near,             // one node: its domain has no pod that the request must be near to; subject: which pods
  not_apart,            // one node: its domain has pods that the request must be apart from; subject; amounts: pods
  kept_apart,           // one node: pods that are there must be apart from such as this one; amounts: pods
  not_spread,           // one node: subject: the domain's key; amounts: skew that would be, and at most
};
[[nodiscard]] constexpr std::string_view word(RefusalCode c) {
  switch (c) {
    case RefusalCode::invalid_request: return "invalid_request";
    case RefusalCode::unknown_job: return "unknown_job";
    case RefusalCode::already_ended: return "already_ended";
    case RefusalCode::not_waiting: return "not_waiting";
    case RefusalCode::not_running: return "not_running";
    case RefusalCode::not_permitted: return "not_permitted";
    case RefusalCode::unknown_partition: return "unknown_partition";
    case RefusalCode::no_default_partition: return "no_default_partition";
    case RefusalCode::unknown_node: return "unknown_node";
    case RefusalCode::unknown_dependency: return "unknown_dependency";
    case RefusalCode::dependency_on_itself: return "dependency_on_itself";
    case RefusalCode::invalid_array: return "invalid_array";
    case RefusalCode::invalid_condition: return "invalid_condition";
    case RefusalCode::no_such_gpu: return "no_such_gpu";
    case RefusalCode::too_many_gpus: return "too_many_gpus";
    case RefusalCode::too_many_nodes: return "too_many_nodes";
    case RefusalCode::no_node_fits: return "no_node_fits";
    case RefusalCode::not_requeueable: return "not_requeueable";
    case RefusalCode::invalid_limit: return "invalid_limit";
    case RefusalCode::too_many_jobs: return "too_many_jobs";
    case RefusalCode::no_space: return "no_space";
    case RefusalCode::overloaded: return "overloaded";
    case RefusalCode::unavailable: return "unavailable";
    case RefusalCode::too_many_cpus: return "too_many_cpus";
    case RefusalCode::too_much_memory: return "too_much_memory";
    case RefusalCode::too_little_disk: return "too_little_disk";
    case RefusalCode::no_such_feature: return "no_such_feature";
    case RefusalCode::node_closed: return "node_closed";
    case RefusalCode::node_excluded: return "node_excluded";
    case RefusalCode::node_taken: return "node_taken";
    case RefusalCode::gpus_busy: return "gpus_busy";
    case RefusalCode::cpus_busy: return "cpus_busy";
    case RefusalCode::memory_busy: return "memory_busy";
    case RefusalCode::step_busy: return "step_busy";
    case RefusalCode::step_too_large: return "step_too_large";
    case RefusalCode::unknown_document: return "unknown_document";
    case RefusalCode::document_exists: return "document_exists";
    case RefusalCode::document_changed: return "document_changed";
    case RefusalCode::document_in_use: return "document_in_use";
    case RefusalCode::no_such_label: return "no_such_label";
    case RefusalCode::node_tainted: return "node_tainted";
    case RefusalCode::not_near: return "not_near";
    case RefusalCode::not_apart: return "not_apart";
    case RefusalCode::kept_apart: return "kept_apart";
    case RefusalCode::not_spread: return "not_spread";
  }
  return "";
}

struct Amount {
  std::string name;  // "gpus", "nodes", "cpus", "memory_mib", "gpu_memory_mib"
  std::int64_t have = 0;
  std::int64_t want = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "have", self.have);
    visit(3, "want", self.want);
  }
  friend bool operator==(const Amount&, const Amount&) = default;
};

struct Refusal {
  RefusalCode code = RefusalCode::invalid_request;
  std::string subject;  // the user's own word that is wrong, or the field
  std::vector<Amount> amounts;
  std::string nearest;  // the nearest request that fits, in the words of a request ("8 x a100 per node")
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "code", self.code);
    visit(2, "subject", self.subject);
    visit(3, "amounts", self.amounts);
    visit(4, "nearest", self.nearest);
  }
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

}  // namespace drover
