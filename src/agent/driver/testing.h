// A node of its own for tests: state folder, keeper and cgroups, all gone at the end.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/driver/process.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"
#include "os/temp_folder.h"

namespace drover::agent::testing {

inline bool poll_until(const std::function<bool()>& done, Duration patience = seconds(20)) {
  const Duration end = since_boot() + patience;
  while (!done()) {
    if (since_boot() > end) return false;
    ::poll(nullptr, 0, 2);
  }
  return true;
}

class Node {
 public:
  explicit Node(bool with_cgroups = true, const std::string& host_name = "") {
    static int number = 0;
    ::chmod(folder_.path().c_str(), 0711);
    ::mkdir(folder_.path("out").c_str(), 0777);
    ::chmod(folder_.path("out").c_str(), 0777);
    options_ = {.shim_program = program_folder() + "/drover-shim",
                .socket = folder_.path("s"),
                .folder = folder_.path("state"),
                .host_name = host_name};
    if (with_cgroups) {
      options_.cgroup_root = "drover-test/" + std::to_string(::getpid()) + "-" + std::to_string(++number);
    }
    reopen();
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() {
    if (!driver_) return;
    for (const Attempt& attempt : driver_->list()) {
      if (attempt.state != AttemptState::ended) {
        [[maybe_unused]] const Status told = driver_->tell(attempt.key, Terminate{});
        wait(attempt.key, AttemptState::ended);
      }
    }
    if (const pid_t keeper = driver_->keeper(); keeper > 0) ::kill(keeper, SIGTERM);
    driver_->cgroups().remove_root();
  }

  // As a new agent after the death of the old one.
  void reopen() {
    driver_.reset();
    auto driver = ProcessDriver::open(options_);
    ASSERT_TRUE(driver.has_value()) << driver.error().message;
    driver_ = std::move(*driver);
  }
  void drop_agent() { driver_.reset(); }

  [[nodiscard]] ProcessDriver& driver() { return *driver_; }
  [[nodiscard]] const ProcessOptions& options() const { return options_; }
  [[nodiscard]] std::string out(const std::string& name = "log") const { return folder_.path("out/" + name); }
  [[nodiscard]] std::string output(const std::string& name = "log") const {
    const auto text = read_file(out(name));
    return text ? *text : "(no output)";
  }
  [[nodiscard]] Attempt now(const std::string& key) {
    for (const Attempt& attempt : driver_->list()) {
      if (attempt.key == key) return attempt;
    }
    return {};
  }
  Attempt wait(const std::string& key, AttemptState state) {
    Attempt last;
    EXPECT_TRUE(poll_until([&] {
      [[maybe_unused]] const auto changes = driver_->changes();
      last = now(key);
      return last.state == state && last.key == key;
    })) << key << " is " << word(last.state) << ", not " << word(state);
    return last;
  }
  // Runs a shell script to its end.
  Ended run(const std::string& key, const std::string& script, StartSpec spec = {}) {
    const Status started = driver_->start(key, shell(script, std::move(spec)));
    EXPECT_TRUE(started.has_value()) << started.error().message;
    return wait(key, AttemptState::ended).ended.value_or(Ended{});
  }
  [[nodiscard]] StartSpec shell(const std::string& script, StartSpec spec = {}) const {
    spec.script = "#!/bin/sh\n" + script + "\n";
    if (spec.environment.empty()) spec.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
    if (spec.stdout_path == "/dev/null") spec.stdout_path = out();
    return spec;
  }

 private:
  TempFolder folder_;
  ProcessOptions options_;
  std::unique_ptr<ProcessDriver> driver_;
};

}  // namespace drover::agent::testing
