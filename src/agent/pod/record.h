// What the agent must know of a pod beyond its own death. On tmpfs, as the containers don't outlive a boot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/pod/runtime.h"
#include "base/describe.h"
#include "base/time.h"
#include "domain/ids.h"
#include "domain/input.h"
#include "domain/job.h"
#include "domain/pod.h"

namespace drover::agent {

// Of a container's present run. creating: asked for, and perhaps there.
enum class Stage : std::uint8_t { idle, creating, running, exited, done };
[[nodiscard]] constexpr std::string_view word(Stage stage) {
  switch (stage) {
    case Stage::idle: return "idle";
    case Stage::creating: return "creating";
    case Stage::running: return "running";
    case Stage::exited: return "exited";
    case Stage::done: return "done";
  }
  return "";
}

struct ContainerRecord {
  Stage stage = Stage::idle;
  std::uint32_t run = 0;        // of the present or last one
  std::uint32_t next_run = 0;   // no two have the same, whatever becomes of them
  std::string id;               // the runtime's, of the present run
  std::uint32_t crashes = 0;    // in a row
  std::uint32_t failures = 0;   // to get its image or to be made, in a row
  Duration retry_at{};          // since boot
  bool hooked = false;          // what is to run after its start has
  bool startup_passed = false;
  std::optional<std::uint32_t> last_started;    // runs that have logs
  std::optional<std::uint32_t> started_before;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "stage", self.stage);
    visit(2, "run", self.run);
    visit(3, "next_run", self.next_run);
    visit(4, "id", self.id);
    visit(5, "crashes", self.crashes);
    visit(6, "failures", self.failures);
    visit(7, "retry_at", self.retry_at);
    visit(8, "hooked", self.hooked);
    visit(9, "startup_passed", self.startup_passed);
    visit(10, "last_started", self.last_started);
    visit(11, "started_before", self.started_before);
  }
  friend bool operator==(const ContainerRecord&, const ContainerRecord&) = default;
};

struct PodEnding {
  drover::Cause cause = drover::Cause::completed;
  Duration grace{};
  Duration since{};  // since boot
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "cause", self.cause);
    visit(2, "grace", self.grace);
    visit(3, "since", self.since);
  }
  friend bool operator==(const PodEnding&, const PodEnding&) = default;
};

struct PodRecord {
  JobId job;
  std::uint32_t attempt = 0;
  std::vector<std::string> device_uuids;
  PodStatus status;
  Sandbox sandbox;
  std::uint32_t sandboxes = 0;  // that have been asked for
  std::vector<ContainerRecord> containers;
  bool volumes_ready = false;
  bool started = false;      // its first container
  Instant started_at;
  Duration began{};          // the same, since boot
  std::optional<PodEnding> ending;
  std::optional<ReportEnded> ended;
  CpuSet cpus;
  Duration limit{0};  // of its job, from the first container's start; 0: none
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "device_uuids", self.device_uuids);
    visit(4, "status", self.status);
    visit(5, "sandbox", self.sandbox);
    visit(6, "sandboxes", self.sandboxes);
    visit(7, "containers", self.containers);
    visit(8, "volumes_ready", self.volumes_ready);
    visit(9, "started", self.started);
    visit(10, "started_at", self.started_at);
    visit(11, "began", self.began);
    visit(12, "ending", self.ending);
    visit(13, "ended", self.ended);
    visit(14, "cpus", self.cpus);
    visit(15, "limit", self.limit);
  }
};

}  // namespace drover::agent
