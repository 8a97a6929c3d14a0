// Wishes about documents and about what people write on nodes; what a node reports of a pod.
#include "base/text.h"
#include "domain/decide.h"
#include "domain/may.h"

namespace drover {
namespace {

constexpr std::size_t kMaxKey = 512;
constexpr std::size_t kMaxMarks = 4096;  // labels, annotations and taints of one node
constexpr std::size_t kMaxMarkBytes = 256 * 1024;

std::string shown(const DocumentKey& key) {
  return printable(key.kind) + " " + (key.space.empty() ? "" : printable(key.space) + "/") + printable(key.name);
}

std::optional<Refusal> check_version(std::optional<std::uint64_t> expect, std::uint64_t have, std::string subject) {
  if (!expect || *expect == have) return std::nullopt;
  return Refusal{.code = RefusalCode::document_changed, .subject = std::move(subject),
                 .amounts = {{.name = "version", .have = static_cast<std::int64_t>(have),
                              .want = static_cast<std::int64_t>(*expect)}}};
}

std::size_t bytes_of(const Labels& labels) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : labels) bytes += key.size() + value.size();
  return bytes;
}

std::optional<Refusal> check_put(const Cluster& cluster, const PutDocument& wish) {
  const DocumentKey& key = wish.key;
  if (wish.labels.size() > kMaxMarks || bytes_of(wish.labels) > kMaxMarkBytes) {
    return Refusal{.code = RefusalCode::invalid_request, .subject = "labels"};
  }
  if (key.kind.empty() || key.name.empty() || key.kind.size() + key.space.size() + key.name.size() > kMaxKey) {
    return Refusal{.code = RefusalCode::invalid_request, .subject = "name of the document"};
  }
  const Document* known = cluster.document(key);
  if (known == nullptr) {
    if (!wish.expect || *wish.expect == 0) return std::nullopt;
    return Refusal{.code = RefusalCode::unknown_document, .subject = shown(key)};
  }
  if (wish.expect == 0 || wish.job) return Refusal{.code = RefusalCode::document_exists, .subject = shown(key)};
  return check_version(wish.expect, known->version, shown(key));
}

std::optional<Refusal> check_marks(const NodeMarks& marks) {
  std::size_t bytes = 0;
  for (const auto* map : {&marks.labels, &marks.annotations}) bytes += bytes_of(*map);
  for (const Taint& taint : marks.taints) bytes += taint.key.size() + taint.value.size();
  const std::size_t count = marks.labels.size() + marks.annotations.size() + marks.taints.size();
  if (count <= kMaxMarks && bytes <= kMaxMarkBytes) return std::nullopt;
  return Refusal{.code = RefusalCode::invalid_request, .subject = "labels, annotations and taints of the node"};
}

}  // namespace

Answer decide_put(Facts& facts, const Asked& asked, const PutDocument& wish, const Feasible& feasible, Instant now) {
  if (!may(facts.cluster(), asked.caller, Verb::change_document, 0)) {
    return Refusal{.code = RefusalCode::not_permitted, .subject = "documents"};
  }
  if (auto refusal = check_put(facts.cluster(), wish)) return *refusal;
  DocumentStored fact{.key = wish.key, .body = wish.body, .at = now, .labels = wish.labels};
  if (wish.job) {
    auto valid = validate_submit(facts.cluster(), asked.caller, *wish.job, feasible, now);
    if (auto* refusal = std::get_if<Refusal>(&valid)) return std::move(*refusal);
    JobSubmitted& job = *std::get_if<JobSubmitted>(&valid);
    fact.job = job.job;
    facts.add(std::move(job));
  }
  const JobId job = fact.job;
  facts.add(std::move(fact));
  Reply reply{.job = job, .version = facts.cluster().document(wish.key)->version};
  if (job) reply.jobs = {job};
  return reply;
}

Answer decide_remove(Facts& facts, const Caller& caller, const RemoveDocument& wish, Instant now) {
  const Cluster& cluster = facts.cluster();
  if (!may(cluster, caller, Verb::change_document, 0)) {
    return Refusal{.code = RefusalCode::not_permitted, .subject = "documents"};
  }
  const Document* known = cluster.document(wish.key);
  if (known == nullptr) return Refusal{.code = RefusalCode::unknown_document, .subject = shown(wish.key)};
  if (auto refusal = check_version(wish.expect, known->version, shown(wish.key))) return *refusal;
  const Job* job = cluster.job(known->job);
  if (job != nullptr && job->phase != Phase::ended) {
    return Refusal{.code = RefusalCode::document_in_use, .subject = shown(wish.key)};
  }
  facts.add(DocumentRemoved{.key = wish.key, .job = known->job, .at = now});
  return Reply{.version = cluster.version()};
}

Answer decide_mark(Facts& facts, const Caller& caller, const MarkNode& wish, Instant now) {
  const Cluster& cluster = facts.cluster();
  if (!may(cluster, caller, Verb::change_node, 0)) {
    return Refusal{.code = RefusalCode::not_permitted, .subject = "nodes"};
  }
  const Node* node = cluster.node(wish.node);
  if (node == nullptr) return Refusal{.code = RefusalCode::unknown_node, .subject = printable(wish.node)};
  if (auto refusal = check_version(wish.expect, node->version, "node " + printable(wish.node))) return *refusal;
  if (auto refusal = check_marks(wish.marks)) return *refusal;
  NodeMarked fact{.node = node->id, .marks = wish.marks, .at = now};
  for (Taint& taint : fact.marks.taints) {
    if (taint.since == Instant{}) taint.since = now;
  }
  if (fact.marks != node->marks) facts.add(std::move(fact));
  return Reply{.version = cluster.node(wish.node)->version};
}

void on_pod(Facts& facts, const ReportPod& report, Instant now) {
  const Job* job = facts.cluster().job(report.job);
  if (job == nullptr || !job->pod || !job->active() || job->run->attempt != report.attempt) return;
  if (!job->holds(report.node)) return;
  if (job->run->pod && *job->run->pod == report.status) return;
  facts.add(PodReported{.job = report.job, .attempt = report.attempt, .status = report.status, .at = now});
}

}  // namespace drover
