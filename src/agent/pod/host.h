// Pods of `image: host`: processes over the machine's own root, as the pod's user, in namespaces and groups
// of their own. They are started as jobs are, by the keeper and a shim, so they outlive the agent.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/pod/runtime.h"
#include "agent/pod/workers.h"
#include "agent/runner/runner.h"

namespace drover::agent {

class HostRuntime final : public Runtime {
 public:
  HostRuntime(Runner& runner, Workers& workers);

  void on_attempt(const Attempt& attempt);

  void find_image(const std::string& image, Then<std::optional<ImageFound>> then) override;
  void pull_image(const std::string& image, Then<ImageFound> then) override;
  void run_sandbox(const SandboxSpec& spec, Then<Sandbox> then) override;
  void remove_sandbox(const std::string& id, Then<Done> then) override;
  void create(const ContainerSpec& spec, Then<std::string> then) override;
  void start(const std::string& id, Then<Done> then) override;
  void stop(const std::string& id, Duration grace, Then<Done> then) override;
  void remove(const std::string& id, Then<Done> then) override;
  void exec(const std::string& id, const std::vector<std::string>& command, Duration timeout,
            Then<ExecDone> then) override;
  void look(const std::string& id, Then<ContainerSeen> then) override;
  void list(Then<Inventory> then) override;
  void reopen_log(const std::string& id, Then<Done> then) override;
  [[nodiscard]] std::string scheme() const override { return "host"; }

 private:
  template <class T>
  void reply(Then<T> then, Result<T> answer) {
    workers_.post([=]() -> Workers::Reply { return [=] { then(answer); }; });
  }
  void settle(const Attempt& attempt);

  Runner& runner_;
  Workers& workers_;
  std::map<std::string, StartSpec> made_;             // not started yet
  std::map<std::string, Attempt> attempts_;
  std::map<std::string, Then<Done>> starting_;
  std::multimap<std::string, Then<Done>> stopping_;
  std::multimap<std::string, Then<Done>> emptying_;   // by pod
};

// What such a process is started with. invalid: it asks for what only a container has.
[[nodiscard]] Result<StartSpec> host_spec(const ContainerSpec& spec);

}  // namespace drover::agent
