// What readers ask for. Every filter that isn't empty narrows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "domain/command.h"

namespace drover::api {

struct JobQuery {
  JobSelector select;                 // with nothing in it: every job
  std::vector<std::uint32_t> fields;  // numbers of JobView; empty: all but `spec`
  std::uint32_t limit = 0;            // 0: no limit
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "select", self.select);
    visit(2, "fields", self.fields);
    visit(3, "limit", self.limit);
  }
};

struct StepQuery {
  std::vector<JobRef> jobs;         // empty: of every job that holds something
  std::optional<std::uint32_t> step;
  std::vector<std::string> users;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "jobs", self.jobs);
    visit(2, "step", self.step);
    visit(3, "users", self.users);
  }
};

// In front of every list.
struct ListHeader {
  Instant now;                 // cluster time of the view
  std::uint64_t position = 0;  // of the last record in it
  std::vector<JobRef> unknown; // named jobs that don't exist
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "now", self.now);
    visit(2, "position", self.position);
    visit(3, "unknown", self.unknown);
  }
};

struct Overview {
  std::string cluster_id;
  std::string version;
  Config config;
  Instant now;
  Instant started;             // of this controller
  std::uint64_t position = 0;
  Epoch epoch;
  std::string host;            // where the controller runs
  std::string state_dir;
  std::uint32_t nodes = 0;
  std::uint32_t nodes_up = 0;
  std::uint64_t jobs_waiting = 0;
  std::uint64_t jobs_active = 0;
  bool low_space = false;      // wishes are refused until space returns
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "cluster_id", self.cluster_id);
    visit(2, "version", self.version);
    visit(3, "config", self.config);
    visit(4, "now", self.now);
    visit(5, "started", self.started);
    visit(6, "position", self.position);
    visit(7, "epoch", self.epoch);
    visit(8, "host", self.host);
    visit(9, "state_dir", self.state_dir);
    visit(10, "nodes", self.nodes);
    visit(11, "nodes_up", self.nodes_up);
    visit(12, "jobs_waiting", self.jobs_waiting);
    visit(13, "jobs_active", self.jobs_active);
    visit(14, "low_space", self.low_space);
  }
};

// sbatch --test-only.
struct WouldStart {
  Instant at;
  std::string partition;
  std::vector<std::string> nodes;
  std::uint32_t cpus = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "at", self.at);
    visit(2, "partition", self.partition);
    visit(3, "nodes", self.nodes);
    visit(4, "cpus", self.cpus);
  }
};

// What keeps a waiting job off the nodes of its partitions, at this moment.
struct Obstacle {
  Refusal refusal;           // with the amounts of the node that comes nearest
  std::uint32_t nodes = 0;   // that say so
};
struct Waits {
  std::uint32_t nodes = 0;
  std::uint32_t fitting = 0;       // could take a part of it now
  std::vector<Obstacle> obstacles;  // the most frequent first
};

}  // namespace drover::api
