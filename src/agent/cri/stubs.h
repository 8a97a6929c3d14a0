// What the parts of the client share; inside this folder only.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "agent/cri/client.h"
#include "containers.grpc.pb.h"
#include "os/clock.h"
#include "runtime.grpc.pb.h"
#include "tasks.grpc.pb.h"

namespace drover::agent::cri {

namespace rt = ::runtime::v1;
namespace ts = ::containerd::services::tasks::v1;
namespace cs = ::containerd::services::containers::v1;

struct Client::Stubs {
  explicit Stubs(const std::shared_ptr<grpc::Channel>& channel)
      : runtime(rt::RuntimeService::NewStub(channel)),
        images(rt::ImageService::NewStub(channel)),
        tasks(ts::Tasks::NewStub(channel)),
        containers(cs::Containers::NewStub(channel)) {}
  std::unique_ptr<rt::RuntimeService::Stub> runtime;
  std::unique_ptr<rt::ImageService::Stub> images;
  std::unique_ptr<ts::Tasks::Stub> tasks;
  std::unique_ptr<cs::Containers::Stub> containers;

  std::mutex mutex;
  std::set<grpc::ClientContext*> under_way;
  bool leaving = false;
};

inline constexpr Duration kCallPatience = seconds(60);

// One call: its deadline, by the clock that gRPC takes, and its place among those that an end cuts short.
class Context {
 public:
  explicit Context(Client::Stubs& stubs, Duration patience = kCallPatience) : stubs_(stubs) {
    const auto at = wall_now().time_since_epoch() + patience;
    gpr_timespec deadline{};
    deadline.tv_sec = at.count() / 1000;
    deadline.tv_nsec = static_cast<std::int32_t>(at.count() % 1000) * 1'000'000;
    deadline.clock_type = GPR_CLOCK_REALTIME;
    context_.set_deadline(deadline);
    context_.AddMetadata("containerd-namespace", "k8s.io");  // whose containers the interface shows
    const std::lock_guard lock(stubs_.mutex);
    stubs_.under_way.insert(&context_);
    if (stubs_.leaving) context_.TryCancel();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    const std::lock_guard lock(stubs_.mutex);
    stubs_.under_way.erase(&context_);
  }
  [[nodiscard]] grpc::ClientContext* operator&() { return &context_; }  // NOLINT(google-runtime-operator)

 private:
  Client::Stubs& stubs_;
  grpc::ClientContext context_;
};

[[nodiscard]] inline Status outcome(const grpc::Status& status) {
  if (status.ok()) return Done{};
  Errc code = Errc::unavailable;
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) code = Errc::not_found;
  if (status.error_code() == grpc::StatusCode::INVALID_ARGUMENT) code = Errc::invalid;
  return Error{code, status.error_message().empty() ? "containerd gave no reason" : status.error_message()};
}
// What is gone already needn't be removed.
[[nodiscard]] inline Status unless_gone(Status status) {
  if (!status && status.error().code == Errc::not_found) return Done{};
  return status;
}

}  // namespace drover::agent::cri
