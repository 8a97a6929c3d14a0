// The cluster's configuration: partitions and settings. It is an input like any other, stored as a
// fact, so that decisions replay.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/time.h"
#include "domain/request.h"

namespace drover {

struct Partition {
  std::string name;
  std::vector<std::string> nodes;  // names; empty: every node
  bool is_default = false;
  bool up = true;
  Duration max_time{0};      // 0: no limit
  Duration default_time{0};  // 0: max_time
  std::uint32_t max_nodes = 0;  // per job; 0: no limit
  std::uint32_t min_nodes = 0;
  std::uint32_t tier = 1;       // a higher tier is scheduled first
  MemoryRule memory_rule = MemoryRule::proportional;  // for jobs that ask for none
  Bytes memory;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "nodes", self.nodes);
    visit(3, "is_default", self.is_default);
    visit(4, "up", self.up);
    visit(5, "max_time", self.max_time);
    visit(6, "default_time", self.default_time);
    visit(7, "max_nodes", self.max_nodes);
    visit(8, "min_nodes", self.min_nodes);
    visit(9, "tier", self.tier);
    visit(10, "memory_rule", self.memory_rule);
    visit(11, "memory", self.memory);
  }
  friend bool operator==(const Partition&, const Partition&) = default;
};

struct Settings {
  std::string cluster_name = "drover";
  Duration min_job_age = seconds(300);    // how long an ended job stays in squeue -t all
  Duration kill_grace = seconds(30);      // SIGTERM to SIGKILL (Slurm: KillWait)
  Duration requeue_delay = seconds(5);    // before a requeued job may start again
  Duration node_timeout = seconds(30);    // without contact: lost
  std::uint32_t max_array_size = 1001;    // task numbers are below this
  std::uint32_t max_jobs = 1'000'000;
  std::uint32_t launch_failures = 3;      // in a row on one node: the node is drained
  std::uint32_t keys_per_client = 10'000; // how many submit keys are remembered for each user
  std::uint32_t pass_budget = 250;        // jobs looked at in one slice of a pass
  bool no_new_privs = true;
  std::vector<std::uint32_t> admins;      // uids beside 0
  std::string mail_program = "/usr/bin/mail";  // called as: -s SUBJECT ADDRESS
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "cluster_name", self.cluster_name);
    visit(2, "min_job_age", self.min_job_age);
    visit(3, "kill_grace", self.kill_grace);
    visit(4, "requeue_delay", self.requeue_delay);
    visit(5, "node_timeout", self.node_timeout);
    visit(6, "max_array_size", self.max_array_size);
    visit(7, "max_jobs", self.max_jobs);
    visit(8, "launch_failures", self.launch_failures);
    visit(9, "keys_per_client", self.keys_per_client);
    visit(10, "pass_budget", self.pass_budget);
    visit(11, "no_new_privs", self.no_new_privs);
    visit(12, "admins", self.admins);
    visit(13, "mail_program", self.mail_program);
  }
  friend bool operator==(const Settings&, const Settings&) = default;
};

struct Config {
  Settings settings;
  std::vector<Partition> partitions;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "settings", self.settings);
    visit(2, "partitions", self.partitions);
  }
  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace drover
