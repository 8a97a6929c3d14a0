#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "agent/probe/device.h"
#include "agent/probe/host.h"
#include "os/temp_folder.h"

namespace drover::agent {
namespace {

// A library of two linked cards, the faster one first, a third that has fallen off the bus, and a
// fourth that is cut into one slice.
struct PlayedCard {
  const char* uuid;
  const char* name;
  const char* bus_id;
  unsigned minor;
  const char* linked_to;
  bool answers;
  bool cut;
};
constexpr std::array<PlayedCard, 5> kCards{{
    {"GPU-fast", "NVIDIA H100", "00000000:AF:00.0", 1, "00000000:3B:00.0", true, false},
    {"GPU-slow", "Tesla T4", "00000000:3B:00.0", 0, "00000000:AF:00.0", true, false},
    {"GPU-gone", "Tesla T4", "00000000:5E:00.0", 2, "", false, false},
    {"GPU-cut", "NVIDIA A100-SXM4-40GB", "00000000:D8:00.0", 3, "", true, true},
    {"MIG-one", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "", 0, "", true, false},
}};
const PlayedCard& card(void* handle) { return kCards.at(reinterpret_cast<std::uintptr_t>(handle) - 1); }
void* handle_of(std::size_t i) { return reinterpret_cast<void*>(i + 1); }  // NOLINT
void copy(char* target, unsigned size, const char* text) { std::strncpy(target, text, size); }
struct Pci {
  std::array<char, 16> legacy{};
  std::array<unsigned, 5> numbers{};
  std::array<char, 32> bus_id{};
};

int init() { return 0; }
int count(unsigned* n) { *n = 4; return 0; }
int by_index(unsigned i, void** handle) { *handle = handle_of(i); return kCards.at(i).answers ? 0 : 15; }
int uuid(void* h, char* to, unsigned size) { copy(to, size, card(h).uuid); return 0; }
int name(void* h, char* to, unsigned size) { copy(to, size, card(h).name); return 0; }
int memory(void* h, unsigned long long* sizes) {
  sizes[0] = card(h).bus_id[0] == '\0' ? 5ULL << 30 : 40ULL << 30;
  return 0;
}
int pci(void* h, Pci* to) { copy(to->bus_id.data(), 32, card(h).bus_id); return 0; }
int minor_number(void* h, unsigned* n) { *n = card(h).minor; return 0; }
int compute(void*, int* major, int* minor) { *major = 8; *minor = 6; return 0; }
int link_state(void* h, unsigned link, unsigned* on) {
  *on = link < 2 && card(h).linked_to[0] != '\0' ? 1 : 0;
  return 0;
}
int link_remote(void* h, unsigned, Pci* to) { copy(to->bus_id.data(), 32, card(h).linked_to); return 0; }
int mig_mode(void* h, unsigned* now, unsigned* later) { *now = *later = card(h).cut ? 1 : 0; return 0; }
int mig_count(void*, unsigned* n) { *n = 7; return 0; }
int mig_by_index(void*, unsigned i, void** handle) { *handle = handle_of(4); return i == 0 ? 0 : 6; }

template <class Function>
void* address(Function* function) { return reinterpret_cast<void*>(function); }

void* played(const char* wanted) {
  const std::map<std::string, void*> all{
      {"nvmlInit_v2", address(init)}, {"nvmlShutdown", address(init)}, {"nvmlDeviceGetCount_v2", address(count)},
      {"nvmlDeviceGetHandleByIndex_v2", address(by_index)}, {"nvmlDeviceGetUUID", address(uuid)},
      {"nvmlDeviceGetName", address(name)}, {"nvmlDeviceGetMemoryInfo", address(memory)},
      {"nvmlDeviceGetPciInfo_v3", address(pci)}, {"nvmlDeviceGetMinorNumber", address(minor_number)},
      {"nvmlDeviceGetCudaComputeCapability", address(compute)}, {"nvmlDeviceGetNvLinkState", address(link_state)},
      {"nvmlDeviceGetNvLinkRemotePciInfo_v2", address(link_remote)}, {"nvmlDeviceGetMigMode", address(mig_mode)},
      {"nvmlDeviceGetMaxMigDeviceCount", address(mig_count)},
      {"nvmlDeviceGetMigDeviceHandleByIndex", address(mig_by_index)}};
  const auto it = all.find(wanted);
  return it == all.end() ? nullptr : it->second;
}

TEST(Nvidia, CardsAreNumberedInTheOrderOfTheirBusAddresses) {
  const auto probe = probe_nvidia(played);
  ASSERT_TRUE(probe.has_value()) << probe.error().message;
  ASSERT_EQ(probe->devices.size(), 3U);
  const DeviceInfo& slow = probe->devices[0];
  EXPECT_EQ(slow.uuid, "GPU-slow");
  EXPECT_EQ(slow.index, 0);
  EXPECT_EQ(slow.files, std::vector<std::string>{"/dev/nvidia0"});
  EXPECT_EQ(slow.memory_bytes, 40LL << 30);
  EXPECT_EQ(slow.nvlink_peers, std::vector<std::string>{"GPU-fast"});
  EXPECT_EQ(slow.compute_major, 8);
  EXPECT_FALSE(slow.declared);
  EXPECT_EQ(probe->devices[1].uuid, "GPU-fast");
  EXPECT_EQ(probe->devices[1].index, 1);
}

TEST(Nvidia, ACardThatDoesNotAnswerIsAFaultAndTheOthersStay) {
  const auto probe = probe_nvidia(played);
  EXPECT_EQ(probe->faults, std::vector<std::string>{"NVIDIA card 2 doesn't answer."});
}

TEST(Nvidia, ACardThatIsCutIsOfferedAsItsSlices) {
  const auto probe = probe_nvidia(played);
  const DeviceInfo& slice = probe->devices[2];
  EXPECT_EQ(slice.uuid, "MIG-one");
  EXPECT_EQ(slice.parent, "GPU-cut");
  EXPECT_EQ(slice.mig_profile, "1g.5gb");
  EXPECT_EQ(slice.memory_bytes, 5LL << 30);
}

TEST(Nvidia, ALibraryThatLacksAFunctionIsRefused) {
  const auto probe = probe_nvidia([](const char* wanted) {
    return std::strcmp(wanted, "nvmlDeviceGetUUID") == 0 ? nullptr : played(wanted);
  });
  EXPECT_EQ(probe.error().code, Errc::unavailable);
}

TEST(Nvidia, TheRealLibraryAnswersOrIsMissing) {
  const auto probe = probe_nvidia();
  if (!probe) GTEST_SKIP() << probe.error().message;
  for (const DeviceInfo& device : probe->devices) {
    EXPECT_FALSE(device.uuid.empty());
    EXPECT_GT(device.memory_bytes, 0);
    EXPECT_TRUE(device_nodes(device.files).has_value());
  }
}

TEST(Declared, DevicesGetNamesAndTheirFilesMustBeDevices) {
  const auto devices = declare_devices("n1", {{.model = "A100", .files = {"/dev/null"}}, {.uuid = "mine"}});
  ASSERT_TRUE(devices.has_value()) << devices.error().message;
  EXPECT_EQ((*devices)[0].uuid, "declared-n1-0");
  EXPECT_TRUE((*devices)[0].declared);
  EXPECT_EQ((*devices)[1].uuid, "mine");
  EXPECT_EQ((*devices)[1].index, 1);
  EXPECT_EQ(declare_devices("n1", {{.files = {"/etc/passwd"}}}).error().code, Errc::invalid);
  EXPECT_EQ(declare_devices("n1", {{.files = {"/dev/no-such"}}}).error().code, Errc::not_found);
  EXPECT_EQ(declare_devices("n1", {{.uuid = "a"}, {.uuid = "a"}}).error().code, Errc::invalid);
}

TEST(Host, ThisMachineIsDescribed) {
  const HostInfo host = probe_host();
  EXPECT_FALSE(host.hostname.empty());
  EXPECT_FALSE(host.kernel.empty());
  EXPECT_EQ(host.boot_id.size(), 36U);
  EXPECT_GT(host.memory_bytes, 0);
  EXPECT_GT(host.memory_available, 0);
  EXPECT_GT(host.booted, Instant{});
  EXPECT_FALSE(host.cpus.empty());
}

TEST(Host, SocketsCoresAndThreadsAreCounted) {
  const TempFolder root;
  const auto put = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root.path(path)).parent_path());
    std::ofstream(root.path(path)) << text;
  };
  put("sys/devices/system/cpu/online", "0-7\n");
  for (int cpu = 0; cpu < 8; ++cpu) {
    const std::string at = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    put(at + "physical_package_id", std::to_string(cpu / 4) + "\n");
    put(at + "core_id", std::to_string(cpu % 4 / 2) + "\n");
  }
  put("proc/meminfo", "MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    500 kB\n");
  put("proc/loadavg", "12.34 0.58 0.59 1/123 456\n");
  const HostInfo host = probe_host(root.path());
  EXPECT_EQ(host.sockets, 2);
  EXPECT_EQ(host.cores_per_socket, 2);
  EXPECT_EQ(host.threads_per_core, 2);
  EXPECT_EQ(host.memory_bytes, 1'024'000);
  EXPECT_EQ(host.memory_available, 512'000);
  EXPECT_EQ(host.load_centi, 1234);
}

}  // namespace
}  // namespace drover::agent
