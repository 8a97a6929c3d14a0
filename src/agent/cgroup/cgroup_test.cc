#include "agent/cgroup/cgroup.h"

#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include "agent/cgroup/device_program.h"
#include "agent/cgroup/directory.h"
#include "base/text.h"
#include "os/file.h"
#include "os/temp_folder.h"

namespace drover::agent {
namespace {

std::string content(const std::string& path) {
  const auto text = read_file(path);
  return text ? std::string(trim(*text)) : "(missing)";
}

TEST(Cgroup, MountTablesAreReadAsTheyAre) {
  const auto hybrid = CgroupTree::Mounts::read(
      "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"
      "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n"
      "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"
      "cgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0\n"
      "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n");
  EXPECT_EQ(hybrid.unified, "/sys/fs/cgroup/unified");
  EXPECT_EQ(hybrid.legacy, (std::map<std::string, std::string>{{"cpu", "/sys/fs/cgroup/cpu,cpuacct"},
                                                               {"cpuacct", "/sys/fs/cgroup/cpu,cpuacct"},
                                                               {"memory", "/sys/fs/cgroup/memory"}}));
  const auto pure = CgroupTree::Mounts::read("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
  EXPECT_EQ(pure.unified, "/sys/fs/cgroup");
  EXPECT_TRUE(pure.legacy.empty());
}

TEST(Cgroup, NamesArePathComponents) {
  for (const char* good : {"1", "12_3.0", "a-b.C", "..."}) EXPECT_TRUE(is_safe_name(good)) << good;
  for (const char* bad : {"", ".", "..", "a/b", "a b", "a\n", "ä", "$x"}) EXPECT_FALSE(is_safe_name(bad)) << bad;
  EXPECT_FALSE(is_safe_name(std::string(129, 'a')));
}

TEST(Cgroup, CpuListsGoBothWays) {
  EXPECT_EQ(parse_cpu_list("0-2,5\n"), (std::vector<std::int32_t>{0, 1, 2, 5}));
  EXPECT_EQ(cpu_list({0, 1, 5}), "0,1,5");
  EXPECT_TRUE(parse_cpu_list("\n").empty());
  EXPECT_TRUE(parse_cpu_list("x-y,-3").empty());
}

// The files of a v2 cgroup, as a kernel with all controllers would show them.
class PlayedKernel {
 public:
  PlayedKernel() {
    for (const char* group : {"", "/drover", "/drover/n1", "/drover/n1/7.0"}) {
      const std::string at = folder_.path() + group;
      ::mkdir(at.c_str(), 0755);
      for (const char* file : {"cgroup.controllers", "cgroup.subtree_control", "cgroup.procs"}) put(at, file, "");
      put(at, "cgroup.controllers", "cpuset cpu io memory pids");
      put(at, "cgroup.events", "populated 0\nfrozen 0\n");
      for (const char* file : {"memory.max", "memory.swap.max", "pids.max", "cpuset.cpus", "cpu.weight", "cpu.max"}) {
        put(at, file, "");
      }
    }
    put(root(), "cgroup.subtree_control", "cpuset cpu memory pids");
  }
  static void put(const std::string& at, const std::string& file, const std::string& text) {
    std::ofstream(at + "/" + file) << text;
  }
  [[nodiscard]] std::string mount() const { return folder_.path(); }
  [[nodiscard]] std::string root() const { return folder_.path("drover/n1"); }
  [[nodiscard]] std::string group() const { return root() + "/7.0"; }

 private:
  TempFolder folder_;
};

TEST(UnifiedCgroup, LimitsAreWrittenWhereVersionTwoWantsThem) {
  const PlayedKernel kernel;
  const CgroupTree tree = CgroupTree::on({.unified = kernel.mount()}, "drover/n1");
  EXPECT_EQ(tree.backend(), Backend::v2);
  const Limits limits{.memory_bytes = 64 << 20, .pids = 100, .cpus = {0}, .cpu_weight = 50, .cpu_quota_us = 150'000};
  const auto group = tree.create("7.0", limits);
  ASSERT_TRUE(group.has_value()) << group.error().message;
  EXPECT_EQ(content(kernel.group() + "/memory.max"), "67108864");
  EXPECT_EQ(content(kernel.group() + "/memory.swap.max"), "0");
  EXPECT_EQ(content(kernel.group() + "/pids.max"), "100");
  EXPECT_EQ(content(kernel.group() + "/cpuset.cpus"), "0");
  EXPECT_EQ(content(kernel.group() + "/cpu.weight"), "50");
  EXPECT_EQ(content(kernel.group() + "/cpu.max"), "150000 100000");
  EXPECT_TRUE((*group)->notes().empty());
}

TEST(UnifiedCgroup, UsageAndOomKillsAreRead) {
  const PlayedKernel kernel;
  const CgroupTree tree = CgroupTree::on({.unified = kernel.mount()}, "drover/n1");
  PlayedKernel::put(kernel.group(), "memory.peak", "1234567\n");
  PlayedKernel::put(kernel.group(), "memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\noom_group_kill 0\n");
  PlayedKernel::put(kernel.group(), "cpu.stat", "usage_usec 4242\nuser_usec 4000\n");
  PlayedKernel::put(kernel.group(), "cgroup.events", "populated 1\nfrozen 0\n");
  const auto group = tree.open("7.0");
  EXPECT_EQ(group->usage().peak_memory, 1234567);
  EXPECT_EQ(group->usage().oom_kills, 1);
  EXPECT_EQ(group->usage().cpu_us, 4242);
  EXPECT_FALSE(group->empty());
  EXPECT_EQ(tree.create("7.0", {}).error().code, Errc::conflict);  // somebody is still in there
}

TEST(UnifiedCgroup, ALimitWithoutItsControllerIsTold) {
  const PlayedKernel kernel;
  std::filesystem::remove(kernel.group() + "/memory.max");
  const CgroupTree tree = CgroupTree::on({.unified = kernel.mount()}, "drover/n1");
  // Nobody makes files in a real cgroup; here opening for writing without O_CREAT fails likewise.
  const auto group = tree.create("7.0", {.memory_bytes = 1 << 20});
  ASSERT_TRUE(group.has_value()) << group.error().message;
  ASSERT_EQ((*group)->notes().size(), 1U);
  EXPECT_NE((*group)->notes()[0].find("Memory isn't limited"), std::string::npos);
}

TEST(DeviceProgram, DeniesWhatIsListedAndIsShort) {
  EXPECT_EQ(device_program({}).size(), 6U);
  const auto program = device_program({{.major = 195, .minor = 3}, {.block = true, .major = 8, .minor = 0}});
  EXPECT_EQ(program.size(), 16U);
  EXPECT_EQ(program[5].imm, 195);
  EXPECT_EQ(program[6].imm, 3);
  EXPECT_EQ(program[9].imm, BPF_DEVCG_DEV_BLOCK);
}

// Runs `act` in a child inside the group.
pid_t inside(Cgroup& group, const std::function<int()>& act) {
  const auto entry = group.entry();
  EXPECT_TRUE(entry.has_value());
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  auto files = entry->write_zero_to;
  if (entry->clone_into >= 0) files.push_back(::openat(entry->clone_into, "cgroup.procs", O_WRONLY));
  for (const int file : files) {
    if (::write(file, "0", 1) != 1) ::_exit(99);
  }
  ::_exit(act());
}
int exit_of(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(DeviceProgram, ANodeOfADeniedDeviceCannotBeMadeEvenByRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const CgroupTree tree = CgroupTree::detect("drover-test/devices-" + std::to_string(::getpid()));
  if (tree.backend() == Backend::none) GTEST_SKIP() << "needs cgroups";
  auto group = tree.create("1.0", {.denied = {{.major = 10, .minor = 229}}});
  ASSERT_TRUE(group.has_value()) << group.error().message;
  const TempFolder folder;
  const pid_t pid = inside(**group, [&] {
    const bool denied = ::mknod(folder.path("mine").c_str(), S_IFCHR | 0600, makedev(10, 229)) != 0 && errno == EPERM;
    const bool other = ::mknod(folder.path("other").c_str(), S_IFCHR | 0600, makedev(10, 237)) == 0;
    const bool usual = open_file("/dev/null", O_RDWR).has_value() && open_file("/dev/urandom", O_RDONLY).has_value();
    return denied && other && usual ? 0 : 1;
  });
  EXPECT_EQ(exit_of(pid), 0);
  EXPECT_TRUE((*group)->remove().has_value());
  tree.remove_root();
}

// The second branch alone, as on a machine without v2.
class LegacyCgroups : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const auto table = read_file("/proc/self/mounts");
    auto mounts = CgroupTree::Mounts::read(*table);
    mounts.unified.clear();
    if (!mounts.legacy.contains("freezer")) GTEST_SKIP() << "this machine has no v1 freezer";
    tree_ = CgroupTree::on(mounts, "drover-test/legacy-" + std::to_string(::getpid()));
  }
  void TearDown() override { tree_.remove_root(); }

  CgroupTree tree_ = CgroupTree::without("not yet");
};

TEST_F(LegacyCgroups, DeniedDevicesCannotBeOpenedAndTheUsualOnesCan) {
  EXPECT_EQ(tree_.backend(), Backend::v1);
  auto group = tree_.create("1.0", {.denied = {{.major = 1, .minor = 8}}});
  ASSERT_TRUE(group.has_value()) << group.error().message;
  const pid_t pid = inside(**group, [] {
    const bool random = open_file("/dev/random", O_RDONLY).has_value();
    return (random ? 1 : 0) + (open_file("/dev/urandom", O_RDONLY).has_value() ? 0 : 2);
  });
  EXPECT_EQ(exit_of(pid), 0);
  EXPECT_TRUE((*group)->remove().has_value());
}

TEST_F(LegacyCgroups, AFamilyThatForksAllTheTimeIsKilledWhole) {
  auto group = tree_.create("1.0", {.pids = 30});
  ASSERT_TRUE(group.has_value()) << group.error().message;
  const pid_t pid = inside(**group, [] {
    for (;;) {
      if (::fork() < 0) ::usleep(100);
    }
    return 0;
  });
  ::usleep(50'000);
  EXPECT_GT((*group)->processes().size(), 5U);
  for (int i = 0; i < 100 && !(*group)->empty(); ++i) {
    (*group)->kill_all();
    ::usleep(1000);
  }
  EXPECT_TRUE((*group)->empty());
  EXPECT_EQ(exit_of(pid), 128 + SIGKILL);
  EXPECT_GT((*group)->usage().cpu_us, 0);
  EXPECT_TRUE((*group)->remove().has_value());
}

TEST_F(LegacyCgroups, MemoryIsLimitedAndItsEndIsCounted) {
  auto group = tree_.create("1.0", {.memory_bytes = 16 << 20, .cpus = {0}});
  ASSERT_TRUE(group.has_value()) << group.error().message;
  const pid_t pid = inside(**group, [] {
    std::vector<std::string> hoard;
    for (int i = 0; i < 100; ++i) hoard.emplace_back(1 << 20, 'x');
    return 0;
  });
  EXPECT_EQ(exit_of(pid), 128 + SIGKILL);
  EXPECT_EQ((*group)->usage().oom_kills, 1);
  EXPECT_TRUE((*group)->remove().has_value());
}

}  // namespace
}  // namespace drover::agent
