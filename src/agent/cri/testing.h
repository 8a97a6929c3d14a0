// A containerd of its own for tests, with an image to run. Needs root, containerd and runc.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <string>

#include "agent/cri/runtime.h"
#include "agent/driver/testing.h"
#include "os/process.h"
#include "os/temp_folder.h"

namespace drover::agent::testing {

inline constexpr const char* kImage = "local.drover/busybox:1";

class Containerd {
 public:
  // Why it can't be used here, or "".
  [[nodiscard]] static std::string missing() {
    if (::geteuid() != 0) return "needs root";
    for (const char* program : {"/usr/bin/containerd", "/usr/sbin/runc"}) {
      if (::access(program, X_OK) != 0) return std::string("needs ") + program;
    }
    return ::access(DROVER_TEST_IMAGE, R_OK) == 0 ? "" : "needs busybox-static";
  }
  // One for all tests of the program: it takes seconds to start.
  [[nodiscard]] static Containerd& get() {
    static Containerd one;
    return one;
  }
  [[nodiscard]] std::string socket() const { return folder_.path("sock"); }
  [[nodiscard]] std::shared_ptr<cri::Client> client(const std::string& node) const {
    return std::make_shared<cri::Client>(cri::ClientOptions{.socket = socket(), .node = node});
  }
  Containerd(const Containerd&) = delete;
  Containerd& operator=(const Containerd&) = delete;
  ~Containerd() {
    ::kill(pid_, SIGTERM);
    [[maybe_unused]] const auto code = wait_for(pid_);
    ::system(("grep -o ' " + folder_.path() + "[^ ]*' /proc/mounts | xargs -r umount -l").c_str());  // NOLINT
  }

 private:
  Containerd() {
    const std::string& at = folder_.path();
    std::ofstream(folder_.path("config.toml"))
        << "version = 2\nroot = '" << at << "/root'\nstate = '" << at << "/state'\n"
        << "[grpc]\naddress = '" << at << "/sock'\n[plugins.'io.containerd.grpc.v1.cri']\n"
        << "sandbox_image = 'local.drover/pause:1'\ndisable_apparmor = true\nrestrict_oom_score_adj = true\n"
        << "[plugins.'io.containerd.grpc.v1.cri'.containerd]\nsnapshotter = 'overlayfs'\n";
    pid_ = *spawn({"/usr/bin/containerd", "-c", folder_.path("config.toml")}, folder_.path("log"));
    EXPECT_TRUE(poll_until([&] { return client("")->check().has_value(); })) << "containerd doesn't start";
    for (const std::string& image : {program_folder() + "/drover-pause.tar", std::string(DROVER_TEST_IMAGE)}) {
      const auto load = spawn({"/usr/bin/ctr", "-a", socket(), "-n", "k8s.io", "images", "import", image},
                              folder_.path("load.log"));
      EXPECT_EQ(*wait_for(*load), 0) << image;
    }
  }

  TempFolder folder_;
  pid_t pid_ = 0;
};

}  // namespace drover::agent::testing
