// One pod on its node: makes its volumes, its sandbox and its containers in their order, keeps them running
// as the pod wants it, and says how it goes. Level by level: turn() looks at what is and does the next thing,
// so that a new agent goes on from the record of the old one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/pod/probe.h"
#include "agent/pod/record.h"
#include "agent/pod/site.h"

namespace drover::agent {

class Pod : public std::enable_shared_from_this<Pod> {
 public:
  // A new one, or, with what its record says, one of an earlier agent.
  Pod(const PodSite& site, std::string key, PodRecord record, std::optional<PodLaunch> launch);

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] const PodRecord& record() const { return record_; }
  [[nodiscard]] const std::optional<PodLaunch>& launch() const { return launch_; }
  [[nodiscard]] bool over() const { return record_.ended.has_value(); }
  [[nodiscard]] Runtime* runtime() const;

  void on_body(const PodBody& body);
  // Of two orders the one that ends sooner counts.
  void end(drover::Cause cause, Duration grace);
  // What the runtime has of this pod: of all when it is looked at, else only of one that changed.
  void see(const Inventory& inventory);
  void see(const ContainerSeen& seen);
  void turn();
  // Everything again, for a controller that may not have heard it.
  void report_all();
  // Whether something is likely to change within a second.
  [[nodiscard]] bool lively() const;
  // Of a container, the runs that have begun; their logs.
  struct Runs {
    std::optional<std::uint32_t> last;
    std::optional<std::uint32_t> before;
  };
  [[nodiscard]] Runs runs_of(std::size_t index) const;

 private:
  // What isn't kept: it begins anew with a new agent.
  struct Present {
    bool busy = false;        // an answer is awaited
    bool stopping = false;
    bool probed_ready = false;
    bool seen_exit = false;   // and the runtime is asked how
    ProbeWatch startup, liveness, readiness;
  };
  using Index = std::size_t;

  // ---- pod.cc: the pod as a whole ----
  void ask_for_body();
  void prepare();
  void make_folders_and_volumes();
  void make_sandbox();
  void fail_to_start(const std::string& note);
  [[nodiscard]] bool refuse_mixture();
  void check_deadline();
  void advance();
  [[nodiscard]] bool advance_init();
  void conclude();
  void wind_down();
  void clean_up();
  void finish();
  void publish();
  void save();
  void count_readiness();
  [[nodiscard]] SandboxSpec sandbox_spec() const;

  // ---- container.cc: one of its containers ----
  void tend(Index i);
  void begin(Index i);
  void with_image(Index i, const ImageFound& image);
  void make(Index i, ContainerSpec spec);
  void started(Index i);
  void drop_old_log(Index i);
  void cannot_get_image(Index i, const std::string& reason, const std::string& message);
  void cannot_make(Index i, const std::string& reason, const std::string& message);
  void wait(Index i, const std::string& reason, const std::string& message);
  void exited(Index i, const ContainerSeen& seen);
  void judge(Index i);
  [[nodiscard]] bool restarts(Index i) const;
  void supervise(Index i);
  void probe(Index i, const PodProbe& probe, ProbeWatch& watch, const char* what);
  void answered(Index i, const std::string& what, std::uint32_t run, const Status& answer);
  void stop(Index i, Duration grace, const std::string& note);
  void stop_after_hook(Index i, Duration grace);
  [[nodiscard]] ContainerSpec container_spec(Index i, const ImageFound& image) const;

  // ---- both ----
  template <class T, class Do>
  Then<T> then(Do what);
  void note(const std::string& reason, const std::string& message, const std::string& container = {},
            bool warning = false);
  [[nodiscard]] const PodContainer& spec(Index i) const { return launch_->containers[i]; }
  [[nodiscard]] ContainerStatus& status(Index i) { return record_.status.containers[i]; }
  [[nodiscard]] Moment now() const { return site_.clock(); }

  const PodSite& site_;
  std::string key_;
  PodFolder folder_;
  PodRecord record_;
  std::optional<PodLaunch> launch_;
  std::vector<Present> present_;
  std::string group_;            // made by this agent or found; the parent of its containers'
  bool preparing_ = false;
  bool cleaning_ = false;
  bool cleaned_ = false;
  std::uint32_t prepare_failures_ = 0;
  Duration prepare_at_{};
  Duration ask_at_{};
  Duration clean_at_{};
  std::optional<PodStatus> published_;
  Duration published_at_{};
  std::string saved_;
  std::vector<PodNote> notes_;
};

template <class T, class Do>
Then<T> Pod::then(Do what) {
  return [weak = weak_from_this(), what = std::move(what)](Result<T> answer) {
    if (const auto self = weak.lock()) what(std::move(answer));
  };
}

// Reads what an earlier agent had written; nothing when it can't be read.
[[nodiscard]] std::optional<PodRecord> read_record(const PodFolder& folder);
[[nodiscard]] std::optional<PodLaunch> read_launch(const PodFolder& folder);

}  // namespace drover::agent
