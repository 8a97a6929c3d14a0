#include "kube/object/pod/unschedulable.h"

#include "base/text.h"
#include "kube/select/quantity.h"

namespace drover::kube {
namespace {

std::string amount_text(const Amount& amount, std::int64_t number) {
  if (amount.name == "cpu_milli") return kube::Quantity::of_milli(number).text();
  if (!amount.name.ends_with("_mib")) return std::to_string(number);
  return kube::Quantity::of(number << 20, kube::Quantity::Format::binary).text();
}

// " (want 4, at most 2 free)"; "" where the refusal has no amounts.
std::string numbers(const Refusal& refusal, const char* have) {
  if (refusal.amounts.empty()) return {};
  const Amount& amount = refusal.amounts.front();
  std::string text = " (want " + amount_text(amount, amount.want) + ", at most " +
                     amount_text(amount, amount.have) + " " + have;
  // Of GPUs the subject is what they must be: a model or a condition.
  if (amount.name == "gpus" && !refusal.subject.empty()) text += " with " + refusal.subject;
  return text + ")";
}

// A taint as "key=value" in Kubernetes' braces.
std::string taint_text(const std::string& taint) {
  const auto equals = taint.find('=');
  const std::string key = taint.substr(0, equals);
  return "{" + key + ": " + (equals == std::string::npos ? "" : taint.substr(equals + 1)) + "}";
}

std::string closed_text(const std::string& why) {
  if (why == "lost") return "node(s) had untolerated taint {node.kubernetes.io/unreachable: }";
  return "node(s) were unschedulable" + (why.empty() ? "" : " (" + printable(why) + ")");
}

// Kubernetes' phrase, and behind it which pods and how many.
std::string pods_phrase(const Refusal& refusal, const char* phrase) {
  std::string text = std::string("node(s) didn't ") + phrase + " (" + printable(refusal.subject);
  for (const Amount& amount : refusal.amounts) {
    if (amount.have > 0) text += ": " + std::to_string(amount.have) + (amount.have == 1 ? " pod" : " pods");
    else text += ": no pod";
  }
  return text + ")";
}

std::string skew_phrase(const Refusal& refusal) {
  std::string text = "node(s) didn't match pod topology spread constraints (" + printable(refusal.subject);
  for (const Amount& amount : refusal.amounts) {
    text += ": skew would be " + std::to_string(amount.have) + ", at most " + std::to_string(amount.want);
  }
  return text + ")";
}

// Those that a node gives; all other codes refuse a wish as a whole.
std::string node_phrase(const Refusal& refusal) {
  const std::string named = refusal.subject.empty() ? "" : " (" + printable(refusal.subject) + ")";
  if (refusal.code == RefusalCode::node_closed) return closed_text(refusal.subject);
  if (refusal.code == RefusalCode::node_tainted) {
    return "node(s) had untolerated taint " + taint_text(printable(refusal.subject));
  }
  if (refusal.code == RefusalCode::node_taken) {
    return "node(s) are held by a job that shares them with nobody";
  }
  if (refusal.code == RefusalCode::not_near) return pods_phrase(refusal, "match pod affinity rules");
  if (refusal.code == RefusalCode::not_apart) return pods_phrase(refusal, "match pod anti-affinity rules");
  if (refusal.code == RefusalCode::kept_apart) {
    return pods_phrase(refusal, "satisfy existing pods anti-affinity rules");
  }
  if (refusal.code == RefusalCode::not_spread) return skew_phrase(refusal);
  if (refusal.code == RefusalCode::no_such_feature) return "node(s) lack a feature" + named;
  std::string phrase(word(refusal.code));
  for (char& c : phrase) c = c == '_' ? ' ' : c;
  return "node(s) refused it: " + phrase + named;
}

}  // namespace

std::string refusal_phrase(const Refusal& refusal) {
  struct Resource {
    RefusalCode code;
    const char* name;
    const char* have;
  };
  constexpr Resource kResources[] = {
      {RefusalCode::gpus_busy, "nvidia.com/gpu", "free"},
      {RefusalCode::too_many_gpus, "nvidia.com/gpu", "on a node"},
      {RefusalCode::no_such_gpu, "nvidia.com/gpu", "on a node"},
      {RefusalCode::cpus_busy, "cpu", "free"},
      {RefusalCode::too_many_cpus, "cpu", "on a node"},
      {RefusalCode::memory_busy, "memory", "free"},
      {RefusalCode::too_much_memory, "memory", "on a node"},
      {RefusalCode::too_little_disk, "ephemeral-storage", "on a node"},
  };
  for (const Resource& resource : kResources) {
    if (resource.code != refusal.code) continue;
    return std::string("Insufficient ") + resource.name + numbers(refusal, resource.have);
  }
  if (refusal.code == RefusalCode::no_such_label || refusal.code == RefusalCode::node_excluded) {
    std::string phrase = "node(s) didn't match Pod's node affinity/selector";
    if (refusal.code == RefusalCode::node_excluded || refusal.subject.empty()) return phrase;
    phrase += " (" + refusal.subject;
    if (!refusal.amounts.empty()) phrase += ": at most " + std::to_string(refusal.amounts.front().have);
    return phrase + ")";
  }
  return node_phrase(refusal);
}

std::string unschedulable_message(std::uint32_t nodes, std::span<const NodesRefusal> refusals) {
  std::vector<std::string> parts;
  std::uint32_t refusing = 0;
  for (const NodesRefusal& one : refusals) {
    parts.push_back(std::to_string(one.nodes) + " " + refusal_phrase(one.refusal));
    refusing += one.nodes;
  }
  if (nodes > refusing) {
    parts.push_back(std::to_string(nodes - refusing) + " node(s) are kept for work before it");
  }
  const std::string start = "0/" + std::to_string(nodes) + " nodes are available";
  return parts.empty() ? start + "." : start + ": " + join(parts, ", ") + ".";
}

}  // namespace drover::kube
