#include "control/step_relay.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/proto.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"

namespace drover::control {
namespace {

constexpr Duration kFresh = seconds(1);

}  // namespace

Result<std::unique_ptr<StepRelay>> StepRelay::open(const std::string& path, api::Service& service,
                                                   relay::Exchange& exchange) {
  Fd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return system_error(errno, "eventfd");
  std::unique_ptr<StepRelay> made(new StepRelay(service, exchange, std::move(stop)));
  made->reception_ = std::make_unique<relay::Reception>(TRY(relay::Reception::open(
      path, [r = made.get()](relay::Caller caller) { r->take(std::move(caller)); })));
  made->thread_ = std::thread([r = made.get()] { r->run(); });
  return made;
}

StepRelay::~StepRelay() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto rung = ::write(stop_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

void StepRelay::run() {
  for (;;) {
    pollfd watched[] = {{stop_.get(), POLLIN, 0}, {reception_->fd(), POLLIN, 0}};
    ::poll(watched, std::size(watched), reception_->visitors() == 0 ? -1 : 500);
    if ((watched[0].revents & POLLIN) != 0) return;
    reception_->turn(since_boot());
  }
}

void StepRelay::take(relay::Caller caller) {
  auto target = find(caller.wish.node);
  if (!target) {
    const std::string bytes = relay::relay_failed(target.error());
    [[maybe_unused]] const auto n =
        ::send(caller.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  call(std::move(caller), *std::move(target));
}

Result<Fd> StepRelay::reach(const StepAttach& wish, std::uint32_t uid) {
  auto target = TRY(find(wish.node));
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_error(errno, "socketpair");
  }
  Fd ours(ends[0]);
  call({.socket = Fd(ends[1]), .uid = uid, .wish = wish}, std::move(target));
  return ours;
}

void StepRelay::call(relay::Caller caller, relay::Target target) {
  relay::Opening opening{
      .kind = std::string(relay::kStepStream), .ask = encode(caller.wish), .uid = caller.uid};
  exchange_.dialer->call({.plain = std::move(caller.socket),
                          .target = std::move(target),
                          .opening = std::move(opening),
                          .refused = relay::relay_failed});
}

// Where that node is, as the cluster has it: what the client says of it doesn't count here.
Result<relay::Target> StepRelay::find(const std::string& node) {
  const std::lock_guard lock(mutex_);
  // A step of a thousand nodes asks a thousand times at once.
  if (const Duration now = since_boot(); now - looked_ >= kFresh) {
    looked_ = now;
    addresses_.clear();
    service_.nodes([this](const api::NodeView& view) {
      addresses_[view.node.inventory.name] = view.node.inventory.stream_address;
    });
  }
  const auto known = addresses_.find(node);
  if (known == addresses_.end())
    return Error{Errc::not_found, "there is no node " + printable(node, 63)};
  if (known->second.empty()) {
    return Error{Errc::denied, "node " + node + " takes no streams from other machines"};
  }
  return relay::Target{.node = node, .address = known->second};
}

}  // namespace drover::control
