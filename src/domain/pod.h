// A pod as its node runs it, and what the node says of it. The Kubernetes door makes the one from a
// manifest and renders the other; between them nobody knows Kubernetes' words.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/quantity.h"
#include "base/time.h"
#include "domain/cpu_set.h"
#include "domain/exit_status.h"

namespace drover {

enum class RestartPolicy : std::uint8_t { always, on_failure, never };
[[nodiscard]] constexpr std::string_view word(RestartPolicy p) {
  switch (p) {
    case RestartPolicy::always: return "always";
    case RestartPolicy::on_failure: return "on_failure";
    case RestartPolicy::never: return "never";
  }
  return "";
}

enum class PullPolicy : std::uint8_t { if_not_present, always, never };
[[nodiscard]] constexpr std::string_view word(PullPolicy p) {
  switch (p) {
    case PullPolicy::if_not_present: return "if_not_present";
    case PullPolicy::always: return "always";
    case PullPolicy::never: return "never";
  }
  return "";
}

// ---- what is to run ----

enum class ProbeKind : std::uint8_t { exec, http, tcp };
[[nodiscard]] constexpr std::string_view word(ProbeKind k) {
  switch (k) {
    case ProbeKind::exec: return "exec";
    case ProbeKind::http: return "http";
    case ProbeKind::tcp: return "tcp";
  }
  return "";
}

struct PodProbe {
  ProbeKind kind = ProbeKind::exec;
  std::vector<std::string> command;
  std::string host;  // "" the pod's own address
  std::uint32_t port = 0;
  std::string path;
  bool https = false;
  std::vector<std::string> headers;  // "Name: value"
  Duration initial_delay{0};
  Duration period = seconds(10);
  Duration timeout = seconds(1);
  std::uint32_t successes = 1;
  std::uint32_t failures = 3;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "kind", self.kind);
    visit(2, "command", self.command);
    visit(3, "host", self.host);
    visit(4, "port", self.port);
    visit(5, "path", self.path);
    visit(6, "https", self.https);
    visit(7, "headers", self.headers);
    visit(8, "initial_delay", self.initial_delay);
    visit(9, "period", self.period);
    visit(10, "timeout", self.timeout);
    visit(11, "successes", self.successes);
    visit(12, "failures", self.failures);
  }
  friend bool operator==(const PodProbe&, const PodProbe&) = default;
};

enum class VolumeKind : std::uint8_t { empty, memory, files, host_path };
[[nodiscard]] constexpr std::string_view word(VolumeKind k) {
  switch (k) {
    case VolumeKind::empty: return "empty";            // a folder that goes with the pod
    case VolumeKind::memory: return "memory";          // the same on tmpfs
    case VolumeKind::files: return "files";            // config maps, secrets, downward API: given whole
    case VolumeKind::host_path: return "host_path";
  }
  return "";
}

struct PodFile {
  std::string path;  // below the volume: no "..", not absolute (the door checks, the node checks again)
  std::string bytes;
  std::uint32_t mode = 0644;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "path", self.path);
    visit(2, "bytes", self.bytes);
    visit(3, "mode", self.mode);
  }
  friend bool operator==(const PodFile&, const PodFile&) = default;
};

struct PodVolume {
  std::string name;
  VolumeKind kind = VolumeKind::empty;
  Bytes size_limit;  // 0: none
  std::string host_path;
  std::string host_type;  // "" unchecked; "Directory", "DirectoryOrCreate", "File", ...: as Kubernetes names them
  std::vector<PodFile> files;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "kind", self.kind);
    visit(3, "size_limit", self.size_limit);
    visit(4, "host_path", self.host_path);
    visit(5, "host_type", self.host_type);
    visit(6, "files", self.files);
  }
  friend bool operator==(const PodVolume&, const PodVolume&) = default;
};

struct PodMount {
  std::string volume;
  std::string path;      // in the container, absolute
  std::string sub_path;  // below the volume; "" all of it
  bool read_only = false;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "volume", self.volume);
    visit(2, "path", self.path);
    visit(3, "sub_path", self.sub_path);
    visit(4, "read_only", self.read_only);
  }
  friend bool operator==(const PodMount&, const PodMount&) = default;
};

