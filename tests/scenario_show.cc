#include "scenario_show.h"

#include <sstream>

#include "base/overload.h"
#include "domain/step_layout.h"

namespace drover::scenario {
namespace {

std::string id(JobId job) { return "job " + std::to_string(job.value()); }

std::string step_id(JobId job, std::uint32_t step) {
  return "step " + std::to_string(job.value()) + "." + std::to_string(step);
}

std::string show_share(const Cluster& cluster, const NodeShare& share) {
  std::ostringstream out;
  out << cluster.node(share.node).name() << " cpus " << share.cpus.text();
  for (const CpuPart& part : share.parts) out << " " << part.cpu << ":" << part.milli.count() << "m";
  if (share.tasks != 1) out << " tasks " << share.tasks;
  out << " mem " << (share.memory.count() >> 20) << "M";
  if (!share.devices.empty()) {
    out << " gpus ";
    for (std::size_t i = 0; i < share.devices.size(); ++i) {
      out << (i == 0 ? "" : ",") << cluster.device(share.devices[i].device).info.index;
    }
  }
  return out.str();
}

std::string state(const Job& job) {
  if (job.phase == Phase::ended) return std::string(word(job.cause));
  return std::string(word(job.phase)) + (job.node_lost ? "*" : "");
}

}  // namespace

std::string since(Instant at) {
  if (at == Instant{}) return "never";
  return "+" + std::to_string((at - kStart).count() / 1000) + "s";
}

std::string show_placement(const Cluster& cluster, const Placement& placement) {
  std::string text;
  for (const NodeShare& share : placement.shares) text += (text.empty() ? "" : "; ") + show_share(cluster, share);
  return text + (placement.exclusive ? " exclusive" : "");
}

std::string show(const Refusal& refusal) {
  std::string text = std::string(word(refusal.code));
  if (!refusal.subject.empty()) text += " (" + refusal.subject + ")";
  for (const Amount& a : refusal.amounts) {
    text += " " + a.name + " " + std::to_string(a.want) + " of " + std::to_string(a.have);
  }
  if (!refusal.nearest.empty()) text += ", nearest: " + refusal.nearest;
  return text;
}

std::string show(const Cluster& cluster, const Event& event) {
  return std::visit(
      Overload{
          [&](const JobSubmitted& e) { return id(e.job) + " submitted\n"; },
          [&](const ArrayTaskSplit& e) {
            return id(e.job) + " is task " + std::to_string(e.task) + " of " + std::to_string(e.array.value()) + "\n";
          },
          [&](const JobPlaced& e) { return id(e.job) + " placed on " + show_placement(cluster, e.placement) + "\n"; },
          [&](const JobReserved& e) {
            if (e.placement.shares.empty()) return id(e.job) + " reservation dropped\n";
            return id(e.job) + " reserved from " + since(e.start) + " on " + show_placement(cluster, e.placement) + "\n";
          },
          [&](const JobStarted& e) { return id(e.job) + " started\n"; },
          [&](const JobEnding& e) { return id(e.job) + " ending: " + std::string(word(e.cause)) + "\n"; },
          [&](const ShareEnded& e) {
            return id(e.job) + (e.released ? " has left " : " is stuck on ") + cluster.node(e.node).name() + "\n";
          },
          [&](const StepPlaced& e) {
            std::string text = step_id(e.job, e.step.number) + " placed on ";
            for (std::size_t i = 0; i < e.step.shares.size(); ++i) {
              text += (i == 0 ? "" : "; ") + show_share(cluster, e.step.shares[i].share) + " runs";
              for (const std::uint32_t task : numbers_of(e.step.shares[i].tasks)) text += " " + std::to_string(task);
            }
            return text + "\n";
          },
          [&](const StepEnding& e) { return step_id(e.job, e.step) + " ending: " + std::string(word(e.cause)) + "\n"; },
          [&](const StepShareEnded& e) {
            return step_id(e.job, e.step) + " has left " + cluster.node(e.node).name() + "\n";
          },
          [&](const StepEnded& e) {
            return step_id(e.job, e.step) + " ended: " + std::string(word(e.cause)) + " " + std::to_string(e.exit.code) +
                   ":" + std::to_string(e.exit.signal) + (e.note.empty() ? "" : " (" + e.note + ")") + "\n";
          },
          [&](const JobEnded& e) {
            return id(e.job) + " ended: " + std::string(word(e.cause)) + " " + std::to_string(e.exit.code) + ":" +
                   std::to_string(e.exit.signal) + (e.note.empty() ? "" : " (" + e.note + ")") + "\n";
          },
          [&](const JobRequeued& e) {
            return id(e.job) + " requeued from " + since(e.begin) +
                   (e.hold == Hold::none ? "" : " held " + std::string(word(e.hold))) + "\n";
          },
          [&](const JobHoldChanged& e) { return id(e.job) + " hold " + std::string(word(e.hold)) + "\n"; },
          [&](const JobModified& e) { return id(e.job) + " modified\n"; },
          [&](const DependencyChanged& e) {
            return id(e.job) + " dependency " +
                   (e.left.never ? "never" : e.left.terms.empty() ? "met" : std::to_string(e.left.terms.size()) + " left") +
                   "\n";
          },
          [&](const ReasonsNoted& e) {
            std::string text;
            for (const JobReason& r : e.reasons) {
              if (r.reason != Reason::none) text += id(r.job) + " waits: " + std::string(word(r.reason)) + "\n";
            }
            return text;
          },
          [&](const JobsForgotten& e) {
            std::string text = "forgotten:";
            for (const JobId job : e.jobs) text += " " + std::to_string(job.value());
            return text + "\n";
          },
          [&](const NodeContactChanged& e) {
            return cluster.node(e.node).name() + " is " + std::string(word(e.contact)) + "\n";
          },
          [&](const NodeDrainChanged& e) {
            return cluster.node(e.node).name() + (e.drain ? " drained: " + e.drain->reason : " resumed") + "\n";
          },
          [&](const NodeRegistered& e) { return e.inventory.name + " registered\n"; },
          [&](const PartitionChanged& e) { return e.name + (e.up ? " up\n" : " down\n"); },
          [&](const DocumentStored& e) {
            return e.key.kind + " " + e.key.name + (e.job ? " made with " + id(e.job) : " stored") + "\n";
          },
          [&](const DocumentRemoved& e) { return e.key.kind + " " + e.key.name + " removed\n"; },
          [&](const NodeMarked& e) { return cluster.node(e.node).name() + " marked\n"; },
          [&](const PodReported& e) { return id(e.job) + " reported\n"; },
          [&](const ClockJumped&) { return std::string("the clock jumped\n"); },
          [&](const auto&) { return std::string{}; },
      },
      event);
}

std::string show_queue(const Cluster& cluster) {
  std::string text;
  cluster.jobs().each([&](const Job& job) {
    text += std::to_string(job.id.value());
    if (job.array) {
      text += " (" + std::to_string(job.array.value()) + "_";
      if (job.pending) text += "[" + std::to_string(job.pending->count()) + " tasks])";
      else text += std::to_string(job.task) + ")";
    }
    text += " " + job.name + " " + state(job);
    if (job.phase == Phase::waiting) text += " (" + std::string(word(job.reason)) + ")";
    if (job.run->restarts > 0) text += " restarts " + std::to_string(job.run->restarts);
    if (job.active()) {
      text += " on";
      for (const NodeShare& share : job.run->placement->shares) text += " " + cluster.node(share.node).name();
    }
    text += "\n";
  });
  return text;
}

std::string show_steps(const Cluster& cluster) {
  std::string text;
  for (const auto& [job, of] : cluster.all_steps()) {
    for (const auto& [number, step] : of.steps) {
      text += std::to_string(job.value()) + "." + std::to_string(number) + " " + step.name + " " +
              std::string(step.phase == StepPhase::ended ? word(step.cause) : word(step.phase)) + " on";
      for (const StepShare& share : step.shares) text += " " + cluster.node(share.share.node).name();
      text += "\n";
    }
  }
  return text;
}

std::string show_nodes(const Cluster& cluster) {
  std::string text;
  for (const Node& node : cluster.nodes()) {
    std::uint32_t gpus = 0;
    for (const Device& device : node.devices) gpus += device.used == Milli{} && device.info.healthy ? 1U : 0U;
    text += node.name() + " cpus free " + std::to_string(node.cpus_free()) + " gpus free " + std::to_string(gpus) +
            " mem free " + std::to_string(node.memory_free().count() >> 20) + "M";
    if (node.contact == Contact::lost) text += " lost";
    if (node.drain) text += node.jobs.empty() ? " drained" : " draining";
    text += "\n";
  }
  return text;
}

}  // namespace drover::scenario
