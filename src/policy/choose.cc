#include "policy/choose.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace drover::policy {
namespace {

using Chosen = std::vector<const Slot*>;

bool better(const Slot* a, const Slot* b) { return std::tie(a->rank, a->node) < std::tie(b->rank, b->node); }

std::uint64_t units_of(const Chosen& chosen) {
  std::uint64_t sum = 0;
  for (const Slot* slot : chosen) sum += slot->units;
  return sum;
}

// The nodes that the request names, or nothing when one of them can't be had.
std::optional<Chosen> wanted_ones(const Need& need, const Chosen& usable) {
  Chosen wanted;
  if (need.request.include_nodes.empty()) return wanted;
  for (const Slot* slot : usable) {
    if (slot->wanted) wanted.push_back(slot);
  }
  if (wanted.size() < need.request.include_nodes.size()) return std::nullopt;
  return wanted;
}

bool enough(const Need& need, const Chosen& chosen) {
  return chosen.size() >= need.min_nodes && units_of(chosen) >= need.all_units();
}

// Adds the best `count` of the candidates.
void add_best(Chosen& chosen, Chosen candidates, std::size_t count) {
  count = std::min(count, candidates.size());
  const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(candidates.begin(), end, candidates.end(), better);
  chosen.insert(chosen.end(), candidates.begin(), end);
}

// The same amount on every node: as many nodes as it may have.
std::optional<Chosen> choose_equal(const Need& need, const Chosen& wanted, Chosen rest) {
  Chosen chosen = wanted;
  if (chosen.size() < need.max_nodes) add_best(chosen, std::move(rest), need.max_nodes - chosen.size());
  if (chosen.size() < need.min_nodes) return std::nullopt;
  return chosen;
}

// An amount over all nodes: evenly over a fixed number if that many can hold an even part, else on as
// few as possible, the last one being the best fit for what is left.
std::optional<Chosen> choose_spread(const Need& need, const Chosen& wanted, Chosen rest) {
  Chosen chosen = wanted;
  const std::uint64_t all = need.all_units();
  if (need.min_nodes > 1 && wanted.empty()) {
    Chosen even;
    std::ranges::copy_if(rest, std::back_inserter(even), [&](const Slot* slot) {
      return std::uint64_t{slot->units} * need.min_nodes >= all;
    });
    if (even.size() >= need.min_nodes) {
      add_best(chosen, std::move(even), need.min_nodes);
      return chosen;
    }
  }
  std::ranges::sort(rest, [](const Slot* a, const Slot* b) {
    return std::tie(b->units, a->rank, a->node) < std::tie(a->units, b->rank, b->node);
  });
  std::uint64_t sum = units_of(chosen);
  std::size_t taken = 0;
  while (taken < rest.size() && chosen.size() < need.max_nodes && sum < all) {
    const std::uint64_t left = all - sum;
    if (rest[taken]->units < left || chosen.size() + 1 < need.min_nodes) {
      chosen.push_back(rest[taken]);
      sum += rest[taken++]->units;
      continue;
    }
    const Slot* last = rest[taken];
    for (std::size_t i = taken; i < rest.size() && rest[i]->units >= left; ++i) {
      if (better(rest[i], last)) last = rest[i];
    }
    chosen.push_back(last);
    sum += last->units;
    break;
  }
  if (sum < all) return std::nullopt;
  if (chosen.size() < need.min_nodes) {
    Chosen others;
    std::ranges::copy_if(rest, std::back_inserter(others), [&](const Slot* slot) {
      return std::ranges::find(chosen, slot) == chosen.end();
    });
    add_best(chosen, std::move(others), need.min_nodes - chosen.size());
  }
  if (chosen.size() > need.max_nodes || !enough(need, chosen)) return std::nullopt;
  return chosen;
}

// The first run of neighbouring nodes that is enough.
std::optional<Chosen> choose_contiguous(const Need& need, const Chosen& wanted, std::span<const Slot> slots,
                                        std::size_t way) {
  const auto usable = [&](const Slot& slot) { return slot.units > 0 && ((slot.ways >> way) & 1U) != 0; };
  for (std::size_t first = 0; first < slots.size(); ++first) {
    Chosen run;
    for (std::size_t i = first; i < slots.size() && run.size() < need.max_nodes && usable(slots[i]); ++i) {
      run.push_back(&slots[i]);
      const bool all_wanted = std::ranges::all_of(wanted, [&](const Slot* slot) {
        return std::ranges::find(run, slot) != run.end();
      });
      if (all_wanted && enough(need, run)) return run;
    }
  }
  return std::nullopt;
}

// Every node gets at least one unit. Over a fixed number of nodes as evenly as they can hold, the
// first ones more; else the first nodes are filled.
void share_out(const Need& need, std::vector<Part>& parts, const Chosen& chosen) {
  std::uint64_t left = need.all_units();
  std::vector<std::size_t> order(chosen.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  const bool even = need.min_nodes == need.max_nodes;
  if (even) {
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return chosen[i]->units; });
  } else {
    std::ranges::reverse(order);
  }
  for (std::size_t n = 0; n < order.size(); ++n) {
    const std::uint64_t nodes_left = order.size() - n;
    const std::uint64_t most = even ? left / nodes_left : left - (nodes_left - 1);
    const auto units = static_cast<std::uint32_t>(std::min<std::uint64_t>(chosen[order[n]]->units, most));
    parts[order[n]].units = units;
    left -= units;
  }
  CHECK(left == 0);
}

