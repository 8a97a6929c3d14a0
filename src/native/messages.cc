#include "native/messages.h"

#include <array>

#include "base/text.h"

namespace drover::native {
namespace {

struct Row {
  Errc code;
  std::string_view word;
  int status;
};
constexpr std::array<Row, 6> kErrors{{
    {Errc::invalid, "invalid", 400},
    {Errc::not_found, "not_found", 404},
    {Errc::denied, "denied", 403},
    {Errc::conflict, "conflict", 409},
    {Errc::exhausted, "exhausted", 429},
    {Errc::unavailable, "unavailable", 503},
}};

std::string_view sentence(RefusalCode code) {
  switch (code) {
    case RefusalCode::invalid_request: return "the request is not valid";
    case RefusalCode::unknown_job: return "there is no such job";
    case RefusalCode::already_ended: return "the job has ended already";
    case RefusalCode::not_waiting: return "the job does not wait any more";
    case RefusalCode::not_running: return "the job does not run";
    case RefusalCode::not_permitted: return "you may not do that";
    case RefusalCode::unknown_partition: return "there is no such partition";
    case RefusalCode::no_default_partition: return "name a partition: there is no default one";
    case RefusalCode::unknown_node: return "there is no such node";
    case RefusalCode::unknown_dependency: return "the dependency names a job that does not exist";
    case RefusalCode::dependency_on_itself: return "the job would wait for itself";
    case RefusalCode::invalid_array: return "the array is not valid";
    case RefusalCode::invalid_condition: return "the condition is not valid";
    case RefusalCode::no_such_gpu: return "no node has such a GPU";
    case RefusalCode::too_many_gpus: return "no node has so many such GPUs";
    case RefusalCode::too_many_nodes: return "the partition does not have so many nodes";
    case RefusalCode::no_node_fits: return "no nodes of the partition can hold the job";
    case RefusalCode::not_requeueable: return "the job may not be requeued";
    case RefusalCode::invalid_limit: return "the time limit is not valid here";
    case RefusalCode::too_many_jobs: return "the cluster holds as many jobs as it may";
    case RefusalCode::no_space: return "no space: the controller's disk is at its reserve";
    case RefusalCode::overloaded: return "the controller is busy: try again in a moment";
    case RefusalCode::unavailable: return "the controller does not take wishes at the moment";
    case RefusalCode::too_many_cpus: return "no node has so many CPUs";
    case RefusalCode::too_much_memory: return "no node has so much memory";
    case RefusalCode::too_little_disk: return "no node has so much temporary disk";
    case RefusalCode::no_such_feature: return "no node has such features";
    case RefusalCode::node_closed: return "the node is drained or lost";
    case RefusalCode::node_excluded: return "the node is excluded by the request";
    case RefusalCode::node_taken: return "the node is taken as a whole";
    case RefusalCode::gpus_busy: return "the GPUs are busy";
    case RefusalCode::cpus_busy: return "the CPUs are busy";
    case RefusalCode::memory_busy: return "the memory is busy";
    case RefusalCode::step_busy: return "other steps of the job hold what this one needs";
    case RefusalCode::step_too_large: return "the job was granted less than the step needs";
    case RefusalCode::unknown_document: return "there is no such object";
    case RefusalCode::document_exists: return "there is such an object already";
    case RefusalCode::document_changed: return "the object has changed meanwhile";
    case RefusalCode::document_in_use: return "the object's job isn't over";
    case RefusalCode::no_such_label: return "the node lacks the labels that are asked for";
    case RefusalCode::node_tainted: return "the node has a taint that the job does not tolerate";
    case RefusalCode::not_near: return "no pod that it must be near to is there";
    case RefusalCode::not_apart: return "pods that it must be apart from are there";
    case RefusalCode::kept_apart: return "pods that are there must be apart from such as it";
    case RefusalCode::not_spread: return "pods would be spread too unevenly";
  }
  return "";
}

}  // namespace

std::string_view errc_word(Errc code) {
  for (const Row& row : kErrors) {
    if (row.code == code) return row.word;
  }
  return "";
}

Errc errc_from_word(std::string_view word) {
  for (const Row& row : kErrors) {
    if (row.word == word) return row.code;
  }
  return Errc::unavailable;
}

int http_status(Errc code) {
  for (const Row& row : kErrors) {
    if (row.code == code) return row.status;
  }
  return 500;
}

Errc errc_of(RefusalCode code) {
  switch (code) {
    case RefusalCode::invalid_request:
    case RefusalCode::unknown_partition:
    case RefusalCode::no_default_partition:
    case RefusalCode::unknown_dependency:
    case RefusalCode::dependency_on_itself:
    case RefusalCode::invalid_array:
    case RefusalCode::invalid_condition:
    case RefusalCode::no_such_gpu:
    case RefusalCode::too_many_gpus:
    case RefusalCode::too_many_nodes:
    case RefusalCode::no_node_fits:
    case RefusalCode::invalid_limit:
    case RefusalCode::too_many_cpus:
    case RefusalCode::too_much_memory:
    case RefusalCode::too_little_disk:
    case RefusalCode::no_such_feature:
    case RefusalCode::node_excluded:
    case RefusalCode::step_too_large: return Errc::invalid;
    case RefusalCode::unknown_job:
    case RefusalCode::unknown_document:
    case RefusalCode::unknown_node: return Errc::not_found;
    case RefusalCode::not_permitted: return Errc::denied;
    case RefusalCode::already_ended:
    case RefusalCode::not_waiting:
    case RefusalCode::not_running:
    case RefusalCode::not_requeueable:
    case RefusalCode::too_many_jobs:  // not `exhausted`: asking again in a moment won't help
    case RefusalCode::document_exists:
    case RefusalCode::document_changed:
    case RefusalCode::document_in_use:
    case RefusalCode::no_such_label:
    case RefusalCode::node_tainted:
    case RefusalCode::not_near:
    case RefusalCode::not_apart:
    case RefusalCode::kept_apart:
    case RefusalCode::not_spread:
    case RefusalCode::node_closed:
    case RefusalCode::node_taken:
    case RefusalCode::gpus_busy:
    case RefusalCode::cpus_busy:
    case RefusalCode::memory_busy:
    case RefusalCode::step_busy: return Errc::conflict;
    case RefusalCode::overloaded: return Errc::exhausted;
    case RefusalCode::no_space:
    case RefusalCode::unavailable: return Errc::unavailable;
  }
  return Errc::unavailable;
}

std::string refusal_text(const Refusal& refusal) {
  std::string text(sentence(refusal.code));
  if (!refusal.subject.empty()) text += " (" + printable(refusal.subject) + ")";
  for (const Amount& amount : refusal.amounts) {
    text += "; " + amount.name + ": " + std::to_string(amount.have) + ", asked " + std::to_string(amount.want);
  }
  if (!refusal.nearest.empty()) text += "; nearest that fits: " + printable(refusal.nearest);
  return text;
}

}  // namespace drover::native
