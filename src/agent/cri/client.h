// containerd's interfaces over its Unix socket, as calls that wait. Safe from several threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/pod/runtime.h"

namespace drover::agent::cri {

struct ClientOptions {
  std::string socket;  // "/run/containerd/containerd.sock"
  std::string node;    // whose containers ours are, among those of other agents on the same containerd
};

class Client {
 public:
  struct Stubs;  // inside this folder
  explicit Client(ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // Ends all calls that are under way, and those to come: the process is about to leave.
  void cut_short() const;

  // unavailable, with the reason: nobody answers there, or it can't run containers.
  [[nodiscard]] Status check() const;
  // Whether pods may have a network of their own.
  [[nodiscard]] bool has_network() const;

  [[nodiscard]] Result<std::optional<ImageFound>> find_image(const std::string& image) const;
  [[nodiscard]] Result<ImageFound> pull_image(const std::string& image) const;
  [[nodiscard]] Result<Sandbox> run_sandbox(const SandboxSpec& spec) const;
  [[nodiscard]] Status remove_sandbox(const std::string& id) const;
  [[nodiscard]] Result<std::string> create(const ContainerSpec& spec) const;
  [[nodiscard]] Status start(const std::string& id) const;
  [[nodiscard]] Status stop(const std::string& id, Duration grace) const;
  [[nodiscard]] Status remove(const std::string& id) const;
  [[nodiscard]] Result<ExecDone> exec(const std::string& id, const std::vector<std::string>& command,
                                      Duration timeout) const;
  [[nodiscard]] Result<ContainerSeen> look(const std::string& id) const;
  [[nodiscard]] Result<Inventory> list() const;
  [[nodiscard]] Status reopen_log(const std::string& id) const;

  // Where containerd gives a container's own input and output.
  [[nodiscard]] Result<std::string> attach_url(const std::string& id, bool input, bool terminal) const;

  // ---- a command whose input and output somebody carries, through files that are FIFOs ----
  struct Process {
    std::string container;
    std::string id;
  };
  struct Ends {
    std::string in;   // "" none
    std::string out;
    std::string err;  // "" none
  };
  [[nodiscard]] Status exec_process(const Process& process, const std::vector<std::string>& command, bool terminal,
                                    const Ends& ends) const;
  [[nodiscard]] Result<std::uint32_t> wait_process(const Process& process) const;  // its exit
  void resize_process(const Process& process, std::uint32_t rows, std::uint32_t columns) const;
  void close_input(const Process& process) const;
  void kill_process(const Process& process) const;
  void forget_process(const Process& process) const;

 private:
  ClientOptions options_;
  std::unique_ptr<Stubs> stubs_;
};

// The messages' parts that decide about rights, by themselves for tests: encoded runtime.v1 messages.
[[nodiscard]] std::string container_config(const ContainerSpec& spec, const std::string& node);
[[nodiscard]] std::string sandbox_config(const SandboxSpec& spec, const std::string& node);

}  // namespace drover::agent::cri
