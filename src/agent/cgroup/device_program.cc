#include "agent/cgroup/device_program.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "os/file.h"

namespace drover::agent {
namespace {

constexpr std::uint8_t kContext = BPF_REG_1;
constexpr std::uint8_t kType = BPF_REG_2;
constexpr std::uint8_t kMajor = BPF_REG_4;
constexpr std::uint8_t kMinor = BPF_REG_5;

bpf_insn instruction(int code, std::uint8_t to, std::uint8_t from, std::int16_t offset, std::uint32_t value) {
  bpf_insn one{};
  one.code = static_cast<std::uint8_t>(code);
  one.dst_reg = to & 0xFU;
  one.src_reg = from & 0xFU;
  one.off = offset;
  one.imm = static_cast<std::int32_t>(value);
  return one;
}

bpf_insn load(std::uint8_t to, std::size_t offset) {
  return instruction(BPF_LDX | BPF_MEM | BPF_W, to, kContext, static_cast<std::int16_t>(offset), 0);
}

bpf_insn skip_unless_equal(std::uint8_t reg, std::uint32_t value, std::int16_t skipped) {
  return instruction(BPF_JMP32 | BPF_JNE | BPF_K, reg, 0, skipped, value);
}

void answer(std::vector<bpf_insn>& program, std::uint32_t allowed) {
  program.push_back(instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, allowed));
  program.push_back(instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
}

long bpf(int command, bpf_attr& attributes) {
  return ::syscall(SYS_bpf, command, &attributes, sizeof(attributes));
}

}  // namespace

std::vector<bpf_insn> device_program(const std::vector<DeviceNode>& denied) {
  std::vector<bpf_insn> program;
  program.push_back(load(kType, offsetof(bpf_cgroup_dev_ctx, access_type)));
  // The upper half says read, write or mknod; a denied device is denied all three.
  program.push_back(instruction(BPF_ALU | BPF_AND | BPF_K, kType, 0, 0, 0xFFFF));
  program.push_back(load(kMajor, offsetof(bpf_cgroup_dev_ctx, major)));
  program.push_back(load(kMinor, offsetof(bpf_cgroup_dev_ctx, minor)));
  for (const DeviceNode& device : denied) {
    program.push_back(skip_unless_equal(kType, device.block ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR, 4));
    program.push_back(skip_unless_equal(kMajor, device.major, 3));
    program.push_back(skip_unless_equal(kMinor, device.minor, 2));
    answer(program, 0);
  }
  answer(program, 1);
  return program;
}

Status deny_devices(const std::string& cgroup_path, const std::vector<DeviceNode>& denied) {
  const std::vector<bpf_insn> program = device_program(denied);
  constexpr const char* kLicense = "Apache-2.0";
  bpf_attr load_it{};
  load_it.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  load_it.insns = reinterpret_cast<std::uintptr_t>(program.data());
  load_it.insn_cnt = static_cast<std::uint32_t>(program.size());
  load_it.license = reinterpret_cast<std::uintptr_t>(kLicense);
  const Fd loaded(static_cast<int>(bpf(BPF_PROG_LOAD, load_it)));
  if (!loaded) return system_error(errno, "load the device program");
  const Fd group = TRY(open_file(cgroup_path, O_RDONLY | O_DIRECTORY));
  bpf_attr attach_it{};
  attach_it.target_fd = static_cast<std::uint32_t>(group.get());
  attach_it.attach_bpf_fd = static_cast<std::uint32_t>(loaded.get());
  attach_it.attach_type = BPF_CGROUP_DEVICE;
  attach_it.attach_flags = BPF_F_ALLOW_MULTI;
  if (bpf(BPF_PROG_ATTACH, attach_it) != 0) return system_error(errno, "attach the device program");
  return Done{};
}

}  // namespace drover::agent