// What a container may do beside its user's rights.
struct PodSecurity {
  std::optional<std::int64_t> user;   // none: the image's
  std::optional<std::int64_t> group;
  bool must_not_be_root = false;      // an image whose user is root is refused
  bool privileged = false;
  bool read_only_root = false;
  bool may_gain_privileges = true;    // false: no_new_privs
  std::vector<std::string> add_capabilities;
  std::vector<std::string> drop_capabilities;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "user", self.user);
    visit(2, "group", self.group);
    visit(3, "must_not_be_root", self.must_not_be_root);
    visit(4, "privileged", self.privileged);
    visit(5, "read_only_root", self.read_only_root);
    visit(6, "may_gain_privileges", self.may_gain_privileges);
    visit(7, "add_capabilities", self.add_capabilities);
    visit(8, "drop_capabilities", self.drop_capabilities);
  }
  friend bool operator==(const PodSecurity&, const PodSecurity&) = default;
};

struct PodContainer {
  std::string name;
  std::string image;  // "host": a process over the machine's own root, without a container runtime
  PullPolicy pull = PullPolicy::if_not_present;
  bool init = false;           // runs to its end before the next one
  bool sidecar = false;        // an init container that goes on beside the others (restartPolicy: Always)
  std::vector<std::string> command;      // in place of the image's entry point; $(NAME) already expanded
  std::vector<std::string> arguments;    // in place of the image's arguments
  std::string work_dir;
  std::vector<std::string> environment;  // NAME=value, complete but for the devices
  std::vector<PodMount> mounts;
  std::vector<std::string> device_uuids;  // granted to this container, of the pod's
  std::int64_t cpu_request_milli = 0;
  std::int64_t cpu_limit_milli = 0;       // 0: none
  Bytes memory_limit;                     // 0: none
  bool input = false;       // stdin is kept open
  bool input_once = false;
  bool terminal = false;
  std::optional<PodProbe> liveness;
  std::optional<PodProbe> readiness;
  std::optional<PodProbe> startup;
  std::vector<std::string> after_start;  // a command; empty: none
  std::vector<std::string> before_stop;
  Duration before_stop_sleep{0};
  std::string message_path = "/dev/termination-log";
  bool message_from_log = false;  // FallbackToLogsOnError
  PodSecurity security;
  std::string error;  // why it can't be created yet (a missing secret); "" nothing stands in the way
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "image", self.image);
    visit(3, "pull", self.pull);
    visit(4, "init", self.init);
    visit(5, "sidecar", self.sidecar);
    visit(6, "command", self.command);
    visit(7, "arguments", self.arguments);
    visit(8, "work_dir", self.work_dir);
    visit(9, "environment", self.environment);
    visit(10, "mounts", self.mounts);
    visit(11, "device_uuids", self.device_uuids);
    visit(12, "cpu_request_milli", self.cpu_request_milli);
    visit(13, "cpu_limit_milli", self.cpu_limit_milli);
    visit(14, "memory_limit", self.memory_limit);
    visit(15, "input", self.input);
    visit(16, "input_once", self.input_once);
    visit(17, "terminal", self.terminal);
    visit(18, "liveness", self.liveness);
    visit(19, "readiness", self.readiness);
    visit(20, "startup", self.startup);
    visit(21, "after_start", self.after_start);
    visit(22, "before_stop", self.before_stop);
    visit(23, "before_stop_sleep", self.before_stop_sleep);
    visit(24, "message_path", self.message_path);
    visit(25, "message_from_log", self.message_from_log);
    visit(26, "security", self.security);
    visit(27, "error", self.error);
  }
  friend bool operator==(const PodContainer&, const PodContainer&) = default;
};

// All that a node needs to run a pod; it asks for it when the pod has been placed there, and again while
// a container of it has an error.
struct PodLaunch {
  std::string name;
  std::string space;  // namespace
  std::string uid;    // of the pod object
  std::string host_name;
  std::uint32_t user = 0;   // on whose account it runs: who owns its files on the node
  std::uint32_t group = 0;
  std::vector<std::uint32_t> more_groups;
  std::optional<std::int64_t> fs_group;
  RestartPolicy restart = RestartPolicy::always;
  Duration grace = seconds(30);
  Duration deadline{0};  // activeDeadlineSeconds from its first start; 0: none
  bool host_network = true;
  bool host_pid = false;
  bool host_ipc = false;
  bool share_pids = false;
  std::vector<std::string> host_aliases;  // lines for /etc/hosts
  std::vector<PodVolume> volumes;
  std::vector<PodContainer> containers;   // in order, init containers first
  std::map<std::string, std::string> labels;  // for the runtime's own lists; they grant nothing
  CpuSet cpus;    // granted to the pod; empty: it shares what is left
  Bytes memory;   // its request, not its limit
  std::vector<std::string> device_uuids;  // granted to the pod
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "space", self.space);
    visit(3, "uid", self.uid);
    visit(4, "host_name", self.host_name);
    visit(5, "user", self.user);
    visit(6, "group", self.group);
    visit(7, "more_groups", self.more_groups);
    visit(8, "fs_group", self.fs_group);
    visit(9, "restart", self.restart);
    visit(10, "grace", self.grace);
    visit(11, "deadline", self.deadline);
    visit(12, "host_network", self.host_network);
    visit(13, "host_pid", self.host_pid);
    visit(14, "host_ipc", self.host_ipc);
    visit(15, "share_pids", self.share_pids);
    visit(16, "host_aliases", self.host_aliases);
    visit(17, "volumes", self.volumes);
    visit(18, "containers", self.containers);
    visit(19, "labels", self.labels);
    visit(20, "cpus", self.cpus);
    visit(21, "memory", self.memory);
    visit(22, "device_uuids", self.device_uuids);
  }
  friend bool operator==(const PodLaunch&, const PodLaunch&) = default;
};

