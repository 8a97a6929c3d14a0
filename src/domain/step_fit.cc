#include "domain/step_fit.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "domain/step_layout.h"
#include "domain/step_room.h"

namespace drover {
namespace {

constexpr std::uint32_t kMaxCpusPerTask = 65'536;
constexpr Bytes kMaxMemory = gibibytes(64 * 1024);  // times CPUs it stays a number
constexpr std::size_t kMaxNames = 65'536;
constexpr std::uint32_t kMaxGpus = 1'000'000;

Refusal invalid(std::string subject) {
  return {.code = RefusalCode::invalid_request, .subject = std::move(subject)};
}

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::uint64_t total(const std::vector<GpuAsk>& asks) {
  std::uint64_t sum = 0;
  for (const GpuAsk& ask : asks) sum += ask.count;
  return sum;
}

// One try: over the nodes as they are, or as if there were no other steps.
class Fit {
 public:
  using Found = std::variant<std::vector<StepShare>, StepLack>;

  Fit(const StepRequest& request, const std::vector<StepNode>& nodes, const std::map<std::uint32_t, Step>* others)
      : request_(request) {
    for (std::size_t i = std::min<std::size_t>(request.first_node, nodes.size()); i < nodes.size(); ++i) {
      if (holds(request.exclude_nodes, nodes[i].name)) continue;
      StepRoom& room = rooms_.emplace_back(request, nodes[i]);
      if (others == nullptr) continue;
      if (!nodes[i].open) room.close();
      if (!request.overlap) room.subtract(*others);
    }
  }

  Found run() {
    bound();
    if (least_ > rooms_.size()) {
      return StepLack{.name = "nodes", .have = static_cast<std::int64_t>(rooms_.size()), .want = least_};
    }
    count_capacities();
    StepLack lack{.name = "nodes", .have = 0, .want = least_};
    for (std::uint32_t n = least_; n <= most_; ++n) {
      const auto picked = choose(n, lack);
      if (!picked) continue;
      Found found = place(*picked);
      if (!std::holds_alternative<StepLack>(found)) return found;
      lack = *std::get_if<StepLack>(&found);
    }
    return lack;
  }

 private:
  // How many nodes: by default all of the job's, or those named, but none without a task and a GPU.
  void bound() {
    const auto all = static_cast<std::uint32_t>(rooms_.size());
    if (request_.distribution == Distribution::arbitrary) {
      tasks_ = static_cast<std::uint32_t>(request_.include_nodes.size());
      least_ = most_ = distinct(request_.include_nodes);
      return;
    }
    tasks_ = request_.tasks;
    const bool by_default = request_.min_nodes == 0;
    const auto named = distinct(request_.include_nodes);
    least_ = !by_default ? request_.min_nodes : named > 0 ? named : std::max(1U, all);
    most_ = request_.max_nodes > 0 ? request_.max_nodes : by_default ? least_ : std::max(all, least_);
    if (by_default) least_ = std::min(least_, most_);
    if (tasks_ > 0) least_ = std::min(least_, tasks_), most_ = std::min(most_, tasks_);
    const std::uint64_t gpus = total(request_.gpus);
    if (by_default && gpus > 0) {
      least_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(least_, gpus));
      most_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(most_, gpus));
    }
    most_ = std::max(least_, std::min(most_, std::max(1U, all)));
  }

  static std::uint32_t distinct(std::vector<std::string> names) {
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return static_cast<std::uint32_t>(names.size());
  }

  // Tasks that a node must hold to be of use, and may hold at most.
  [[nodiscard]] std::uint32_t fewest() const {
    return tasks_ == 0 ? std::max(1U, request_.tasks_per_node) : 1;
  }
  [[nodiscard]] std::uint32_t highest() const {
    if (tasks_ == 0) return fewest();
    return request_.tasks_per_node > 0 ? std::min(request_.tasks_per_node, tasks_) : tasks_;
  }

  void count_capacities() {
    for (const StepRoom& room : rooms_) {
      const std::uint32_t fits = room.capacity(highest());
      capacities_.push_back(fits < fewest() ? 0 : fits);
    }
  }

