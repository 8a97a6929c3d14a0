#include "domain/node_labels.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace drover {
namespace {

// Sizes in which cards are sold, in GB; a driver reports somewhat less than that many GiB.
constexpr std::array<std::int64_t, 24> kCardClasses{2,  3,  4,  6,  8,  10, 11, 12,  16,  20,  24,  32,
                                                    40, 48, 64, 80, 94, 96, 128, 141, 180, 192, 256, 288};

std::int64_t card_class(Bytes memory) {
  const std::int64_t mib = memory.count() >> 20;
  for (const std::int64_t gb : kCardClasses) {
    if (mib <= gb * 1024) return gb;
  }
  return (mib + 1023) / 1024;
}

const char* family_of(std::uint32_t capability) {
  if (capability >= 100) return "blackwell";
  if (capability >= 90) return "hopper";
  if (capability >= 89) return "ada-lovelace";
  if (capability >= 80) return "ampere";
  if (capability >= 75) return "turing";
  if (capability >= 70) return "volta";
  if (capability >= 60) return "pascal";
  return "undefined";
}

// A label's value has letters, digits, '-', '_' and '.', at most 63 of them.
std::string label_value(const std::string& text) {
  std::string value;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    value += letter || (c >= '0' && c <= '9') || c == '.' || c == '_' ? c : '-';
  }
  value.resize(std::min<std::size_t>(value.size(), 63));
  const auto ends_badly = [](char c) { return c == '-' || c == '_' || c == '.'; };
  while (!value.empty() && ends_badly(value.back())) value.pop_back();
  while (!value.empty() && ends_badly(value.front())) value.erase(0, 1);
  return value;
}

void add_gpus(const Node& node, std::map<std::string, std::string>& labels) {
  const DeviceInfo* least = nullptr;
  int count = 0;
  for (const Device& device : node.devices) {
    if (device.info.kind != "gpu" || !device.info.healthy) continue;
    ++count;
    if (least == nullptr || device.info.memory < least->memory) least = &device.info;
  }
  if (least == nullptr) return;
  labels["nvidia.com/gpu.present"] = "true";
  labels["nvidia.com/gpu.count"] = std::to_string(count);
  labels["nvidia.com/gpu.product"] = label_value(least->product.empty() ? least->model : least->product);
  labels["nvidia.com/gpu.memory"] = std::to_string(least->memory.count() >> 20);
  labels["gpu-memory"] = std::to_string(card_class(least->memory));
  if (least->capability == 0) return;
  labels["nvidia.com/gpu.compute.major"] = std::to_string(least->capability / 10);
  labels["nvidia.com/gpu.compute.minor"] = std::to_string(least->capability % 10);
  labels["nvidia.com/gpu.family"] = family_of(least->capability);
}

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && at == end && !text.empty() ? std::optional(value) : std::nullopt;
}

bool compares(const LabelTerm& term, const std::string& have) {
  const auto left = number(have);
  const auto right = term.values.size() == 1 ? number(term.values[0]) : std::nullopt;
  if (!left || !right) return false;
  return term.op == LabelOp::greater ? *left > *right : *left < *right;
}

}  // namespace

std::map<std::string, std::string> labels_of(const Node& node) {
  std::map<std::string, std::string> labels;
  const std::string arch = node.inventory.arch == "x86_64"    ? "amd64"
                           : node.inventory.arch == "aarch64" ? "arm64"
                                                              : label_value(node.inventory.arch);
  for (const char* prefix : {"kubernetes.io/", "beta.kubernetes.io/"}) {
    labels[std::string(prefix) + "os"] = "linux";
    if (!arch.empty()) labels[std::string(prefix) + "arch"] = arch;
  }
  add_gpus(node, labels);
  for (const auto& [key, value] : node.inventory.labels) labels[key] = value;
  for (const auto& [key, value] : node.marks.labels) labels[key] = value;
  labels["kubernetes.io/hostname"] = node.name();
  return labels;
}

bool holds(const LabelTerm& term, const std::map<std::string, std::string>& labels) {
  const auto found = labels.find(term.key);
  const bool there = found != labels.end();
  const auto listed = [&] { return std::ranges::find(term.values, found->second) != term.values.end(); };
  switch (term.op) {
    case LabelOp::in: return there && listed();
    case LabelOp::not_in: return !there || !listed();
    case LabelOp::exists: return there;
    case LabelOp::not_exists: return !there;
    case LabelOp::greater:
    case LabelOp::less: return there && compares(term, found->second);
  }
  return false;
}

bool labels_hold(const Request& request, const Node& node) {
  if (request.labels.empty()) return true;
  const auto labels = labels_of(node);
  return std::ranges::any_of(request.labels, [&](const LabelTerms& terms) {
    return std::ranges::all_of(terms.all, [&](const LabelTerm& term) { return holds(term, labels); });
  });
}

const LabelTerm* label_against(const Request& request, const Node& node) {
  if (labels_hold(request, node)) return nullptr;
  const auto labels = labels_of(node);
  for (const LabelTerms& terms : request.labels) {
    for (const LabelTerm& term : terms.all) {
      if (!holds(term, labels)) return &term;
    }
  }
  return nullptr;
}

std::string text_of(const LabelTerm& term) {
  std::string values;
  for (const std::string& value : term.values) values += (values.empty() ? "" : ",") + value;
  switch (term.op) {
    case LabelOp::in: return term.values.size() == 1 ? term.key + "=" + values : term.key + " in (" + values + ")";
    case LabelOp::not_in:
      return term.values.size() == 1 ? term.key + "!=" + values : term.key + " notin (" + values + ")";
    case LabelOp::exists: return term.key;
    case LabelOp::not_exists: return "!" + term.key;
    case LabelOp::greater: return term.key + " > " + values;
    case LabelOp::less: return term.key + " < " + values;
  }
  return term.key;
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect != TaintEffect::any && toleration.effect != taint.effect) return false;
  if (toleration.key.empty()) return toleration.exists;
  return toleration.key == taint.key && (toleration.exists || toleration.value == taint.value);
}

const Taint* taint_against(const Request& request, const Node& node) {
  for (const Taint& taint : node.marks.taints) {
    if (taint.effect == TaintEffect::prefer_no_schedule) continue;
    const auto bears = [&](const Toleration& toleration) { return tolerates(toleration, taint); };
    if (std::ranges::none_of(request.tolerations, bears)) return &taint;
  }
  return nullptr;
}

}  // namespace drover
