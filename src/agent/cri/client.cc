#include "agent/cri/client.h"

#include <utility>

#include "agent/cri/labels.h"
#include "agent/cri/stubs.h"

namespace drover::agent::cri {
namespace {

constexpr Duration kPullPatience = minutes(60);
constexpr Duration kStopPatience = seconds(30);  // beyond the grace
constexpr std::size_t kOutputKept = std::size_t{10} << 10U;
constexpr int kLargestAnswer = 64 << 20;

ImageFound found(const rt::Image& image) {
  ImageFound result{.id = image.id(), .user_name = image.username()};
  if (image.repo_digests_size() > 0) result.digest = image.repo_digests(0);
  if (image.has_uid()) result.user = image.uid().value();
  return result;
}

// In milliseconds, as all our times.
Instant instant(std::int64_t nanoseconds) {
  return nanoseconds > 0 ? Instant(Duration(nanoseconds / 1'000'000)) : Instant{};
}

RunPhase phase_of(rt::ContainerState state) {
  if (state == rt::CREATED) return RunPhase::created;
  if (state == rt::RUNNING) return RunPhase::running;
  if (state == rt::EXITED) return RunPhase::exited;
  return RunPhase::unknown;
}

std::shared_ptr<grpc::Channel> channel_to(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestAnswer);
  // A containerd that was away is asked again at once, not after a minute.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

Client::Client(ClientOptions options)
    : options_(std::move(options)), stubs_(std::make_unique<Stubs>(channel_to(options_.socket))) {}

Client::~Client() = default;

void Client::cut_short() const {
  const std::lock_guard lock(stubs_->mutex);
  stubs_->leaving = true;
  for (grpc::ClientContext* context : stubs_->under_way) context->TryCancel();
}

Status Client::check() const {
  Context context(*stubs_, seconds(5));
  rt::StatusResponse answer;
  if (const auto asked = outcome(stubs_->runtime->Status(&context, {}, &answer)); !asked) {
    return Error{Errc::unavailable, "no container runtime answers at " + options_.socket + " (" +
                                        asked.error().message + "): install containerd or start the cluster with "
                                        "`drover up --pods`; pods of `image: host` need none"};
  }
  for (const rt::Condition& one : answer.status().conditions()) {
    if (one.type() == "RuntimeReady" && !one.status()) return Error{Errc::unavailable, one.message()};
  }
  return Done{};
}

bool Client::has_network() const {
  Context context(*stubs_, seconds(5));
  rt::StatusResponse answer;
  if (!outcome(stubs_->runtime->Status(&context, {}, &answer))) return false;
  for (const rt::Condition& one : answer.status().conditions()) {
    if (one.type() == "NetworkReady") return one.status();
  }
  return false;
}

Result<std::optional<ImageFound>> Client::find_image(const std::string& image) const {
  Context context(*stubs_);
  rt::ImageStatusRequest request;
  request.mutable_image()->set_image(image);
  rt::ImageStatusResponse answer;
  TRY(outcome(stubs_->images->ImageStatus(&context, request, &answer)));
  if (!answer.has_image() || answer.image().id().empty()) return std::optional<ImageFound>{};
  return std::optional(found(answer.image()));
}

Result<ImageFound> Client::pull_image(const std::string& image) const {
  Context context(*stubs_, kPullPatience);
  rt::PullImageRequest request;
  request.mutable_image()->set_image(image);
  rt::PullImageResponse answer;
  TRY(outcome(stubs_->images->PullImage(&context, request, &answer)));
  auto pulled = TRY(find_image(answer.image_ref()));
  if (!pulled) return Error{Errc::unavailable, "the image is gone again"};
  return *std::move(pulled);
}

Result<Sandbox> Client::run_sandbox(const SandboxSpec& spec) const {
  Context context(*stubs_, minutes(4));
  rt::RunPodSandboxRequest request;
  request.mutable_config()->ParseFromString(sandbox_config(spec, options_.node));
  rt::RunPodSandboxResponse answer;
  TRY(outcome(stubs_->runtime->RunPodSandbox(&context, request, &answer)));
  Sandbox made{.id = answer.id(), .ip = {}};
  if (spec.host_network) return made;
  Context asking(*stubs_);
  rt::SandboxId id;
  id.set_id(made.id);
  rt::PodSandboxStatusResponse status;
  TRY(outcome(stubs_->runtime->PodSandboxStatus(&asking, id, &status)));
  made.ip = status.status().network().ip();
  return made;
}

Status Client::remove_sandbox(const std::string& id) const {
  rt::SandboxId request;
  request.set_id(id);
  rt::Nothing answer;
  Context stopping(*stubs_, minutes(2));
  TRY(unless_gone(outcome(stubs_->runtime->StopPodSandbox(&stopping, request, &answer))));
  Context removing(*stubs_, minutes(2));
  return unless_gone(outcome(stubs_->runtime->RemovePodSandbox(&removing, request, &answer)));
}

Result<std::string> Client::create(const ContainerSpec& spec) const {
  Context context(*stubs_, minutes(2));
  rt::CreateContainerRequest request;
  request.set_sandbox_id(spec.sandbox_id);
  request.mutable_config()->ParseFromString(container_config(spec, options_.node));
  request.mutable_sandbox_config()->ParseFromString(sandbox_config(spec.sandbox, options_.node));
  rt::ContainerId answer;
  TRY(outcome(stubs_->runtime->CreateContainer(&context, request, &answer)));
  return answer.id();
}

Status Client::start(const std::string& id) const {
  Context context(*stubs_, minutes(2));
  rt::ContainerId request;
  request.set_id(id);
  rt::Nothing answer;
  return outcome(stubs_->runtime->StartContainer(&context, request, &answer));
}

Status Client::stop(const std::string& id, Duration grace) const {
  Context context(*stubs_, grace + kStopPatience);
  rt::StopContainerRequest request;
  request.set_id(id);
  request.set_timeout((grace.count() + 999) / 1000);
  rt::Nothing answer;
  return unless_gone(outcome(stubs_->runtime->StopContainer(&context, request, &answer)));
}

Status Client::remove(const std::string& id) const {
  Context context(*stubs_);
  rt::ContainerId request;
  request.set_id(id);
  rt::Nothing answer;
  return unless_gone(outcome(stubs_->runtime->RemoveContainer(&context, request, &answer)));
}

Result<ExecDone> Client::exec(const std::string& id, const std::vector<std::string>& command,
                              Duration timeout) const {
  const std::int64_t limit = std::max<std::int64_t>(1, (timeout.count() + 999) / 1000);
  Context context(*stubs_, seconds(limit + 5));
  rt::ExecSyncRequest request;
  request.set_id(id);
  for (const std::string& word : command) request.add_cmd(word);
  request.set_timeout(limit);
  rt::ExecSyncResponse answer;
  TRY(outcome(stubs_->runtime->ExecSync(&context, request, &answer)));
  return ExecDone{.exit_code = answer.exit_code(),
                  .output = (answer.stdout() + answer.stderr()).substr(0, kOutputKept)};
}

Result<ContainerSeen> Client::look(const std::string& id) const {
  Context context(*stubs_);
  rt::ContainerStatusRequest request;
  request.set_id(id);
  rt::ContainerStatusResponse answer;
  TRY(outcome(stubs_->runtime->ContainerStatus(&context, request, &answer)));
  const rt::ContainerStatus& status = answer.status();
  return ContainerSeen{.id = id,
                       .phase = phase_of(status.state()),
                       .started = instant(status.started_at()),
                       .finished = instant(status.finished_at()),
                       .exit_code = status.exit_code(),
                       .out_of_memory = status.reason() == "OOMKilled",
                       .message = status.message()};
}

Result<Inventory> Client::list() const {
  Inventory all;
  Context context(*stubs_);
  rt::ListContainersRequest request;
  (*request.mutable_filter()->mutable_labels())[kNodeLabel] = options_.node;
  rt::ListContainersResponse answer;
  TRY(outcome(stubs_->runtime->ListContainers(&context, request, &answer)));
  for (const rt::Container& one : answer.containers()) {
    const auto pod = one.labels().find(kPodLabel);
    all.containers.push_back({.id = one.id(),
                              .pod = pod == one.labels().end() ? std::string{} : pod->second,
                              .name = one.metadata().name(),
                              .run = one.metadata().attempt(),
                              .phase = phase_of(one.state())});
  }
  Context again(*stubs_);
  rt::ListPodSandboxRequest sandboxes;
  (*sandboxes.mutable_filter()->mutable_labels())[kNodeLabel] = options_.node;
  rt::ListPodSandboxResponse listed;
  TRY(outcome(stubs_->runtime->ListPodSandbox(&again, sandboxes, &listed)));
  for (const rt::Sandbox& one : listed.items()) {
    const auto pod = one.labels().find(kPodLabel);
    all.sandboxes.emplace(one.id(), pod == one.labels().end() ? std::string{} : pod->second);
  }
  return all;
}

Status Client::reopen_log(const std::string& id) const {
  Context context(*stubs_);
  rt::ContainerId request;
  request.set_id(id);
  rt::Nothing answer;
  return outcome(stubs_->runtime->ReopenContainerLog(&context, request, &answer));
}

}  // namespace drover::agent::cri
