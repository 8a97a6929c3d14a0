// Attempts as processes of this machine, by way of a keeper that outlives us.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/cgroup/cgroup.h"
#include "agent/driver/driver.h"
#include "agent/shim/records.h"
#include "os/fd.h"

namespace drover::agent {

struct ProcessOptions {
  std::string shim_program;  // path of drover-shim
  std::string socket;        // at most 107 bytes
  std::string folder;        // on tmpfs
  std::string cgroup_root;   // "drover/n1"; empty: no cgroups
  std::string host_name;     // that jobs see; empty: the machine's
};

class ProcessDriver final : public Driver {
 public:
  // Connects to the keeper, starts it when there is none, and takes stock.
  [[nodiscard]] static Result<std::unique_ptr<ProcessDriver>> open(const ProcessOptions& options);

  [[nodiscard]] Status start(const std::string& key, const StartSpec& spec) override;
  [[nodiscard]] Status start_part(const std::string& key, const PartSpec& spec) override;
  [[nodiscard]] Status tell(const std::string& key, const Command& command) override;
  [[nodiscard]] Status forget(const std::string& key) override;
  [[nodiscard]] std::vector<Attempt> list() override;
  [[nodiscard]] std::vector<Attempt> changes() override;
  [[nodiscard]] int wake_fd() const override { return waker_.get(); }

  // Which limits hold on this machine, and which don't.
  [[nodiscard]] const CgroupTree& cgroups() const { return cgroups_; }
  // The keeper's process id, 0 when it isn't there.
  [[nodiscard]] pid_t keeper() const;
  // The file that jobs see as /etc/hosts; "": they see the machine's, and its name.
  [[nodiscard]] std::string hosts_path() const;
  // Where the living shim of a step takes clients.
  [[nodiscard]] std::string stream_path(const std::string& key) const { return records_.stream_path(key); }
  [[nodiscard]] std::string script_path(const std::string& key) const { return records_.script_path(key); }

 private:
  // A start that the keeper hasn't spoken of yet, and what was said to the attempt since.
  struct Unconfirmed {
    std::string order;
    std::vector<std::string> commands;
  };

  explicit ProcessDriver(const ProcessOptions& options);
  [[nodiscard]] Status connect();
  [[nodiscard]] Status order_start(const std::string& key, const Order& order);
  [[nodiscard]] Status start_keeper() const;
  [[nodiscard]] Status send(const std::string& bytes);
  void take_stock();
  void note(const Attempt& attempt);
  [[nodiscard]] Status end_lost(const std::string& key);

  ProcessOptions options_;
  Records records_;
  CgroupTree cgroups_;
  Fd waker_;  // an epoll, so that callers keep one descriptor over reconnects
  Fd socket_;
  std::map<std::string, Attempt> known_;
  std::map<std::string, Unconfirmed> unconfirmed_;
  std::map<std::string, Attempt> changed_;
};

}  // namespace drover::agent