// ---- what the node says of it ----

enum class ContainerPhase : std::uint8_t { waiting, running, terminated };
[[nodiscard]] constexpr std::string_view word(ContainerPhase p) {
  switch (p) {
    case ContainerPhase::waiting: return "waiting";
    case ContainerPhase::running: return "running";
    case ContainerPhase::terminated: return "terminated";
  }
  return "";
}

struct ContainerState {
  ContainerPhase phase = ContainerPhase::waiting;
  // In the words that clients look for: ContainerCreating, PodInitializing, ErrImagePull, ImagePullBackOff,
  // ErrImageNeverPull, InvalidImageName, CreateContainerConfigError, CrashLoopBackOff, Completed, Error, OOMKilled.
  std::string reason;
  std::string message;
  ExitStatus exit;
  Instant started;   // the node's clock; Instant{}: not yet
  Instant finished;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "phase", self.phase);
    visit(2, "reason", self.reason);
    visit(3, "message", self.message);
    visit(4, "exit", self.exit);
    visit(5, "started", self.started);
    visit(6, "finished", self.finished);
  }
  friend bool operator==(const ContainerState&, const ContainerState&) = default;
};

struct ContainerStatus {
  std::string name;
  bool init = false;
  ContainerState state;
  std::optional<ContainerState> last;  // of the run before, terminated
  bool ready = false;
  bool started = false;    // its startup probe has succeeded, or it has none
  std::uint32_t restarts = 0;
  std::string container_id;  // "containerd://..."
  std::string image;
  std::string image_id;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "init", self.init);
    visit(3, "state", self.state);
    visit(4, "last", self.last);
    visit(5, "ready", self.ready);
    visit(6, "started", self.started);
    visit(7, "restarts", self.restarts);
    visit(8, "container_id", self.container_id);
    visit(9, "image", self.image);
    visit(10, "image_id", self.image_id);
  }
  friend bool operator==(const ContainerStatus&, const ContainerStatus&) = default;
};

struct PodStatus {
  std::vector<ContainerStatus> containers;  // in the order of PodLaunch::containers
  std::string host_ip;
  std::string pod_ip;
  Instant started;           // when the node took it up
  bool initialized = false;  // every init container is over (sidecars: have started)
  Instant initialized_at;
  Instant ready_since;       // of the last change of the whole pod's readiness
  std::string reason;        // of the pod as a whole: DeadlineExceeded, Evicted; "" none
  std::string message;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "containers", self.containers);
    visit(2, "host_ip", self.host_ip);
    visit(3, "pod_ip", self.pod_ip);
    visit(4, "started", self.started);
    visit(5, "initialized", self.initialized);
    visit(6, "initialized_at", self.initialized_at);
    visit(7, "ready_since", self.ready_since);
    visit(8, "reason", self.reason);
    visit(9, "message", self.message);
  }
  friend bool operator==(const PodStatus&, const PodStatus&) = default;
};

// Something about a pod that events tell people and that no state keeps: "Pulling image ...".
struct PodNote {
  std::string reason;   // Pulled, Created, Started, Killing, BackOff, Unhealthy, Failed, FailedMount ...
  std::string message;
  std::string container;  // "" of the pod
  bool warning = false;
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "reason", self.reason);
    visit(2, "message", self.message);
    visit(3, "container", self.container);
    visit(4, "warning", self.warning);
    visit(5, "at", self.at);
  }
  friend bool operator==(const PodNote&, const PodNote&) = default;
};

}  // namespace drover
