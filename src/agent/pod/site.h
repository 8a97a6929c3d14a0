// What all pods of a node share: where their containers and files are, and whom they tell.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/pod/folder.h"
#include "agent/pod/runtime.h"
#include "agent/pod/workers.h"
#include "agent/probe/device.h"
#include "agent/shim/spec.h"
#include "domain/session.h"

namespace drover::agent {

struct Moment {
  Duration boot{};  // since boot: what limits are counted by
  Instant wall;     // what people are shown
};

// A pod's share of what the kernel limits, around those of its containers.
class PodGroups {
 public:
  PodGroups() = default;
  PodGroups(const PodGroups&) = delete;
  PodGroups& operator=(const PodGroups&) = delete;
  virtual ~PodGroups() = default;

  // `cpu_milli`: what it asks for, which weighs it against others on the same CPUs.
  // Gives the name that a runtime takes as the parent. Again for a group that is there: no harm.
  [[nodiscard]] virtual Result<std::string> make(const std::string& pod, const CpuSet& cpus, std::int64_t cpu_milli,
                                                 const std::vector<std::string>& device_uuids) = 0;
  [[nodiscard]] virtual drover::Usage usage(const std::string& pod) = 0;  // so far
  virtual void remove(const std::string& pod) = 0;
};

struct PodSite {
  Workers* workers = nullptr;
  Runtime* images = nullptr;  // null: this node has no container runtime
  std::string why_no_images;
  Runtime* host = nullptr;
  PodGroups* groups = nullptr;
  std::string brief;    // folders of pods, see folder.h
  std::string lasting;
  std::string hosts_path;  // what containers see as /etc/hosts; "" the machine's
  std::string address;     // of the node
  std::function<Moment()> clock;
  std::function<std::vector<DeviceInfo>(const std::vector<std::string>& uuids)> devices;

  std::function<void(const Attempt&)> host_attempt = nullptr;  // what has become of a process of the host

  std::function<void(const NeedPod&)> need;
  std::function<void(ReportBody)> report;
  std::function<void(PodNotes)> note;
  std::function<void(const std::string&)> say;

  [[nodiscard]] PodFolder folder(const std::string& pod) const {
    return {.brief = brief + "/" + pod, .lasting = lasting + "/" + pod};
  }
};

}  // namespace drover::agent