  // `n` nodes that together hold the tasks, the first ones if they do; by place in rooms_.
  std::optional<std::vector<std::size_t>> choose(std::uint32_t n, StepLack& lack) const {
    std::vector<std::size_t> picked;
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < rooms_.size(); ++i) {
      const bool named = holds(request_.include_nodes, rooms_[i].node().name);
      if (capacities_[i] == 0 && (named || picked.size() + others.size() < n)) {
        if (const auto why = rooms_[i].lack(fewest()); why && (named || lack.name == "nodes")) lack = *why;
        if (named) return std::nullopt;
      }
      if (capacities_[i] > 0) (named ? picked : others).push_back(i);
    }
    if (picked.size() > n) picked.resize(n);
    if (picked.size() + others.size() < n) return std::nullopt;
    const std::size_t room = n - picked.size();
    const auto held = [&](const std::vector<std::size_t>& nodes, std::size_t first) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < first; ++i) sum += capacities_[nodes[i]];
      return sum;
    };
    if (held(picked, picked.size()) + held(others, room) < tasks_) {
      std::ranges::stable_sort(others, std::greater{}, [&](std::size_t i) { return capacities_[i]; });
    }
    picked.insert(picked.end(), others.begin(), others.begin() + static_cast<std::ptrdiff_t>(room));
    std::ranges::sort(picked);
    if (held(picked, n) >= tasks_) return picked;
    lack = too_few(picked);
    return std::nullopt;
  }

  // The nodes hold too few tasks: of what is there too little, added up?
  [[nodiscard]] StepLack too_few(const std::vector<std::size_t>& picked) const {
    std::uint64_t tasks = 0;
    std::optional<StepLack> first;
    for (const std::size_t i : picked) {
      tasks += capacities_[i];
      if (!first && capacities_[i] < highest()) first = rooms_[i].lack(capacities_[i] + 1);
    }
    if (!first || first->name != "cpus") {
      return {.name = first ? first->name : "tasks", .have = static_cast<std::int64_t>(tasks), .want = tasks_};
    }
    std::int64_t cpus = 0;
    for (const std::size_t i : picked) {
      const auto lack = rooms_[i].lack(capacities_[i] + 1);
      cpus += lack && lack->name == "cpus" ? lack->have : std::int64_t{capacities_[i]};
    }
    return {.name = "cpus", .have = cpus, .want = std::int64_t{tasks_} * std::max(1U, request_.cpus_per_task)};
  }

  Found place(std::vector<std::size_t> picked) const {
    std::vector<LayoutNode> places;
    for (const std::size_t i : picked) {
      places.push_back({.name = rooms_[i].node().name, .most = capacities_[i], .cpus = cpus_for(i)});
    }
    const std::uint32_t tasks = tasks_ > 0 ? tasks_ : fewest() * static_cast<std::uint32_t>(picked.size());
    std::vector<std::vector<TaskRange>> dealt = deal_tasks(request_, tasks, places);
    for (std::size_t k = picked.size(); k-- > 0;) {  // planes that are too large for all nodes to get one
      if (!dealt[k].empty()) continue;
      dealt.erase(dealt.begin() + static_cast<std::ptrdiff_t>(k));
      picked.erase(picked.begin() + static_cast<std::ptrdiff_t>(k));
    }
    std::vector<std::uint32_t> counts;
    for (std::size_t k = 0; k < picked.size(); ++k) {
      counts.push_back(count_of(dealt[k]));
      if (const auto lack = rooms_[picked[k]].lack(counts.back())) return *lack;
    }
    std::vector<std::vector<GpuAsk>> more(picked.size());
    for (const GpuAsk& ask : request_.gpus) {
      if (const auto lack = spread_gpus(ask, picked, counts, more)) return *lack;
    }
    std::vector<StepShare> shares;
    for (std::size_t k = 0; k < picked.size(); ++k) {
      shares.push_back({.share = rooms_[picked[k]].take(counts[k], more[k]), .tasks = dealt[k]});
    }
    return shares;
  }

  [[nodiscard]] std::uint32_t cpus_for(std::size_t i) const {
    return rooms_[i].node().share->cpus.count() / std::max(1U, request_.cpus_per_task);
  }

  // So many GPUs over all nodes: one on each, then the nodes are filled from the first.
  std::optional<StepLack> spread_gpus(const GpuAsk& ask, const std::vector<std::size_t>& picked,
                                      const std::vector<std::uint32_t>& counts,
                                      std::vector<std::vector<GpuAsk>>& more) const {
    const std::uint32_t least = request_.gpus.size() == 1 ? 1 : 0;
    std::int64_t left = ask.count;
    std::int64_t have = 0;
    std::int64_t first = 0;
    std::vector<std::uint32_t> portions;
    for (std::size_t k = 0; k < picked.size(); ++k) {
      const std::uint32_t there = rooms_[picked[k]].gpus(ask);
      const std::uint32_t anyway = rooms_[picked[k]].gpus_anyway(ask, counts[k]);
      portions.push_back(std::min(there, std::max(least, anyway)));
      first += anyway == 0 ? portions.back() : 0;
      left -= portions.back();
      have += there;
    }
    if (first > ask.count) return StepLack{.name = "gpus", .have = ask.count, .want = first};
    for (std::size_t k = 0; k < picked.size(); ++k) {
      const std::uint32_t there = rooms_[picked[k]].gpus(ask);
      const std::uint32_t anyway = rooms_[picked[k]].gpus_anyway(ask, counts[k]);
      const auto extra = static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 0, there - portions[k]));
      left -= extra;
      const std::uint32_t portion = portions[k] + extra;
      if (portion > anyway) more[k].push_back({.model = ask.model, .count = portion - anyway});
    }
    if (left > 0) return StepLack{.name = "gpus", .have = have, .want = ask.count};
    return std::nullopt;
  }

  const StepRequest& request_;
  std::vector<StepRoom> rooms_;
  std::vector<std::uint32_t> capacities_;
  std::uint32_t tasks_ = 0;  // 0: as many as tasks_per_node says, or one, on each
  std::uint32_t least_ = 1;
  std::uint32_t most_ = 1;
};

}  // namespace

