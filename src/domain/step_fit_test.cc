#include "domain/step_fit.h"

#include <gtest/gtest.h>

#include <deque>

#include "domain/step_layout.h"

namespace drover {
namespace {

// A job's nodes and the steps on them. Nodes are n1, n2, ...
class Job1 {
 public:
  Job1& node(std::uint32_t cpus, std::int64_t mib = 8192, const std::vector<std::string>& gpus = {}) {
    NodeShare& share = shares_.emplace_back();
    share = {.node = NodeId(shares_.size()), .cpus = CpuSet::first(cpus), .memory = mebibytes(mib)};
    StepNode& place = nodes_.emplace_back();
    names_.push_back("n" + std::to_string(shares_.size()));
    place = {.share = &share, .name = names_.back()};
    for (const std::string& model : gpus) {
      infos_.push_back({.uuid = "g" + std::to_string(infos_.size()), .model = model});
      share.devices.push_back({.device = DeviceId(infos_.size())});
      place.devices.push_back(&infos_.back());
    }
    return *this;
  }
  void close(std::size_t node) { nodes_[node].open = false; }

  // "n1:0,1 n2:2" or the refusal; a step that fits stays.
  std::string add(const StepRequest& request) {
    if (const auto refusal = check_step(request)) return text(*refusal);
    auto found = fit_step(request, nodes_, steps_);
    if (const auto* refusal = std::get_if<Refusal>(&found)) return text(*refusal);
    Step step{.number = static_cast<std::uint32_t>(steps_.size()), .request = request};
    step.shares = *std::get_if<std::vector<StepShare>>(&found);
    std::string out;
    for (const StepShare& share : step.shares) {
      out += (out.empty() ? "n" : " n") + std::to_string(share.share.node.value()) + ":";
      for (const std::uint32_t task : numbers_of(share.tasks)) {
        out += (out.back() == ':' ? "" : ",") + std::to_string(task);
      }
      EXPECT_EQ(count_of(share.tasks), share.share.tasks);
    }
    steps_.emplace(step.number, std::move(step));
    return out;
  }
  void end(std::uint32_t number) { steps_.at(number).phase = StepPhase::ended; }
  void leave(std::uint32_t number, std::uint64_t node) { steps_.at(number).over.emplace_back(node); }
  [[nodiscard]] const NodeShare& share(std::uint32_t step, std::size_t part = 0) const {
    return steps_.at(step).shares.at(part).share;
  }
  // "0,2" by device id from 1
  [[nodiscard]] std::string gpus(std::uint32_t step, std::size_t part = 0) const {
    std::string out;
    for (const Grant& grant : share(step, part).devices) {
      out += (out.empty() ? "" : ",") + std::to_string(grant.device.value() - 1);
    }
    return out;
  }

