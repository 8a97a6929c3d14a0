#include "policy/need.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace drover::policy {
namespace {

constexpr std::uint32_t kMany = 1'000'000;  // nodes, tasks, CPUs, GPUs: no honest request has more
constexpr std::size_t kMostTerms = 64;       // about other pods, of each kind

std::optional<Refusal> merge(std::vector<Ask>& asks, const std::vector<GpuAsk>& from, std::uint32_t Ask::*amount) {
  for (const GpuAsk& gpu : from) {
    if (gpu.count == 0) continue;
    if (gpu.count > kMany) return Refusal{.code = RefusalCode::invalid_request, .subject = "gpus"};
    auto found = std::ranges::find_if(asks, [&](const Ask& ask) { return iequals(ask.model, gpu.model); });
    if (found == asks.end()) found = asks.insert(asks.end(), Ask{.model = gpu.model});
    (*found).*amount += gpu.count;
  }
  return std::nullopt;
}

std::optional<Refusal> read_gpus(Need& need) {
  const Request& r = need.request;
  if (auto refusal = merge(need.asks, r.gpus_per_node, &Ask::per_node)) return refusal;
  if (auto refusal = merge(need.asks, r.gpus_per_task, &Ask::per_task)) return refusal;
  std::vector<Ask> over_all;
  if (auto refusal = merge(over_all, r.gpus_per_job, &Ask::per_node)) return refusal;
  if (over_all.size() > 1) {
    return Refusal{.code = RefusalCode::invalid_request, .subject = "gpus: several models for the whole job"};
  }
  if (!over_all.empty()) {
    const Ask& total = over_all.front();
    if (need.asks.empty()) {
      need.gpus_total = total.per_node;
      need.asks.push_back({.model = total.model});
    } else if (need.asks.size() == 1 && need.asks[0].per_task > 0 && need.asks[0].per_node == 0 &&
               total.per_node % need.asks[0].per_task == 0 &&
               (need.request.tasks == 0 || need.request.tasks == total.per_node / need.asks[0].per_task)) {
      need.request.tasks = total.per_node / need.asks[0].per_task;  // both say the same
      if (need.asks[0].model.empty()) need.asks[0].model = total.model;
    } else {
      return Refusal{.code = RefusalCode::invalid_request, .subject = "gpus: the job's total and the parts differ"};
    }
  }
  std::ranges::stable_partition(need.asks, [](const Ask& ask) { return !ask.model.empty(); });
  if (need.asks.size() > kMaxAsks) {
    return Refusal{.code = RefusalCode::invalid_request, .subject = "gpus: too many models"};
  }
  if (need.asks.empty() && (r.cpus_per_gpu > 0 || r.memory_rule == MemoryRule::per_gpu || !r.gpu_condition.empty())) {
    return Refusal{.code = RefusalCode::invalid_request, .subject = "amounts per GPU without any GPU"};
  }
  return std::nullopt;
}

void resolve_bounds(Need& need) {
  const Request& r = need.request;
  need.tasks = r.tasks;
  need.tasks_each = std::max(1U, r.tasks_per_node);
  need.task_cap = r.tasks > 0 ? r.tasks_per_node : 0;
  need.min_nodes = std::max({1U, r.min_nodes, static_cast<std::uint32_t>(r.include_nodes.size())});
  if (r.tasks > 0) need.min_nodes = std::min(need.min_nodes, std::max(1U, r.tasks));
  if (r.max_nodes > 0) {
    need.max_nodes = std::max(need.min_nodes, r.max_nodes);
  } else {
    need.max_nodes = need.all_units() > 0 ? std::max(need.min_nodes, need.all_units()) : need.min_nodes;
  }
  if (need.all_units() > 0) {
    need.max_nodes = std::max(need.min_nodes, std::min(need.max_nodes, need.all_units()));
  }
  if (need.gpus_total > 0 && need.tasks > 0) {
    need.max_nodes = std::max(need.min_nodes, std::min(need.max_nodes, need.tasks));
  }
}

// Terms about others are asked of node after node, so what a node gets may not hang on how many there are.
const char* wrong_terms(const Need& need) {
  const Request& r = need.request;
  if (!r.looks_around()) return nullptr;
  const std::size_t most = std::max({r.near.size(), r.apart.size(), r.spread.size()});
  if (most > kMostTerms) return "terms about other pods: too many";
  const auto no_key = [](const auto& term) { return term.key.empty(); };
  if (std::ranges::any_of(r.near, no_key) || std::ranges::any_of(r.apart, no_key) ||
      std::ranges::any_of(r.spread, no_key)) {
    return "terms about other pods: no topology key";
  }
  if (std::ranges::any_of(r.spread, [](const SpreadTerm& t) { return t.max_skew == 0 || t.min_domains == 0; })) {
    return "terms about other pods: a skew or a number of domains of 0";
  }
  if (need.max_nodes > 1 && need.all_units() > 0) return "terms about other pods: for tasks over several nodes";
  return nullptr;
}

}  // namespace

std::uint32_t Need::tasks_of(std::uint32_t units) const {
  if (gpus_total == 0) return units;
  if (tasks == 0) return tasks_each;
  const std::uint64_t share = (std::uint64_t{tasks} * units + gpus_total - 1) / gpus_total;
  return std::max(1U, static_cast<std::uint32_t>(share));
}

std::variant<Need, Refusal> make_need(const Request& request) {
  const auto invalid = [](std::string what) {
    return Refusal{.code = RefusalCode::invalid_request, .subject = std::move(what)};
  };
  Need need{.request = request};
  const Request& r = request;
  if (r.min_nodes > kMany || r.max_nodes > kMany) return invalid("nodes");
  if (r.max_nodes > 0 && r.max_nodes < r.min_nodes) return invalid("nodes: the most is below the least");
  if (r.tasks > kMany || r.tasks_per_node > kMany) return invalid("tasks");
  if (r.cpus_per_task > kMany || r.cpus_per_gpu > kMany || r.cpu_milli / 1000 > kMany) return invalid("cpus");
  if (r.memory < Bytes{} || r.memory.count() > (std::int64_t{1} << 50)) return invalid("memory");
  if (r.disk < Bytes{}) return invalid("disk");
  if (auto refusal = read_gpus(need)) return *refusal;
  resolve_bounds(need);
  if (need.gpus_total > 0 && need.min_nodes > need.gpus_total) return invalid("gpus: fewer than nodes");
  if (const char* terms = wrong_terms(need)) return invalid(terms);
  const auto wrong = [](const std::string& text, const Error& error) {
    return Refusal{.code = RefusalCode::invalid_condition, .subject = printable(text) + ": " + error.message};
  };
  auto condition = Condition::parse(r.gpu_condition);
  if (!condition) return wrong(r.gpu_condition, condition.error());
  need.condition = std::move(*condition);
  auto features = Features::parse(r.features);
  if (!features) return wrong(r.features, features.error());
  need.features = std::move(*features);
  return need;
}

Need need_of(const Request& request) {
  auto made = make_need(request);
  CHECK(std::holds_alternative<Need>(made));
  return std::move(*std::get_if<Need>(&made));
}

}  // namespace drover::policy
