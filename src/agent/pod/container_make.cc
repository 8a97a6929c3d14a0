// How one container of a pod comes to run: its image, its mounts, its start.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "agent/pod/backoff.h"
#include "agent/pod/environment.h"
#include "agent/pod/log.h"
#include "agent/pod/pod.h"
#include "agent/pod/volume.h"
#include "base/text.h"
#include "os/file.h"

namespace drover::agent {
namespace {

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

// Why an image's own user won't do for a container that must not be root.
std::string why_not_user(const PodSecurity& security, const ImageFound& image) {
  if (!security.must_not_be_root) return {};
  if (security.user) return *security.user == 0 ? "container's runAsUser breaks non-root policy" : std::string{};
  if (image.user) return *image.user == 0 ? "container has runAsNonRoot and image will run as root" : std::string{};
  if (image.user_name.empty() || image.user_name == "root") {
    return "container has runAsNonRoot and image will run as root";
  }
  return "container has runAsNonRoot and image has non-numeric user (" + image.user_name +
         "), cannot verify user is non-root";
}

// Copies: it is looked at on a worker's thread.
struct MountWish {
  PodContainer container;
  std::vector<PodVolume> volumes;  // without the bytes of their files
  PodFolder folder;
  std::size_t index = 0;
  std::uint32_t run = 0;
};

Result<std::vector<BindMount>> mounts_of(const MountWish& wish) {
  const PodContainer& container = wish.container;
  std::vector<BindMount> all;
  bool hosts = false;
  int parts = 0;
  for (const PodMount& mount : container.mounts) {
    const auto volume = std::ranges::find(wish.volumes, mount.volume, &PodVolume::name);
    if (volume == wish.volumes.end()) return Error{Errc::not_found, "no volume " + printable(mount.volume)};
    if (!mount.path.starts_with('/')) return Error{Errc::invalid, "bad path of a mount: " + printable(mount.path)};
    std::string source = volume_path(*volume, wish.folder);
    if (!mount.sub_path.empty()) {
      std::string target = wish.folder.subpaths() + "/" + std::to_string(wish.index) + "-" +
                           std::to_string(wish.run) + "/" + std::to_string(parts++);
      TRY(bind_part(source, mount.sub_path, target));
      source = std::move(target);
    }
    hosts = hosts || mount.path == "/etc/hosts";
    all.push_back({.source = std::move(source), .target = mount.path, .read_only = mount.read_only ||
                   volume->kind == VolumeKind::files});
  }
  TRY(make_folders(wish.folder.logs() + "/" + container.name, 0700));
  if (!hosts) all.push_back({.source = wish.folder.hosts(), .target = "/etc/hosts"});
  if (!container.message_path.empty()) {
    const std::string file = wish.folder.message(container.name, wish.run);
    TRY(make_folders(file.substr(0, file.rfind('/')), 0711));
    const Fd made = TRY(open_file(file, O_RDWR | O_CREAT, 0666));
    [[maybe_unused]] const int opened = ::chmod(file.c_str(), 0666);  // whoever the container runs as
    all.push_back({.source = file, .target = container.message_path});
  }
  return all;
}

}  // namespace

void Pod::wait(Index i, const std::string& reason, const std::string& message) {
  ContainerState& state = status(i).state;
  if (state.phase == ContainerPhase::terminated) status(i).last = state;
  state = {.reason = reason, .message = message};
}

void Pod::tend(Index i) {
  if (present_[i].busy) return;
  switch (record_.containers[i].stage) {
    case Stage::idle:
      if (now().boot >= record_.containers[i].retry_at) begin(i);
      break;
    case Stage::creating: break;  // of an earlier agent: see(Inventory) settles it
    case Stage::running: supervise(i); break;
    case Stage::exited: judge(i); break;
    case Stage::done: break;
  }
}

// ---- its image ----

void Pod::begin(Index i) {
  const PodContainer& container = spec(i);
  if (!container.error.empty()) return cannot_make(i, "CreateContainerConfigError", container.error);
  present_[i].busy = true;
  const auto pulled = [this, i](const Result<ImageFound>& image) {
    present_[i].busy = false;
    if (!image) return cannot_get_image(i, "ErrImagePull", image.error().message);
    note("Pulled", "Successfully pulled image " + quoted(spec(i).image), spec(i).name);
    with_image(i, *image);
  };
  runtime()->find_image(container.image, then<std::optional<ImageFound>>([this, i, pulled](const auto& found) {
    present_[i].busy = false;
    if (record_.ending) return turn();
    const PodContainer& wanted = spec(i);
    if (!found && found.error().code == Errc::invalid) {
      return cannot_get_image(i, "InvalidImageName", "Failed to apply default image tag " + quoted(wanted.image) +
                                                         ": couldn't parse image name: " + found.error().message);
    }
    if (!found) return cannot_get_image(i, "ImageInspectError", found.error().message);
    if (*found && wanted.pull != PullPolicy::always) {
      if (wanted.image != "host") {
        note("Pulled", "Container image " + quoted(wanted.image) + " already present on machine", wanted.name);
      }
      return with_image(i, **found);
    }
    if (wanted.pull == PullPolicy::never) {
      return cannot_get_image(i, "ErrImageNeverPull", "Container image " + quoted(wanted.image) +
                                                          " is not present with pull policy of Never");
    }
    note("Pulling", "Pulling image " + quoted(wanted.image), wanted.name);
    present_[i].busy = true;
    runtime()->pull_image(wanted.image, then<ImageFound>(pulled));
  }));
}

void Pod::cannot_get_image(Index i, const std::string& reason, const std::string& message) {
  ContainerRecord& record = record_.containers[i];
  const std::string image = quoted(spec(i).image);
  record.retry_at = now().boot + backoff_after(++record.failures);
  const bool pull = reason == "ErrImagePull";
  note("Failed", pull ? "Failed to pull image " + image + ": " + message : message, spec(i).name, true);
  note("Failed", "Error: " + reason, spec(i).name, true);
  if (pull && record.failures > 1) {
    note("BackOff", "Back-off pulling image " + image, spec(i).name);
    wait(i, "ImagePullBackOff", "Back-off pulling image " + image + ": " + message);
  } else {
    wait(i, reason, message);
  }
  turn();
}

void Pod::cannot_make(Index i, const std::string& reason, const std::string& message) {
  ContainerRecord& record = record_.containers[i];
  record.stage = Stage::idle;
  record.retry_at = now().boot + backoff_after(++record.failures);
  if (status(i).state.reason != reason || status(i).state.message != message) {
    note("Failed", "Error: " + message, spec(i).name, true);
  }
  wait(i, reason, message);
  publish();
}

// ---- its making ----

void Pod::with_image(Index i, const ImageFound& image) {
  if (record_.ending) return turn();
  if (const std::string why = why_not_user(spec(i).security, image); !why.empty()) {
    return cannot_make(i, "CreateContainerConfigError", why);
  }
  status(i).image_id = image.digest.empty() ? image.id : image.digest;
  ContainerRecord& record = record_.containers[i];
  record.run = record.next_run++;
  record.stage = Stage::creating;
  record.id.clear();
  record.hooked = spec(i).after_start.empty();
  record.startup_passed = false;
  present_[i] = Present{.busy = true};
  save();  // whoever comes after us knows that this run may be there
  ContainerSpec wanted = container_spec(i, image);
  MountWish wish{.container = spec(i), .folder = folder_, .index = i, .run = record.run};
  for (const PodVolume& volume : launch_->volumes) {
    wish.volumes.push_back({.name = volume.name, .kind = volume.kind, .host_path = volume.host_path});
  }
  site_.workers->ask<std::vector<BindMount>>(
      [wish = std::move(wish)] { return mounts_of(wish); },
      then<std::vector<BindMount>>([this, i, wanted](Result<std::vector<BindMount>> mounted) {
        present_[i].busy = false;
        if (!mounted) return cannot_make(i, "CreateContainerConfigError", mounted.error().message);
        ContainerSpec complete = wanted;
        complete.mounts = *std::move(mounted);
        make(i, std::move(complete));
      }));
}

ContainerSpec Pod::container_spec(Index i, const ImageFound& image) const {
  const PodContainer& container = spec(i);
  const std::vector<DeviceInfo> devices = site_.devices(container.device_uuids);
  ContainerSpec wanted{.sandbox = sandbox_spec(),
                       .sandbox_id = record_.sandbox.id,
                       .index = i,
                       .name = container.name,
                       .run = record_.containers[i].run,
                       .image = image.id,
                       .command = container.command,
                       .arguments = container.arguments,
                       .work_dir = container.work_dir,
                       .environment = container_environment(container, devices),
                       .device_uuids = container.device_uuids,
                       .pod_device_uuids = record_.device_uuids,
                       .cpus = record_.cpus,
                       .cpu_request_milli = container.cpu_request_milli,
                       .cpu_limit_milli = container.cpu_limit_milli,
                       .memory_limit = container.memory_limit.count(),
                       .security = container.security,
                       .user = launch_->user,
                       .group = launch_->group,
                       .groups = launch_->more_groups,
                       .input = container.input,
                       .input_once = container.input_once,
                       .terminal = container.terminal,
                       .log_path = PodFolder::log(container.name, record_.containers[i].run)};
  if (launch_->fs_group) wanted.groups.push_back(static_cast<std::uint32_t>(*launch_->fs_group));
  for (const DeviceInfo& device : devices) {
    wanted.devices.insert(wanted.devices.end(), device.files.begin(), device.files.end());
  }
  const bool named = std::ranges::any_of(wanted.environment, [](const auto& v) { return v.starts_with("HOSTNAME="); });
  if (!named && !launch_->host_name.empty()) wanted.environment.push_back("HOSTNAME=" + launch_->host_name);
  return wanted;
}

void Pod::make(Index i, ContainerSpec wanted) {
  if (record_.ending) {
    record_.containers[i].stage = Stage::idle;
    return turn();
  }
  present_[i].busy = true;
  runtime()->create(wanted, then<std::string>([this, i](const Result<std::string>& id) {
    present_[i].busy = false;
    if (!id) {
      if (id.error().code == Errc::not_found) record_.sandbox = {};  // somebody has removed it
      return cannot_make(i, "CreateContainerError", id.error().message);
    }
    record_.containers[i].id = *id;
    note("Created", "Created container " + spec(i).name, spec(i).name);
    present_[i].busy = true;
    runtime()->start(*id, then<Done>([this, i, made = *id](const Status& answer) {
      present_[i].busy = false;
      if (answer) return started(i);
      note("Failed", "Error: " + answer.error().message, spec(i).name, true);
      ContainerSeen failed{.id = made, .phase = RunPhase::exited, .finished = now().wall, .exit_code = 128,
                           .message = answer.error().message};
      exited(i, failed);
      status(i).state.reason = "StartError";
      turn();
    }));
  }));
}

// Of a container that restarts for ever only the last two runs' logs are kept.
void Pod::drop_old_log(Index i) {
  const auto old = record_.containers[i].started_before;
  if (!old) return;
  for (const std::string& file : log_files(folder_.logs() + "/" + PodFolder::log(spec(i).name, *old))) {
    [[maybe_unused]] const Status gone = remove_file(file);
  }
}

void Pod::started(Index i) {
  ContainerRecord& record = record_.containers[i];
  record.stage = Stage::running;
  record.failures = 0;
  drop_old_log(i);
  record.started_before = record.last_started;
  record.last_started = record.run;
  ContainerStatus& mine = status(i);
  if (mine.state.phase == ContainerPhase::terminated) mine.last = mine.state;
  if (mine.last) ++mine.restarts;
  mine.state = {.phase = ContainerPhase::running, .started = now().wall};
  mine.container_id = runtime()->scheme() + "://" + record.id;
  mine.started = false;
  note("Started", "Started container " + spec(i).name, spec(i).name);
  if (!record_.started) {
    record_.started = true;
    record_.started_at = now().wall;
    record_.began = now().boot;
    site_.report(ReportStarted{.job = record_.job, .attempt = record_.attempt, .at = record_.started_at});
  }
  save();
  turn();
}

}  // namespace drover::agent