 private:
  static std::string text(const Refusal& refusal) {
    std::string out(word(refusal.code));
    if (!refusal.subject.empty()) out += " " + refusal.subject;
    for (const Amount& a : refusal.amounts) {
      out += " " + a.name + " " + std::to_string(a.want) + " of " + std::to_string(a.have);
    }
    return out;
  }
  std::deque<NodeShare> shares_;
  std::deque<std::string> names_;
  std::deque<DeviceInfo> infos_;
  std::vector<StepNode> nodes_;
  std::map<std::uint32_t, Step> steps_;
};

TEST(StepFit, ByDefaultAStepTakesAllCpusAndTheNextWaits) {  // C91
  Job1 job;
  job.node(4).node(4);
  EXPECT_EQ(job.add({.tasks = 2}), "n1:0 n2:1");
  EXPECT_EQ(job.share(0).cpus.text(), "0-3");
  EXPECT_EQ(job.add({.tasks = 1}), "step_busy cpus");
  job.leave(0, 2);
  EXPECT_EQ(job.add({.tasks = 1}), "n2:0");
  job.end(0);
  EXPECT_EQ(job.add({.tasks = 1}), "n1:0");
}

TEST(StepFit, ExactStepsShareTheCpus) {
  Job1 job;
  job.node(4);
  EXPECT_EQ(job.add({.tasks = 1, .exact = true}), "n1:0");
  EXPECT_EQ(job.share(0).cpus.text(), "0");
  EXPECT_EQ(job.add({.tasks = 1, .cpus_per_task = 2}), "n1:0");
  EXPECT_EQ(job.share(1).cpus.text(), "1-2");
  EXPECT_EQ(job.add({.tasks = 2, .exact = true}), "step_busy cpus");
  EXPECT_EQ(job.add({.tasks = 1}), "step_busy cpus");
  EXPECT_EQ(job.add({.tasks = 1, .exact = true}), "n1:0");
  job.end(1);
  EXPECT_EQ(job.add({.tasks = 2, .exact = true}), "n1:0,1");
  EXPECT_EQ(job.share(3).cpus.text(), "1-2");
}

TEST(StepFit, OverlapUsesAndHoldsNothing) {
  Job1 job;
  job.node(2, 1024, {"a100"});
  EXPECT_EQ(job.add({.tasks = 2}), "n1:0,1");
  EXPECT_EQ(job.add({.tasks = 2, .overlap = true}), "n1:0,1");
  EXPECT_EQ(job.share(1).cpus.text(), "0-1");
  EXPECT_EQ(job.gpus(1), "0");
  EXPECT_EQ(job.add({.tasks = 1, .exact = true, .overlap = true}), "n1:0");
  EXPECT_EQ(job.share(2).cpus.text(), "0");
  job.end(0);
  EXPECT_EQ(job.add({.tasks = 2}), "n1:0,1");
}

TEST(StepFit, TooLargeSaysWhatTheJobHas) {
  Job1 job;
  job.node(4, 4096, {"a100"}).node(4, 4096, {"a100"});
  EXPECT_EQ(job.add({.tasks = 9}), "step_too_large cpus 9 of 8");
  EXPECT_EQ(job.add({.tasks = 5, .cpus_per_task = 2}), "step_too_large cpus 10 of 8");
  EXPECT_EQ(job.add({.cpus_per_task = 5}), "step_too_large cpus 5 of 4");
  EXPECT_EQ(job.add({.min_nodes = 3}), "step_too_large nodes 3 of 2");
  EXPECT_EQ(job.add({.min_nodes = 1, .max_nodes = 1, .tasks = 5}), "step_too_large cpus 5 of 4");
  EXPECT_EQ(job.add({.memory_rule = MemoryRule::per_node, .memory = gibibytes(8)}),
            "step_too_large memory_mib 8192 of 4096");
  EXPECT_EQ(job.add({.gpus_per_node = {{.model = "", .count = 2}}}), "step_too_large gpus 2 of 1");
  EXPECT_EQ(job.add({.min_nodes = 1, .gpus = {{.model = "", .count = 3}}}), "step_too_large gpus 3 of 2");
  EXPECT_EQ(job.add({.gpus_per_node = {{.model = "h100", .count = 1}}}), "step_too_large gpus 1 of 1");
  EXPECT_EQ(job.add({.first_node = 2}), "step_too_large nodes 1 of 0");
}

TEST(StepFit, NodesByNumberNameAndPlace) {
  Job1 job;
  job.node(2).node(2).node(2);
  EXPECT_EQ(job.add({.overlap = true}), "n1:0 n2:1 n3:2");
  EXPECT_EQ(job.add({.tasks = 2, .overlap = true}), "n1:0 n2:1");
  EXPECT_EQ(job.add({.min_nodes = 3, .max_nodes = 3, .tasks = 1, .overlap = true}), "n1:0");
  EXPECT_EQ(job.add({.min_nodes = 1, .tasks = 3, .overlap = true}), "n1:0,1 n2:2");
  EXPECT_EQ(job.add({.min_nodes = 2, .max_nodes = 2, .first_node = 1, .overlap = true}), "n2:0 n3:1");
  EXPECT_EQ(job.add({.include_nodes = {"n3"}, .overlap = true}), "n3:0");
  EXPECT_EQ(job.add({.min_nodes = 2, .max_nodes = 2, .include_nodes = {"n3"}, .overlap = true}), "n1:0 n3:1");
  EXPECT_EQ(job.add({.exclude_nodes = {"n1"}, .overlap = true}), "n2:0 n3:1");
  EXPECT_EQ(job.add({.include_nodes = {"n9"}}), "unknown_node n9");
  EXPECT_EQ(job.add({.tasks = 2}), "n1:0 n2:1");
  EXPECT_EQ(job.add({.tasks = 1}), "n3:0");  // the first node that is free
  EXPECT_EQ(job.add({.tasks = 1, .include_nodes = {"n1"}}), "step_busy cpus");
}

TEST(StepFit, TasksPerNodeIsExactAloneAndABoundBesideTasks) {
  Job1 job;
  job.node(4).node(4);
  EXPECT_EQ(job.add({.tasks_per_node = 2, .overlap = true}), "n1:0,1 n2:2,3");
  EXPECT_EQ(job.add({.tasks = 3, .tasks_per_node = 2, .overlap = true}), "n1:0,1 n2:2");
  EXPECT_EQ(job.add({.tasks = 5, .tasks_per_node = 2}), "step_too_large tasks 5 of 4");
  EXPECT_EQ(job.add({.tasks_per_node = 5}), "step_too_large cpus 5 of 4");
}

TEST(StepFit, TasksAreDealtAsAsked) {
  Job1 job;
  job.node(4).node(2).node(2);
  EXPECT_EQ(job.add({.tasks = 4, .overlap = true}), "n1:0,1 n2:2 n3:3");
  EXPECT_EQ(job.add({.tasks = 8, .overlap = true}), "n1:0,1,2,3 n2:4,5 n3:6,7");
  EXPECT_EQ(job.add({.tasks = 8, .overlap = true, .distribution = Distribution::cyclic}), "n1:0,3,6,7 n2:1,4 n3:2,5");
  EXPECT_EQ(job.add({.tasks = 6, .overlap = true, .distribution = Distribution::plane, .plane = 2}),
            "n1:0,1 n2:2,3 n3:4,5");
  EXPECT_EQ(job.add({.tasks = 4, .overlap = true, .distribution = Distribution::plane, .plane = 2}), "n1:0,1 n2:2,3");
  EXPECT_EQ(job.add({.include_nodes = {"n2", "n1", "n2"}, .overlap = true, .distribution = Distribution::arbitrary}),
            "n1:1 n2:0,2");
  EXPECT_EQ(job.add({.include_nodes = {"n2", "n2", "n2"}, .distribution = Distribution::arbitrary}),
            "step_too_large cpus 3 of 2");
}

TEST(StepFit, OvercommitTakesMoreTasksThanCpus) {
  Job1 job;
  job.node(2).node(2);
  EXPECT_EQ(job.add({.tasks = 6}), "step_too_large cpus 6 of 4");
  EXPECT_EQ(job.add({.tasks = 6, .exact = true, .overcommit = true}), "n1:0,1,2 n2:3,4,5");
  EXPECT_EQ(job.share(0).cpus.text(), "0-1");
  EXPECT_EQ(job.add({.tasks = 1, .exact = true, .overcommit = true}), "step_busy cpus");
}

TEST(StepFit, MemoryIsSharedUnlessAsked) {
  Job1 job;
  job.node(4, 1000);
  EXPECT_EQ(job.add({.tasks = 1, .exact = true}), "n1:0");
  EXPECT_EQ(job.share(0).memory, Bytes{});
  EXPECT_EQ(job.add({.tasks = 1, .memory_rule = MemoryRule::per_node, .memory = mebibytes(600), .exact = true}),
            "n1:0");
  EXPECT_EQ(job.add({.tasks = 1, .memory_rule = MemoryRule::per_node, .memory = mebibytes(600), .exact = true}),
            "step_busy memory_mib");
  EXPECT_EQ(job.add({.tasks = 2, .memory_rule = MemoryRule::per_cpu, .memory = mebibytes(200), .exact = true}),
            "n1:0,1");
  EXPECT_EQ(job.share(2).memory, mebibytes(400));
  job.end(1);
  job.end(2);
  EXPECT_EQ(job.add({.tasks = 1, .memory_rule = MemoryRule::whole_node, .exact = true}), "n1:0");
  EXPECT_EQ(job.share(3).memory, mebibytes(1000));
}

TEST(StepFit, GpusByNodeTaskAndStep) {
  Job1 job;
  job.node(8, 8192, {"a100", "a100", "t4", "t4"}).node(8, 8192, {"a100", "t4"});
  EXPECT_EQ(job.add({.tasks = 1, .gpus_per_node = {{.model = "t4", .count = 1}}, .exact = true}), "n1:0");
  EXPECT_EQ(job.gpus(0), "2");
  EXPECT_EQ(job.add({.tasks = 2, .gpus_per_task = {{.model = "", .count = 1}}, .exact = true}),
            "n1:0 n2:1");
  EXPECT_EQ(job.gpus(1, 0), "0");
  EXPECT_EQ(job.gpus(1, 1), "4");
  EXPECT_EQ(job.add({.gpus = {{.model = "A100", .count = 1}}, .exact = true}), "n1:0");
  EXPECT_EQ(job.gpus(2), "1");
  EXPECT_EQ(job.add({.tasks = 1, .gpus_per_node = {{.model = "a100", .count = 1}}, .exact = true}), "step_busy gpus");
  EXPECT_EQ(job.add({.tasks = 1, .no_gpus = true, .exact = true}), "n1:0");
  EXPECT_EQ(job.gpus(3), "");
  EXPECT_EQ(job.add({.tasks = 1, .exact = true}), "step_busy gpus");  // without a word: all of the job's
  for (const std::uint32_t step : {0U, 1U, 2U}) job.end(step);
  EXPECT_EQ(job.add({.min_nodes = 2, .max_nodes = 2, .gpus = {{.model = "", .count = 5}}, .exact = true}), "n1:0 n2:1");
  EXPECT_EQ(job.gpus(4, 0), "0,1,2,3");
  EXPECT_EQ(job.gpus(4, 1), "4");
}

TEST(StepFit, AModelIsNotTakenByWhoTakesAny) {
  Job1 job;
  job.node(4, 1024, {"a100", "t4"});
  EXPECT_EQ(job.add({.tasks = 1, .gpus_per_node = {{.model = "", .count = 1}, {.model = "a100", .count = 1}}}), "n1:0");
  EXPECT_EQ(job.gpus(0), "0,1");
}

TEST(StepFit, ANodeThatIsNotHeardOfIsBusy) {
  Job1 job;
  job.node(2).node(2);
  job.close(0);
  EXPECT_EQ(job.add({.min_nodes = 2, .max_nodes = 2}), "step_busy nodes");
  EXPECT_EQ(job.add({.tasks = 1}), "n2:0");
}

TEST(StepFit, NonsenseIsRefused) {
  Job1 job;
  job.node(2);
  EXPECT_EQ(job.add({.min_nodes = 2, .max_nodes = 1}), "invalid_request nodes of the step");
  EXPECT_EQ(job.add({.tasks = kMaxStepTasks + 1}), "invalid_request tasks of the step");
  EXPECT_EQ(job.add({.distribution = Distribution::plane}), "invalid_request size of the planes");
  EXPECT_EQ(job.add({.include_nodes = {"n1"}, .exclude_nodes = {"n1"}}),
            "invalid_request n1 is named and excluded, both");
  EXPECT_EQ(job.add({.include_nodes = {"n1"}, .first_node = 1}),
            "invalid_request a first node together with names of nodes");
  EXPECT_EQ(job.add({.gpus = {{.model = "", .count = 1}}, .no_gpus = true}), "invalid_request no GPUs and some, both");
  EXPECT_EQ(job.add({.tasks = 2, .include_nodes = {"n1"}, .distribution = Distribution::arbitrary}),
            "invalid_request an arbitrary distribution names one node for each task");
}

}  // namespace
}  // namespace drover
