// NVIDIA's management library, loaded when it is there; these few declarations are all we need of it.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "agent/probe/device.h"
#include "base/text.h"
#include "os/file.h"

namespace drover::agent {
namespace {

using Handle = struct OpaqueDevice*;
struct MemoryInfo {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};
struct PciInfo {
  std::array<char, 16> legacy_bus_id{};
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned device_id = 0;
  unsigned subsystem_id = 0;
  std::array<char, 32> bus_id{};
};
constexpr int kSuccess = 0;
constexpr unsigned kLinks = 18;
constexpr unsigned kTextSize = 96;

struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, Handle*) = nullptr;
  int (*uuid)(Handle, char*, unsigned) = nullptr;
  int (*name)(Handle, char*, unsigned) = nullptr;
  int (*memory)(Handle, MemoryInfo*) = nullptr;
  int (*pci)(Handle, PciInfo*) = nullptr;
  int (*minor_number)(Handle, unsigned*) = nullptr;
  int (*compute)(Handle, int*, int*) = nullptr;
  // Missing in old libraries.
  int (*link_state)(Handle, unsigned, unsigned*) = nullptr;
  int (*link_remote)(Handle, unsigned, PciInfo*) = nullptr;
  int (*mig_mode)(Handle, unsigned*, unsigned*) = nullptr;
  int (*mig_count)(Handle, unsigned*) = nullptr;
  int (*mig_by_index)(Handle, unsigned, Handle*) = nullptr;
  int (*mig_instance)(Handle, unsigned*) = nullptr;
  int (*mig_compute_instance)(Handle, unsigned*) = nullptr;
};

template <class Function>
bool take(const Symbols& symbols, const char* name, Function*& target) {
  target = reinterpret_cast<Function*>(symbols(name));
  return target != nullptr;
}

Result<Nvml> load(const Symbols& symbols) {
  Nvml nvml;
  const bool good = take(symbols, "nvmlInit_v2", nvml.init) && take(symbols, "nvmlShutdown", nvml.shutdown) &&
                    take(symbols, "nvmlDeviceGetCount_v2", nvml.count) &&
                    take(symbols, "nvmlDeviceGetHandleByIndex_v2", nvml.by_index) &&
                    take(symbols, "nvmlDeviceGetUUID", nvml.uuid) && take(symbols, "nvmlDeviceGetName", nvml.name) &&
                    take(symbols, "nvmlDeviceGetMemoryInfo", nvml.memory) &&
                    take(symbols, "nvmlDeviceGetPciInfo_v3", nvml.pci) &&
                    take(symbols, "nvmlDeviceGetMinorNumber", nvml.minor_number) &&
                    take(symbols, "nvmlDeviceGetCudaComputeCapability", nvml.compute);
  if (!good) return Error{Errc::unavailable, "libnvidia-ml.so.1 is too old: it lacks a function"};
  take(symbols, "nvmlDeviceGetNvLinkState", nvml.link_state);
  take(symbols, "nvmlDeviceGetNvLinkRemotePciInfo_v2", nvml.link_remote);
  take(symbols, "nvmlDeviceGetMigMode", nvml.mig_mode);
  take(symbols, "nvmlDeviceGetMaxMigDeviceCount", nvml.mig_count);
  take(symbols, "nvmlDeviceGetMigDeviceHandleByIndex", nvml.mig_by_index);
  take(symbols, "nvmlDeviceGetGpuInstanceId", nvml.mig_instance);
  take(symbols, "nvmlDeviceGetComputeInstanceId", nvml.mig_compute_instance);
  return nvml;
}

std::string text_of(int (*ask)(Handle, char*, unsigned), Handle device) {
  std::array<char, kTextSize> text{};
  if (ask(device, text.data(), kTextSize) != kSuccess) return {};
  text.back() = '\0';
  return text.data();
}

std::string bus_id_of(const PciInfo& info) {
  const auto end = std::find(info.bus_id.begin(), info.bus_id.end(), '\0');
  return {info.bus_id.begin(), end};
}

// "00000000:3B:00.0" stands in /sys as "0000:3b:00.0".
std::int32_t numa_node_of(const std::string& bus_id) {
  if (bus_id.size() < 12) return -1;
  const auto text = read_file("/sys/bus/pci/devices/" + lower(bus_id.substr(bus_id.size() - 12)) + "/numa_node");
  return text ? static_cast<std::int32_t>(parse_int(trim(*text)).value_or(-1)) : -1;
}

// A number of "DeviceFileMinor: 12" in the driver's list of MIG capabilities, "" when it isn't there.
std::string capability_file(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return {};
  for (const std::string_view line : split(*text, '\n')) {
    constexpr std::string_view kStart = "DeviceFileMinor:";
    if (line.starts_with(kStart)) return "/dev/nvidia-caps/nvidia-cap" + std::string(trim(line.substr(kStart.size())));
  }
  return {};
}

class Probing {
 public:
  explicit Probing(const Nvml& nvml) : nvml_(nvml) {}

  Result<DeviceProbe> run() {
    unsigned count = 0;
    if (nvml_.count(&count) != kSuccess) return Error{Errc::unavailable, "NVML doesn't say how many cards there are"};
    for (unsigned i = 0; i < count; ++i) probe_card(i);
    std::sort(cards_.begin(), cards_.end(),
              [](const Card& a, const Card& b) { return a.info.pci_bus_id < b.info.pci_bus_id; });
    for (Card& card : cards_) find_peers(card);
    std::int32_t index = 0;
    for (Card& card : cards_) {
      card.info.index = index++;
      std::vector<DeviceInfo> slices = slices_of(card);
      // A card that is cut up is used through its slices alone.
      if (!card.cut) probe_.devices.push_back(std::move(card.info));
      for (DeviceInfo& slice : slices) probe_.devices.push_back(std::move(slice));
    }
    return std::move(probe_);
  }

