// Pods whose containers are only played, by a clock that the test turns. A container says itself what to
// play, in its command: {"run-for=10", "exit=7", "ignores-term", "out-of-memory", "cannot-start"}.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/pod/pods.h"
#include "base/text.h"
#include "os/temp_folder.h"

namespace drover::agent::testing {

class PlayedRuntime final : public Runtime {
 public:
  explicit PlayedRuntime(std::function<Moment()> clock) : clock_(std::move(clock)) {}

  struct Container {
    ContainerSpec spec;
    ContainerSeen seen;
    Duration ends{};
    bool removed = false;
  };
  std::map<std::string, Container> containers;
  std::map<std::string, std::string> sandboxes;
  std::set<std::string> images{"busybox"};
  std::set<std::string> registry;           // what can be pulled
  std::map<std::string, int> answers;       // exit of a command that is run beside, by its first word
  std::vector<std::string> log;             // what was asked, in order
  std::map<std::string, std::string> broken;  // verb to why it fails

  // Gives the answers that are due. False: there were none.
  bool pump() {
    auto due = std::move(replies_);
    replies_.clear();
    for (const auto& reply : due) reply();
    return !due.empty();
  }
  [[nodiscard]] std::vector<std::string> running() {
    std::vector<std::string> names;
    for (auto& [id, one] : containers) {
      settle(one);
      if (!one.removed && one.seen.phase == RunPhase::running) names.push_back(one.spec.name);
    }
    return names;
  }

  void find_image(const std::string& image, Then<std::optional<ImageFound>> then) override {
    if (image.find(' ') != std::string::npos) return fail(then, {Errc::invalid, "bad name"});
    const bool here = images.contains(image);
    reply([=] { then(here ? std::optional(ImageFound{.id = "sha256:" + image, .user = 0}) : std::nullopt); });
  }
  void pull_image(const std::string& image, Then<ImageFound> then) override {
    log.push_back("pull " + image);
    if (!registry.contains(image)) return fail(then, {Errc::unavailable, "no such image"});
    images.insert(image);
    reply([=] { then(ImageFound{.id = "sha256:" + image}); });
  }
  void run_sandbox(const SandboxSpec& spec, Then<Sandbox> then) override {
    log.push_back("sandbox");
    if (broken.contains("sandbox")) return fail(then, {Errc::unavailable, broken["sandbox"]});
    const std::string id = "s" + std::to_string(sandboxes.size());
    sandboxes[id] = spec.pod;
    reply([=] { then(Sandbox{.id = id}); });
  }
  void remove_sandbox(const std::string& id, Then<Done> then) override {
    log.push_back("remove sandbox");
    for (auto& [name, one] : containers) {
      if (one.spec.sandbox_id == id) one.removed = true;
    }
    sandboxes.erase(id);
    reply([=] { then(Done{}); });
  }
  void create(const ContainerSpec& spec, Then<std::string> then) override {
    const std::string id = spec.name + "-" + std::to_string(spec.run);
    if (containers.contains(id)) return fail(then, {Errc::conflict, "name is reserved"});
    containers[id] = {.spec = spec, .seen = {.id = id, .pod = spec.sandbox.pod, .name = spec.name, .run = spec.run}};
    reply([=] { then(id); });
  }
  void start(const std::string& id, Then<Done> then) override {
    Container& one = containers.at(id);
    log.push_back("start " + one.spec.name);
    if (has(one, "cannot-start")) return fail(then, {Errc::unavailable, "no such file"});
    one.seen.phase = RunPhase::running;
    one.seen.started = clock_().wall;
    one.ends = word(one, "run-for") < 0 ? Duration::max() : clock_().boot + seconds(word(one, "run-for"));
    reply([=] { then(Done{}); });
  }
  void stop(const std::string& id, Duration grace, Then<Done> then) override {
    Container& one = containers.at(id);
    settle(one);
    log.push_back("stop " + one.spec.name + " " + std::to_string(grace.count() / 1000));
    if (one.seen.phase == RunPhase::running) {
      const bool ignores = has(one, "ignores-term") && grace > Duration{};
      one.ends = ignores ? std::min(one.ends, clock_().boot + grace) : clock_().boot;
      one.seen.exit_code = has(one, "ignores-term") ? 137 : 143;
      settle(one);
    }
    reply([=] { then(Done{}); });
  }
  void remove(const std::string& id, Then<Done> then) override {
    if (containers.contains(id)) containers.at(id).removed = true;
    reply([=] { then(Done{}); });
  }
  void exec(const std::string&, const std::vector<std::string>& command, Duration, Then<ExecDone> then) override {
    log.push_back("exec " + command[0]);
    const int code = answers[command[0]];
    reply([=] { then(ExecDone{.exit_code = code, .output = "said so"}); });
  }
  void look(const std::string& id, Then<ContainerSeen> then) override {
    Container& one = containers.at(id);
    settle(one);
    reply([=, seen = one.seen] { then(seen); });
  }
  void list(Then<Inventory> then) override {
    Inventory all{.sandboxes = sandboxes};
    for (auto& [id, one] : containers) {
      settle(one);
      if (!one.removed) all.containers.push_back(one.seen);
    }
    reply([=] { then(all); });
  }
  void reopen_log(const std::string&, Then<Done> then) override {
    reply([=] { then(Done{}); });
  }
  [[nodiscard]] std::string scheme() const override { return "played"; }

 private:
  static bool has(const Container& one, const std::string& what) {
    for (const std::string& word : one.spec.command) {
      if (word == what) return true;
    }
    return false;
  }
  // The number behind "what=", or -1.
  static std::int64_t word(const Container& one, const std::string& what) {
    for (const std::string& text : one.spec.command) {
      if (text.starts_with(what + "=")) return parse_int(std::string_view(text).substr(what.size() + 1)).value_or(-1);
    }
    return -1;
  }
  void settle(Container& one) {
    if (one.seen.phase != RunPhase::running || clock_().boot < one.ends) return;
    one.seen.phase = RunPhase::exited;
    one.seen.finished = clock_().wall;
    if (one.seen.exit_code == 0) one.seen.exit_code = static_cast<int>(std::max<std::int64_t>(0, word(one, "exit")));
    one.seen.out_of_memory = has(one, "out-of-memory");
    if (one.seen.out_of_memory) one.seen.exit_code = 137;
  }
  template <class T>
  void fail(Then<T> then, Error error) {
    reply([=] { then(error); });
  }
  void reply(std::function<void()> answer) { replies_.push_back(std::move(answer)); }

  std::function<Moment()> clock_;
  std::vector<std::function<void()>> replies_;
};

class PlayedGroups final : public PodGroups {
 public:
  std::set<std::string> made;
  [[nodiscard]] Result<std::string> make(const std::string& pod, const CpuSet&, std::int64_t,
                                         const std::vector<std::string>&) override {
    made.insert(pod);
    return "/played/" + pod;
  }
  [[nodiscard]] drover::Usage usage(const std::string&) override { return {}; }
  void remove(const std::string& pod) override { made.erase(pod); }
};

}  // namespace drover::agent::testing
