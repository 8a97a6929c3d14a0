// Random lives of a cluster, with what must always hold checked after every step. A failure prints the
// seed: DROVER_SEED=N runs that one, DROVER_SEEDS=N so many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "around.h"
#include "base/proto.h"
#include "base/text.h"
#include "domain/facts.h"
#include "domain/step_layout.h"
#include "engine/core.h"
#include "engine/explain.h"
#include "engine/pass.h"
#include "life.h"
#include "policy/fit.h"
#include "scenario_show.h"

namespace drover {
namespace {

using engine::Core;
using engine::Outcome;

// ---- what must hold of a cluster at any time ----

void check_ledger(const Cluster& cluster) {  // S1, S3
  std::map<NodeId, CpuSet> cpus;
  std::map<NodeId, std::map<std::uint32_t, Milli>> parts;
  std::map<NodeId, Bytes> memory;
  std::map<NodeId, std::uint32_t> jobs;
  std::map<NodeId, std::uint32_t> exclusive;
  std::map<DeviceId, Milli> devices;
  cluster.jobs().each([&](const Job& job) {
    if (!job.active()) return;
    for (const NodeShare& share : job.run->placement->shares) {
      if (!job.holds(share.node)) continue;
      EXPECT_FALSE(cpus[share.node].intersects(share.cpus));
      cpus[share.node] |= share.cpus;
      for (const CpuPart& part : share.parts) {
        EXPECT_GT(part.milli, Milli{});
        parts[share.node][part.cpu] += part.milli;
      }
      memory[share.node] += share.memory;
      ++jobs[share.node];
      exclusive[share.node] += job.run->placement->exclusive ? 1U : 0U;
      for (const Grant& grant : share.devices) {
        devices[grant.device] += grant.milli;
        EXPECT_EQ(cluster.node_of(grant.device), share.node);
      }
    }
  });
  for (const Node& node : cluster.nodes()) {
    EXPECT_EQ(node.cpu_parts, parts[node.id]);
    for (const auto& [cpu, milli] : parts[node.id]) {
      EXPECT_LE(milli, Milli::of(1000));
      EXPECT_LT(cpu, node.inventory.cpus);
      EXPECT_FALSE(cpus[node.id].contains(cpu)) << "a CPU whole and in parts";
      cpus[node.id].add(cpu);
    }
    EXPECT_EQ(node.cpus_used, cpus[node.id]);
    EXPECT_EQ(node.memory_used, memory[node.id]);
    EXPECT_LE(node.memory_used, node.inventory.memory);
    EXPECT_EQ(node.jobs.size(), jobs[node.id]);
    EXPECT_TRUE(exclusive[node.id] == 0 || jobs[node.id] == 1) << "an exclusive job has company";
    for (const Device& device : node.devices) {
      EXPECT_EQ(device.used, devices[device.id]);
      EXPECT_LE(device.used, Milli::of(1000));
    }
  }
}

// What steps hold fits into their job's shares, part by part, and no step outlives its job.
void check_steps(const Cluster& cluster) {
  for (const auto& [id, of] : cluster.all_steps()) {
    const Job& job = *cluster.job(id);
    std::map<NodeId, NodeShare> held;
    for (const auto& [number, step] : of.steps) {
      EXPECT_LT(number, of.next);
      if (step.phase == StepPhase::ended) continue;
      EXPECT_TRUE(job.active()) << "step " << id.value() << "." << number << " of an ended job";
      EXPECT_EQ(step.attempt, job.run->attempt);
      std::uint32_t tasks = 0;
      std::set<std::uint32_t> numbers;
      for (const StepShare& part : step.shares) {
        const NodeShare& own = part.share;
        const auto of_job = std::ranges::find(job.run->placement->shares, own.node, &NodeShare::node);
        ASSERT_NE(of_job, job.run->placement->shares.end());
        const std::vector<std::uint32_t> here = numbers_of(part.tasks);
        EXPECT_EQ(here.size(), own.tasks);
        EXPECT_GT(own.tasks, 0U);
        numbers.insert(here.begin(), here.end());
        tasks += own.tasks;
        CpuSet beyond = own.cpus;
        beyond -= of_job->cpus;
        EXPECT_TRUE(beyond.empty()) << "CPUs that the job hasn't";
        for (const Grant& grant : own.devices) EXPECT_NE(std::ranges::find(of_job->devices, grant), of_job->devices.end());
        EXPECT_LE(own.memory, of_job->memory);
        EXPECT_TRUE(!step.uses(own.node) || job.holds(own.node)) << "a step on a node that the job has left";
        if (step.request.overlap || !step.uses(own.node)) continue;
        NodeShare& all = held[own.node];
        EXPECT_FALSE(all.cpus.intersects(own.cpus)) << "a CPU in two steps";
        all.cpus |= own.cpus;
        all.memory += own.memory;
        EXPECT_LE(all.memory, of_job->memory);
        for (const Grant& grant : own.devices) {
          EXPECT_EQ(std::ranges::find(all.devices, grant), all.devices.end()) << "a GPU in two steps";
          all.devices.push_back(grant);
        }
      }
      EXPECT_EQ(numbers.size(), tasks);
      EXPECT_EQ(*numbers.rbegin(), tasks - 1);
    }
  }
}

// Every change took a number of its own, and a job with a document is kept as long as that.
void check_documents(const Cluster& cluster) {
  std::set<std::uint64_t> versions;
  const auto note = [&](std::uint64_t version) {
    EXPECT_TRUE(versions.insert(version).second) << "one version twice: " << version;
    EXPECT_LE(version, cluster.version());
    EXPECT_GT(version, 0U);
  };
  cluster.jobs().each([&](const Job& job) {
    note(job.version);
    EXPECT_TRUE(!job.pod || !job.requeue);
  });
  for (const Node& node : cluster.nodes()) note(node.version);
  for (const auto& [key, document] : cluster.documents()) {
    note(document.version);
    EXPECT_LE(document.made, document.version);
    if (!document.job) continue;
    ASSERT_NE(cluster.job(document.job), nullptr) << key.name << ": its job is forgotten";
    EXPECT_TRUE(cluster.job(document.job)->pod);
    ASSERT_NE(cluster.document_of(document.job), nullptr);
    const Job& job = *cluster.job(document.job);
    const bool kept = job.phase == Phase::ended && job.run->placement != nullptr;
    for (const Node& node : cluster.nodes()) {
      const bool here = kept && job.run->placement->shares.front().node == node.id;
      EXPECT_EQ(cluster.kept_pods(node.id).contains(job.id), here);
    }
    EXPECT_EQ(*cluster.document_of(document.job), key);
  }
  for (const Tombstone& tombstone : cluster.tombstones()) note(tombstone.version);
}

void check_jobs(const Cluster& cluster) {
  std::map<JobId, std::uint32_t> active;
  cluster.jobs().each([&](const Job& job) {
    EXPECT_EQ(job.active(), job.active() && job.run->placement != nullptr);
    if (job.array && job.active()) ++active[job.array];
    if (job.active()) { // S10
      EXPECT_EQ(job.dependency, nullptr);
    }
    if (job.phase == Phase::waiting && job.hold != Hold::none) {
      EXPECT_NE(job.reason, Reason::resources);
    }
  });
  for (const auto& [job, reservation] : cluster.reservations()) {
    EXPECT_EQ(cluster.job(job)->phase, Phase::waiting);
    EXPECT_FALSE(reservation.placement.shares.empty());
  }
}

// The arithmetic that places and the rows that explain say the same of every job and node.
void check_rows(const Cluster& cluster) {
  cluster.jobs().each([&](const Job& job) {
    if (job.phase != Phase::waiting) return;
    const policy::Need need = policy::need_of(cluster.request(job));
    if (need.task_cap > 0) return;  // a bound over several nodes, which no single row can see
    for (const Node& node : cluster.nodes()) {
      const policy::Room room = policy::room_of(node);
      const auto units = policy::units_in(need, policy::match_of(need, node), node, room, need.most_units());
      const auto refusal = policy::refusal_of(need, node, room);
      EXPECT_EQ(units > 0, !refusal) << "job " << job.id.value() << " on " << node.name();
    }
  });
}

// ---- what must hold of the facts of a step ----

class Watch {
 public:
  void see(const Cluster& cluster, const Event& event) {
    if (const auto* placed = std::get_if<JobPlaced>(&event)) see(cluster, *placed);
    if (const auto* ended = std::get_if<JobEnded>(&event)) {  // S8
      EXPECT_TRUE(ended_.insert(ended->job).second) << "ended twice: " << ended->job.value();
      if (ended->attempt > 0) {
        EXPECT_EQ(running_[ended->job], ended->attempt);
      }
      running_.erase(ended->job);
    }
    if (const auto* again = std::get_if<JobRequeued>(&event)) {
      EXPECT_EQ(ended_.erase(again->job), 1U);
    }
    if (const auto* submitted = std::get_if<JobSubmitted>(&event)) {  // S5
      EXPECT_GT(submitted->job, last_);
      last_ = submitted->job;
    }
    if (const auto* split = std::get_if<ArrayTaskSplit>(&event)) last_ = std::max(last_, split->job);
  }