std::optional<Refusal> check_step(const StepRequest& r) {
  if (r.tasks > kMaxStepTasks || r.tasks_per_node > kMaxStepTasks) return invalid("tasks of the step");
  if (r.cpus_per_task > kMaxCpusPerTask) return invalid("cpus per task of the step");
  if (r.max_nodes > 0 && r.min_nodes > r.max_nodes) return invalid("nodes of the step");
  if (r.memory < Bytes{} || r.memory > kMaxMemory) return invalid("memory of the step");
  if (r.include_nodes.size() > kMaxNames || r.exclude_nodes.size() > kMaxNames) return invalid("nodes of the step");
  if (r.first_node > 0 && !(r.include_nodes.empty() && r.exclude_nodes.empty())) {
    return invalid("a first node together with names of nodes");
  }
  const bool asks = !(r.gpus_per_node.empty() && r.gpus_per_task.empty() && r.gpus.empty());
  if (r.no_gpus && asks) return invalid("no GPUs and some, both");
  for (const auto* list : {&r.gpus_per_node, &r.gpus_per_task, &r.gpus}) {
    if (list->size() > 64 || total(*list) > kMaxGpus) return invalid("gpus of the step");
    for (const GpuAsk& ask : *list) {
      if (ask.count == 0) return invalid("gpus of the step");
    }
  }
  for (const std::string& name : r.include_nodes) {
    if (holds(r.exclude_nodes, name)) return invalid(printable(name) + " is named and excluded, both");
  }
  if (r.distribution == Distribution::plane && r.plane == 0) return invalid("size of the planes");
  if (r.distribution != Distribution::arbitrary) return std::nullopt;
  if (r.include_nodes.empty()) return invalid("an arbitrary distribution without a node for each task");
  if (r.tasks > 0 && r.tasks != r.include_nodes.size()) {
    return invalid("an arbitrary distribution names one node for each task");
  }
  return std::nullopt;
}

std::variant<std::vector<StepShare>, Refusal> fit_step(const StepRequest& request, const std::vector<StepNode>& nodes,
                                                       const std::map<std::uint32_t, Step>& others) {
  for (const std::string& name : request.include_nodes) {
    const auto is_named = [&](const StepNode& node) { return node.name == name; };
    if (std::ranges::none_of(nodes, is_named)) {
      return Refusal{.code = RefusalCode::unknown_node, .subject = printable(name)};
    }
  }
  Fit::Found now = Fit(request, nodes, &others).run();
  if (auto* shares = std::get_if<std::vector<StepShare>>(&now)) return std::move(*shares);
  Fit::Found alone = Fit(request, nodes, nullptr).run();
  if (std::holds_alternative<std::vector<StepShare>>(alone)) {
    return Refusal{.code = RefusalCode::step_busy, .subject = std::string(std::get_if<StepLack>(&now)->name)};
  }
  const StepLack& lack = *std::get_if<StepLack>(&alone);
  return Refusal{.code = RefusalCode::step_too_large,
                 .amounts = {{.name = std::string(lack.name), .have = lack.have, .want = lack.want}}};
}

}  // namespace drover