std::vector<Part> shared_out(const Need& need, Chosen chosen) {
  std::ranges::sort(chosen, {}, &Slot::node);
  std::vector<Part> parts(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    parts[i] = {.node = chosen[i]->node, .units = need.least_units()};
  }
  if (need.all_units() > 0) share_out(need, parts, chosen);
  std::uint64_t units = 0;
  std::uint32_t tasks = 0;
  for (Part& part : parts) {
    part.tasks = need.tasks_of(part.units);
    if (need.gpus_total == 0 || need.tasks == 0) continue;
    units += part.units;  // tasks in proportion to GPUs, rounded so that they add up
    const auto upto = static_cast<std::uint32_t>(std::uint64_t{need.tasks} * units / need.gpus_total);
    part.tasks = std::max(1U, upto - std::min(upto, tasks));
    tasks += part.tasks;
  }
  return parts;
}

}  // namespace

std::optional<std::vector<Part>> choose(const Need& need, std::span<const Slot> slots) {
  for (std::size_t way = 0; way < need.features.ways(); ++way) {
    Chosen usable;
    const Slot* one = nullptr;  // the best that can hold all of it
    for (const Slot& slot : slots) {
      if (slot.units == 0 || ((slot.ways >> way) & 1U) == 0) continue;
      if (slot.units >= need.most_units() && (one == nullptr || better(&slot, one))) one = &slot;
      usable.push_back(&slot);
    }
    if (need.min_nodes == 1 && one != nullptr && need.request.include_nodes.empty() &&
        (need.all_units() > 0 || need.max_nodes == 1)) {
      return shared_out(need, {one});
    }
    const auto wanted = wanted_ones(need, usable);
    if (!wanted || wanted->size() > need.max_nodes) continue;
    std::optional<Chosen> chosen;
    if (need.request.contiguous) {
      chosen = choose_contiguous(need, *wanted, slots, way);
    } else {
      Chosen rest;
      std::ranges::copy_if(usable, std::back_inserter(rest), [&](const Slot* s) { return !s->wanted; });
      chosen = need.all_units() > 0 ? choose_spread(need, *wanted, std::move(rest))
                                    : choose_equal(need, *wanted, std::move(rest));
    }
    if (chosen) return shared_out(need, std::move(*chosen));
  }
  return std::nullopt;
}

}  // namespace drover::policy