 private:
  void see(const Cluster& cluster, const JobPlaced& placed) {
    EXPECT_TRUE(attempts_.emplace(placed.job, placed.attempt).second) << "attempt twice";  // S6
    EXPECT_FALSE(running_.contains(placed.job)) << "two attempts at once";                  // S7
    EXPECT_FALSE(ended_.contains(placed.job));
    running_[placed.job] = placed.attempt;
    const Job& job = *cluster.job(placed.job);
    const policy::Need need = policy::need_of(cluster.request(job));
    const auto nodes = static_cast<std::uint32_t>(placed.placement.shares.size());
    EXPECT_GE(nodes, need.min_nodes);  // S9
    EXPECT_LE(nodes, need.max_nodes);
    std::uint32_t tasks = 0;
    std::uint32_t gpus = 0;
    for (const NodeShare& share : placed.placement.shares) {
      tasks += share.tasks;
      gpus += static_cast<std::uint32_t>(share.devices.size());
      EXPECT_GE(share.cpus.count(), need.request.overcommit ? 1 : share.tasks * need.request.cpus_per_task);
      for (const Grant& grant : share.devices) EXPECT_TRUE(cluster.device(grant.device).info.healthy);
      if (need.request.cpu_milli > 0 && !need.request.exclusive) {
        std::int64_t milli = share.cpus.count() * 1000;
        for (const CpuPart& part : share.parts) milli += part.milli.count();
        EXPECT_EQ(milli, share.tasks * need.request.cpus_per_task * 1000 + need.request.cpu_milli);
      }
    }
    if (need.tasks > 0) {
      EXPECT_EQ(tasks, need.tasks);
    }
    if (need.gpus_total > 0 && !need.request.exclusive) {
      EXPECT_EQ(gpus, need.gpus_total);
    }
    EXPECT_EQ(property::broken_term(cluster, job), "") << "job " << job.id.value();
    if (job.array && job.array_info->throttle > 0) {
      std::uint32_t active = 0;
      for (const JobId id : cluster.array_members(job.array)) active += cluster.job(id)->active() ? 1U : 0U;
      EXPECT_LE(active, job.array_info->throttle);
    }
  }
  std::set<std::pair<JobId, std::uint32_t>> attempts_;
  std::map<JobId, std::uint32_t> running_;
  std::set<JobId> ended_;
  JobId last_;
};

void expect_same(const Outcome& a, const Outcome& b) {
  ASSERT_EQ(a.facts.size(), b.facts.size());
  for (std::size_t i = 0; i < a.facts.size(); ++i) {
    ASSERT_TRUE(a.facts[i] == b.facts[i]) << "fact " << i << " of kind " << a.facts[i].index();
  }
  EXPECT_EQ(a.dirty, b.dirty);
  EXPECT_EQ(a.wake_at, b.wake_at);
  EXPECT_EQ(a.answer.index(), b.answer.index());
}

// Two guards hide one another: a plan on an unchanged cluster must be committed as a whole.
void check_plan_is_kept(const Cluster& cluster, Instant now) {
  Cluster copy = cluster;
  engine::Index index(copy);
  const engine::Plan plan = engine::plan_pass(copy, index, now, 1000);
  Facts facts(copy);
  EXPECT_EQ(engine::commit(facts, plan, now), plan.starts.size());
}

// Nobody is forgotten: when no pass is due, one would start nothing. (With a timer due, that comes first.)
void check_nothing_can_start(const Cluster& cluster, const Outcome& out, Instant now) {
  if (out.pass_due || (out.wake_at != Instant{} && out.wake_at <= now)) return;
  Cluster copy = cluster;
  engine::Index index(copy);
  const engine::Plan plan = engine::plan_pass(copy, index, now, 1000);
  EXPECT_TRUE(plan.starts.empty()) << "job " << plan.starts.front().job.value() << " could start, and no pass is due";
}

// With no disturbance a reservation never moves to a later start.
class Promises {
 public:
  void before(const Cluster& cluster, bool disturbing) {
    disturbed_ = disturbed_ || disturbing;
    before_.clear();
    for (const auto& [job, r] : cluster.reservations()) before_[job] = r.start;
  }
  void see(const Cluster& cluster, const Event& event) {
    if (std::holds_alternative<NodeDrainChanged>(event)) disturbed_ = true;
    if (const auto* placed = std::get_if<JobPlaced>(&event)) placed_.push_back(*cluster.job(placed->job));
  }
  void after_pass(const Cluster& cluster, Instant now) {
    bool overdue = false;
    cluster.jobs().each([&](const Job& job) {
      overdue = overdue || (job.active() && job.limit > Duration{0} &&
                            job.run->started + job.limit <= now + minutes(1));
    });
    for (const auto& [job, start] : before_) {
      const auto found = cluster.reservations().find(job);
      if (found == cluster.reservations().end() || disturbed_ || overdue || start <= now) continue;
      const Job& head = *cluster.job(job);
      const bool overtaken = std::ranges::any_of(placed_, [&](const Job& other) {  // by one before it in the order
        return other.priority > head.priority || other.eligible <= head.eligible ||
               cluster.text(other.partitions).find("few") != std::string::npos;
      });
      if (overtaken) continue;
      EXPECT_LE(found->second.start, start) << "job " << job.value() << " was promised an earlier start";
    }
    disturbed_ = false;
    placed_.clear();
  }