 private:
  struct Card {
    Handle handle = nullptr;
    unsigned minor = 0;
    bool cut = false;
    DeviceInfo info;
  };

  void probe_card(unsigned number) {
    Card card;
    PciInfo pci;
    MemoryInfo memory;
    const bool good = nvml_.by_index(number, &card.handle) == kSuccess && nvml_.pci(card.handle, &pci) == kSuccess &&
                      nvml_.memory(card.handle, &memory) == kSuccess &&
                      nvml_.minor_number(card.handle, &card.minor) == kSuccess;
    if (good) card.info.uuid = text_of(nvml_.uuid, card.handle);
    if (card.info.uuid.empty()) {
      probe_.faults.push_back("NVIDIA card " + std::to_string(number) + " doesn't answer.");
      return;
    }
    card.info.model = text_of(nvml_.name, card.handle);
    card.info.memory_bytes = static_cast<std::int64_t>(memory.total);
    card.info.pci_bus_id = bus_id_of(pci);
    card.info.numa_node = numa_node_of(card.info.pci_bus_id);
    card.info.files = {"/dev/nvidia" + std::to_string(card.minor)};
    int major = 0;
    int minor = 0;
    if (nvml_.compute(card.handle, &major, &minor) == kSuccess) {
      card.info.compute_major = major;
      card.info.compute_minor = minor;
    }
    unsigned pending = 0;
    unsigned current = 0;
    card.cut = nvml_.mig_mode != nullptr && nvml_.mig_mode(card.handle, &current, &pending) == kSuccess && current == 1;
    cards_.push_back(std::move(card));
  }

  void find_peers(Card& card) const {
    if (nvml_.link_state == nullptr || nvml_.link_remote == nullptr) return;
    for (unsigned link = 0; link < kLinks; ++link) {
      unsigned active = 0;
      PciInfo remote;
      if (nvml_.link_state(card.handle, link, &active) != kSuccess || active == 0 ||
          nvml_.link_remote(card.handle, link, &remote) != kSuccess) {
        continue;
      }
      for (const Card& other : cards_) {
        auto& peers = card.info.nvlink_peers;
        const bool known = std::find(peers.begin(), peers.end(), other.info.uuid) != peers.end();
        if (!known && iequals(other.info.pci_bus_id, bus_id_of(remote))) peers.push_back(other.info.uuid);
      }
    }
  }

  std::vector<DeviceInfo> slices_of(const Card& card) const {
    std::vector<DeviceInfo> slices;
    unsigned most = 0;
    if (!card.cut || nvml_.mig_count == nullptr || nvml_.mig_by_index == nullptr ||
        nvml_.mig_count(card.handle, &most) != kSuccess) {
      return slices;
    }
    for (unsigned i = 0; i < most; ++i) {
      Handle handle = nullptr;
      if (nvml_.mig_by_index(card.handle, i, &handle) != kSuccess) continue;  // a free place
      DeviceInfo slice = card.info;
      slice.parent = card.info.uuid;
      slice.uuid = text_of(nvml_.uuid, handle);
      slice.model = text_of(nvml_.name, handle);
      slice.nvlink_peers.clear();
      // "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
      const auto mark = slice.model.rfind(" MIG ");
      if (mark != std::string::npos) slice.mig_profile = slice.model.substr(mark + 5);
      MemoryInfo memory;
      if (nvml_.memory(handle, &memory) == kSuccess) slice.memory_bytes = static_cast<std::int64_t>(memory.total);
      add_capabilities(card.minor, handle, slice);
      if (!slice.uuid.empty()) slices.push_back(std::move(slice));
    }
    return slices;
  }

  void add_capabilities(unsigned card_minor, Handle handle, DeviceInfo& slice) const {
    unsigned instance = 0;
    unsigned compute = 0;
    if (nvml_.mig_instance == nullptr || nvml_.mig_compute_instance == nullptr ||
        nvml_.mig_instance(handle, &instance) != kSuccess || nvml_.mig_compute_instance(handle, &compute) != kSuccess) {
      return;
    }
    const std::string base = "/proc/driver/nvidia/capabilities/gpu" + std::to_string(card_minor) + "/mig/gi" +
                             std::to_string(instance);
    for (const std::string& path : {base + "/access", base + "/ci" + std::to_string(compute) + "/access"}) {
      if (std::string file = capability_file(path); !file.empty()) slice.files.push_back(std::move(file));
    }
  }

  Nvml nvml_;
  DeviceProbe probe_;
  std::vector<Card> cards_;
};

}  // namespace

Result<DeviceProbe> probe_nvidia(const Symbols& symbols) {
  const Nvml nvml = TRY(load(symbols));
  if (nvml.init() != kSuccess) return Error{Errc::unavailable, "NVML doesn't start: is the NVIDIA driver loaded?"};
  auto probe = Probing(nvml).run();
  nvml.shutdown();
  return probe;
}

Result<DeviceProbe> probe_nvidia() {
  void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Error{Errc::not_found, "there is no libnvidia-ml.so.1"};
  auto probe = probe_nvidia([library](const char* name) { return ::dlsym(library, name); });
  ::dlclose(library);
  return probe;
}

}  // namespace drover::agent
