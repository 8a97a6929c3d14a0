#include "agent/runner/runner.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/driver/scripted.h"
#include "agent/driver/testing.h"
#include "agent/runner/environment.h"

namespace drover::agent {
namespace {

using Words = std::vector<std::string>;
const User kAda{.name = "ada", .uid = 1000, .gid = 1000, .home = "/home/ada", .shell = "/bin/bash"};

DeviceInfo device(const std::string& uuid, std::int32_t index, Vendor vendor = Vendor::nvidia) {
  return {.uuid = uuid, .index = index, .vendor = vendor};
}

std::string variable(const Words& environment, std::string_view name) {
  const char* const value = find_variable(environment, name);
  return value == nullptr ? "(unset)" : value;
}

TEST(Environment, AJobsOwnDevicesAreNumberedFromZero) {
  const auto environment = build_environment({}, {.devices = {device("a", 3), device("b", 6)}}, kAda);
  EXPECT_EQ(variable(environment, "CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(variable(environment, "ROCR_VISIBLE_DEVICES"), "(unset)");
  EXPECT_EQ(variable(environment, "CUDA_DEVICE_ORDER"), "(unset)");
}

TEST(Environment, WhereTheKernelHidesNothingTheNumbersAreTheMachines) {
  const auto environment = build_environment({}, {.devices = {device("a", 3)}, .confined = false}, kAda);
  EXPECT_EQ(variable(environment, "CUDA_VISIBLE_DEVICES"), "3");
  EXPECT_EQ(variable(build_environment({}, {.confined = false}, kAda), "CUDA_VISIBLE_DEVICES"), "");
}

TEST(Environment, SlicesAreNamedByUuid) {
  DeviceInfo slice = device("MIG-1234", 0);
  slice.mig_profile = "1g.5gb";
  EXPECT_EQ(variable(build_environment({}, {.devices = {slice}}, kAda), "CUDA_VISIBLE_DEVICES"), "MIG-1234");
}

TEST(Environment, AmdDevicesAreNamedForRocmAlone) {
  const auto environment = build_environment({"HIP_VISIBLE_DEVICES=7", "CUDA_VISIBLE_DEVICES=7"},
                                             {.devices = {device("a", 2, Vendor::amd)}}, kAda);
  EXPECT_EQ(variable(environment, "ROCR_VISIBLE_DEVICES"), "0");
  EXPECT_EQ(variable(environment, "HIP_VISIBLE_DEVICES"), "(unset)");
  EXPECT_EQ(variable(environment, "CUDA_VISIBLE_DEVICES"), "(unset)");
}

TEST(Environment, TheSubmittersDevicesMeanNothingAndHisOtherSettingsStay) {
  const auto environment = build_environment({"CUDA_VISIBLE_DEVICES=5", "HOME=/elsewhere", "X=1"}, {}, kAda);
  EXPECT_EQ(environment, (Words{"HOME=/elsewhere", "X=1", "USER=ada", "LOGNAME=ada", "SHELL=/bin/bash",
                                "PATH=/usr/local/bin:/usr/bin:/bin"}));
}

class RunnerLedger : public ::testing::Test {
 protected:
  [[nodiscard]] Status start(const std::string& key, std::vector<DeviceGrant> grants) {
    return runner_.start(key, {.script = "run-for=10s", .uid = ::geteuid(), .devices = std::move(grants)});
  }
  Instant now_;
  ScriptedDriver driver_{[this] { return now_; }};
  Runner runner_{driver_, {.devices = {device("a", 0), device("b", 1)}}};
};

TEST_F(RunnerLedger, ADeviceIsNeverGivenTwice) {
  ASSERT_TRUE(start("1", {{.device = "a"}}).has_value());
  EXPECT_EQ(start("2", {{.device = "a"}}).error().code, Errc::conflict);
  EXPECT_EQ(start("2", {{.device = "a", .milli = 1}}).error().code, Errc::conflict);
  EXPECT_TRUE(start("2", {{.device = "b"}}).has_value());
  EXPECT_EQ(start("3", {{.device = "c"}}).error().code, Errc::not_found);
}

TEST_F(RunnerLedger, SharesAddUpToAWhole) {
  ASSERT_TRUE(start("1", {{.device = "a", .milli = 600}}).has_value());
  EXPECT_EQ(start("2", {{.device = "a", .milli = 401}}).error().code, Errc::conflict);
  EXPECT_TRUE(start("2", {{.device = "a", .milli = 400}}).has_value());
  EXPECT_EQ(start("3", {{.device = "b", .milli = 0}}).error().code, Errc::invalid);
  EXPECT_EQ(start("3", {{.device = "b", .milli = 500}, {.device = "b", .milli = 500}}).error().code, Errc::invalid);
}

TEST_F(RunnerLedger, AnEndGivesTheDeviceBack) {
  ASSERT_TRUE(start("1", {{.device = "a"}}).has_value());
  now_ += seconds(11);
  EXPECT_EQ(runner_.poll(seconds(1)).size(), 1U);
  EXPECT_EQ(runner_.held_milli("a"), 0);
  EXPECT_TRUE(start("2", {{.device = "a"}}).has_value());
}

TEST_F(RunnerLedger, ANewRunnerKnowsWhoHoldsWhat) {
  ASSERT_TRUE(start("1", {{.device = "a"}}).has_value());
  Runner next(driver_, {.devices = {device("a", 0)}});
  EXPECT_EQ(next.held_milli("a"), 1000);
  const StartSpec spec{.script = "run-for=10s", .uid = ::geteuid(), .devices = {{.device = "a"}}};
  EXPECT_EQ(next.start("2", spec).error().code, Errc::conflict);
}

TEST(RunnerOnProcesses, JobsOpenTheirOwnDeclaredDeviceAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  testing::Node node;
  if (node.driver().cgroups().backend() == Backend::none) GTEST_SKIP() << "needs cgroups";
  const Words files{node.out("gpu0"), node.out("gpu1")};
  ASSERT_EQ(::mknod(files[0].c_str(), S_IFCHR | 0666, makedev(10, 229)), 0);
  ASSERT_EQ(::mknod(files[1].c_str(), S_IFCHR | 0666, makedev(10, 237)), 0);
  for (const std::string& file : files) ::chmod(file.c_str(), 0666);
  const auto devices = declare_devices("n1", {{.files = {files[0]}}, {.files = {files[1]}}});
  ASSERT_TRUE(devices.has_value()) << devices.error().message;
  Runner runner(node.driver(), {.devices = *devices});
  const std::string script = "echo $CUDA_VISIBLE_DEVICES; unset CUDA_VISIBLE_DEVICES; for d in " + files[0] + " " +
                             files[1] + "; do (exec 3<$d) 2>/dev/null && echo yes || echo no; done; id -un; echo $HOME";
  const auto run = [&](const std::string& key, std::vector<DeviceGrant> grants) {
    StartSpec spec = node.shell(script, {.uid = 65534, .gid = 65534, .stdout_path = node.out(key)});
    spec.devices = std::move(grants);
    const Status started = runner.start(key, spec);
    EXPECT_TRUE(started.has_value()) << started.error().message;
    node.wait(key, AttemptState::ended);
    return node.output(key);
  };
  EXPECT_EQ(run("1.0", {{.device = "declared-n1-0"}}), "0\nyes\nno\nnobody\n/nonexistent\n");
  EXPECT_EQ(run("2.0", {{.device = "declared-n1-1"}}), "0\nno\nyes\nnobody\n/nonexistent\n");
  EXPECT_EQ(run("3.0", {}), "\nno\nno\nnobody\n/nonexistent\n");
}

}  // namespace
}  // namespace drover::agent