 private:
  std::map<JobId, Instant> before_;
  std::vector<Job> placed_;
  bool disturbed_ = false;
};

void live(std::uint64_t seed, int steps) {
  SCOPED_TRACE("DROVER_SEED=" + std::to_string(seed));
  property::Life life(seed);
  Random restarts(seed ^ 0x5eed);
  Core core;
  Core twin;         // restarted from a snapshot now and then
  Cluster replayed;  // from the facts alone
  Watch watch;
  Promises promises;
  bool due = false;
  std::vector<Input> opening = life.opening();
  for (int n = 0; n < steps && !testing::Test::HasFailure(); ++n) {
    const auto place = static_cast<std::size_t>(n);
    const Input input = place < opening.size() ? opening[place] : life.next(core.view(), due);
    const Instant now = life.now();
    const bool pass = std::holds_alternative<Pass>(input);
    if (pass && restarts.chance(1, 8)) check_plan_is_kept(core.view(), now);
    promises.before(core.view(), life.disturbing());
    const Outcome out = core.step(input, now);
    if (restarts.chance(1, 40)) twin = Core(*Cluster::from_snapshot(twin.view().to_snapshot()));
    expect_same(out, twin.step(input, now));
    for (const Event& fact : out.facts) {
      replayed.apply(fact);
      watch.see(replayed, fact);
      promises.see(replayed, fact);
      if (std::getenv("DROVER_SEED") != nullptr) {
        std::cout << n << " " << scenario::since(now) << " " << scenario::show(replayed, fact);
      }
    }
    if (pass && !out.pass_due) promises.after_pass(core.view(), now);
    ASSERT_TRUE(replayed == core.view()) << "step " << n;
    if (restarts.chance(1, 8)) check_nothing_can_start(core.view(), out, now);
    check_ledger(core.view());
    check_jobs(core.view());
    check_steps(core.view());
    check_documents(core.view());

    if (restarts.chance(1, 8)) check_rows(core.view());
    due = out.pass_due;
  }
}

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<int>(parse_int(text).value_or(otherwise));
}

TEST(Lives, KeepEveryInvariantAndReplay) {
  const int only = setting("DROVER_SEED", -1);
  const int seeds = setting("DROVER_SEEDS", 40);
  const int steps = setting("DROVER_STEPS", 400);
  if (only >= 0) return live(static_cast<std::uint64_t>(only), steps);
  for (int seed = 1; seed <= seeds && !HasFailure(); ++seed) live(static_cast<std::uint64_t>(seed), steps);
}

}  // namespace
}  // namespace drover
