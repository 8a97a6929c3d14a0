#include "cli/containerd.h"

#include <unistd.h>

#include <thread>

#include "native/discovery.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"

namespace drover::cli {
namespace {

constexpr const char* kProgram = "/usr/bin/containerd";
constexpr const char* kClient = "/usr/bin/ctr";
constexpr Duration kSocketPatience = seconds(20);

Result<std::string> folder_of(const Place& place) {
  const auto paths = TRY(native::node_paths(native::Surroundings::here(), place.state(), "containerd"));
  return paths.folder;
}

// Without a registry and without networks of pods' own, whatever the machine's cgroups look like.
std::string configuration(const std::string& root, const std::string& folder) {
  return "# Written by `drover up`.\n"
         "version = 2\n"
         "root = '" + root + "'\n"
         "state = '" + folder + "'\n"
         "disabled_plugins = ['io.containerd.internal.v1.opt', 'io.containerd.snapshotter.v1.aufs',\n"
         "  'io.containerd.snapshotter.v1.btrfs', 'io.containerd.snapshotter.v1.zfs',\n"
         "  'io.containerd.snapshotter.v1.devmapper']\n"
         "[grpc]\n"
         "address = '" + folder + "/containerd.sock'\n"
         "[plugins.'io.containerd.grpc.v1.cri']\n"
         "sandbox_image = 'local.drover/pause:1'\n"
         "disable_apparmor = true\n"
         "restrict_oom_score_adj = true\n"
         "stream_server_address = '127.0.0.1'\n"
         "[plugins.'io.containerd.grpc.v1.cri'.cni]\n"
         "bin_dir = '/usr/lib/cni'\n"
         "conf_dir = '" + root + "/cni'\n"
         "[plugins.'io.containerd.grpc.v1.cri'.containerd]\n"
         "snapshotter = 'overlayfs'\n"
         "[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc]\n"
         "runtime_type = 'io.containerd.runc.v2'\n"
         "[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options]\n"
         "SystemdCgroup = false\n";
}

}  // namespace

Result<std::string> own_containerd(const Place& place) { return TRY(folder_of(place)) + "/containerd.sock"; }

Result<std::string> find_containerd(const Place& place) {
  const auto own = own_containerd(place);
  if (own && file_exists(*own)) return *own;
  if (file_exists(kMachinesContainerd)) return std::string(kMachinesContainerd);
  return Error{Errc::not_found, std::string("no containerd runs here: neither one of the cluster's own (start it with "
                                            "`drover up --pods`) nor the machine's at ") + kMachinesContainerd};
}

Result<DaemonSpec> prepare_containerd(const Place& place) {
  if (::geteuid() != 0) return Error{Errc::denied, "containers need root: start `drover up --pods` as root"};
  for (const char* program : {kProgram, "/usr/sbin/runc", kClient}) {
    if (::access(program, X_OK) == 0) continue;
    return Error{Errc::not_found, std::string(program) + " is missing: pods need the packages containerd and runc"};
  }
  const std::string folder = TRY(folder_of(place));
  const std::string root = place.state() + "/containerd";
  TRY(make_folders(folder, 0711));
  TRY(make_folders(root, 0711));
  const std::string file = root + "/config.toml";
  TRY(write_file_durably(file, configuration(root, folder), 0644));
  return DaemonSpec{.name = "containerd", .argv = {kProgram, "-c", file}, .log = place.log_of("containerd")};
}

Status load_sandbox_image(const std::string& socket, const std::string& log) {
  const std::string image = program_folder() + "/drover-pause.tar";
  if (!file_exists(image)) return Error{Errc::not_found, image + ": missing; it belongs beside drover"};
  const Duration end = since_boot() + kSocketPatience;
  while (!file_exists(socket)) {
    if (since_boot() > end) return Error{Errc::unavailable, "containerd doesn't start; see " + log};
    std::this_thread::sleep_for(Duration(50));
  }
  const pid_t loading = TRY(spawn({kClient, "-a", socket, "-n", "k8s.io", "images", "import", image}, log));
  const int code = TRY(wait_for(loading));
  if (code == 0) return Done{};
  return Error{Errc::unavailable, "the image of sandboxes can't be loaded; see " + log};
}

}  // namespace drover::cli
