// How objects are kept: as documents of the cluster, pods with their jobs; and how they go.
#pragma once

#include <optional>
#include <string>

#include "kube/rest/ask.h"
#include "kube/rest/writer.h"

namespace drover::kube {

// A namespaced object needs a namespace that is there and stays; nothing when it has one.
[[nodiscard]] std::optional<Failure> check_namespace(const Context& context, const Ask& ask);

[[nodiscard]] api::Execute wish_to_make(const Context& context, const Ask& ask, const Value& object);
[[nodiscard]] api::Execute wish_to_change(const Context& context, const Ask& ask, const Entry& current,
                                          const Value& changed);
// Replaces the document of an object, whoever asks.
[[nodiscard]] api::Execute wish_to_put(const Context& context, const std::string& table, const Entry& current,
                                       const Value& changed);
[[nodiscard]] api::Execute wish_to_remove(const Context& context, const std::string& table, const Entry& current);
[[nodiscard]] api::Execute wish_to_cancel(const Caller& caller, const Entry& pod);

// A namespace that nobody asked for: those that there always are, and a user's own.
[[nodiscard]] api::Execute wish_for_namespace(const Context& context, std::string_view name);
// The account that pods run under which name none.
[[nodiscard]] api::Execute wish_for_account(const Context& context, const std::string& space);

struct Removal {
  std::optional<std::int64_t> grace;
  std::string propagation;  // "", "Background", "Foreground", "Orphan"
};
[[nodiscard]] Outcome<Plan> plan_removal(const Context& context, const Ask& ask, const Entry& current,
                                         const Removal& removal);

// What is kept of an object: without what is rendered on top of it.
[[nodiscard]] std::string document_of(const std::string& table, const Value& object);
// A pod that stands for a Slurm job.
[[nodiscard]] bool is_slurm_job(const Entry& entry);

}  // namespace drover::kube
