// The port behind which the containers of pods live: containerd, processes over the machine's own root,
// or played ones. Nothing here waits: an answer comes by `Then`, in turn(), on the agent's one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "domain/pod.h"

namespace drover::agent {

template <class T>
using Then = std::function<void(Result<T>)>;

struct ImageFound {
  std::string id;      // what the containers of it are made with
  std::string digest;  // "name@sha256:..." where it is known
  std::optional<std::int64_t> user;  // as whom it runs
  std::string user_name;             // where the image says a name instead
};

struct SandboxSpec {
  std::string pod;  // "17.1"; unique on this node
  std::uint32_t attempt = 0;
  std::string name;
  std::string space;
  std::string uid;
  std::string host_name;
  std::string log_folder;
  std::string cgroup_parent;  // "" the runtime's own choice
  std::map<std::string, std::string> labels;
  bool host_network = true;
  bool host_pid = false;
  bool host_ipc = false;
  bool share_pids = false;
  bool privileged = false;
};
struct Sandbox {
  std::string id;
  std::string ip;  // "" that of the node
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "id", self.id);
    visit(2, "ip", self.ip);
  }
  friend bool operator==(const Sandbox&, const Sandbox&) = default;
};

struct BindMount {
  std::string source;
  std::string target;
  bool read_only = false;
};

struct ContainerSpec {
  SandboxSpec sandbox;  // as it was made
  std::string sandbox_id;
  std::size_t index = 0;  // in its pod
  std::string name;
  std::uint32_t run = 0;  // how often it has been made before
  std::string image;      // ImageFound::id
  std::vector<std::string> command;
  std::vector<std::string> arguments;
  std::string work_dir;
  std::vector<std::string> environment;
  std::vector<BindMount> mounts;
  std::vector<std::string> devices;       // device files of the machine
  std::vector<std::string> device_uuids;  // the same, as they were granted
  std::vector<std::string> pod_device_uuids;
  CpuSet cpus;
  std::int64_t cpu_request_milli = 0;
  std::int64_t cpu_limit_milli = 0;
  std::int64_t memory_limit = 0;
  PodSecurity security;
  std::uint32_t user = 0;  // the pod's
  std::uint32_t group = 0;
  std::vector<std::uint32_t> groups;
  bool input = false;
  bool input_once = false;
  bool terminal = false;
  std::string log_path;  // below SandboxSpec::log_folder
};

enum class RunPhase : std::uint8_t { created, running, exited, unknown };
struct ContainerSeen {
  std::string id;
  std::string pod;
  std::string name;       // or, where the runtime doesn't keep it,
  std::size_t index = 0;  // which of the pod's it is
  std::uint32_t run = 0;
  RunPhase phase = RunPhase::created;
  Instant started;
  Instant finished;
  std::int32_t exit_code = 0;  // 128 + the signal that ended it
  bool out_of_memory = false;
  std::string message;
};
struct Inventory {
  std::vector<ContainerSeen> containers;  // of exited ones only id, pod, name, run and phase are sure
  std::map<std::string, std::string> sandboxes;  // id to pod
};

struct ExecDone {
  std::int32_t exit_code = 0;
  std::string output;
};

class Runtime {
 public:
  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  // Nothing: there is no such image here. invalid: it can't be one's name.
  virtual void find_image(const std::string& image, Then<std::optional<ImageFound>> then) = 0;
  virtual void pull_image(const std::string& image, Then<ImageFound> then) = 0;
  virtual void run_sandbox(const SandboxSpec& spec, Then<Sandbox> then) = 0;
  // With all that is in it, whatever runs there; also when it is gone already.
  virtual void remove_sandbox(const std::string& id, Then<Done> then) = 0;
  // Not yet started. Its id is known to list() from now on, also when the answer is lost.
  virtual void create(const ContainerSpec& spec, Then<std::string> then) = 0;
  virtual void start(const std::string& id, Then<Done> then) = 0;
  // SIGTERM now, SIGKILL after the grace; answers when it is over.
  virtual void stop(const std::string& id, Duration grace, Then<Done> then) = 0;
  virtual void remove(const std::string& id, Then<Done> then) = 0;
  // A command beside the container's program, and what it said (shortened).
  virtual void exec(const std::string& id, const std::vector<std::string>& command, Duration timeout,
                    Then<ExecDone> then) = 0;
  virtual void look(const std::string& id, Then<ContainerSeen> then) = 0;
  // All of this node.
  virtual void list(Then<Inventory> then) = 0;
  // The log file has been moved away: write a new one.
  virtual void reopen_log(const std::string& id, Then<Done> then) = 0;
  // "containerd" of "containerd://<id>".
  [[nodiscard]] virtual std::string scheme() const = 0;
};

}  // namespace drover::agent
