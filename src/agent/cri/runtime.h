// Pods' containers in containerd: the client's calls on worker threads.
#pragma once

#include <memory>

#include "agent/cri/client.h"
#include "agent/pod/workers.h"

namespace drover::agent::cri {

class CriRuntime final : public Runtime {
 public:
  CriRuntime(std::shared_ptr<const Client> client, Workers& workers) : client_(std::move(client)), workers_(workers) {}

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
  [[nodiscard]] std::string scheme() const override { return "containerd"; }

 private:
  template <class T, class Question>
  void ask(Question question, Then<T> then) {
    workers_.ask<T>([client = client_, question = std::move(question)] { return question(*client); }, std::move(then));
  }

  std::shared_ptr<const Client> client_;
  Workers& workers_;
};

}  // namespace drover::agent::cri
