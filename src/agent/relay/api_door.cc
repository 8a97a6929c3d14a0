#include "agent/relay/api_door.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/proto.h"
#include "member/speech.h"
#include "native/membership.h"
#include "os/clock.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr std::size_t kMostPairs = 1024;  // beyond: try again
constexpr int kMostOpening = 64;
constexpr std::chrono::milliseconds kPatience{10'000};

std::string busy(std::string_view why) {
  return "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 1\r\n"
         "Connection: close\r\nContent-Length: " +
         std::to_string(why.size() + 1) + "\r\n\r\n" + std::string(why) + "\n";
}

// What a small message takes to go through; the socket's buffer holds it.
void say(const Fd& to, std::string_view text) {
  [[maybe_unused]] const auto sent = ::send(to.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

ApiDoor::ApiDoor(ApiDoorOptions options, relay::Pump& pump, Fd listening, Fd stop)
    : options_(std::move(options)), pump_(pump), listening_(std::move(listening)), stop_(std::move(stop)) {}

Result<std::unique_ptr<ApiDoor>> ApiDoor::open(ApiDoorOptions options, relay::Pump& pump) {
  Fd listening = TRY(wire::listen_on(wire::Endpoint::unix_socket(options.path), 0666));
  Fd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return system_error(errno, "eventfd");
  std::unique_ptr<ApiDoor> door(new ApiDoor(std::move(options), pump, std::move(listening), std::move(stop)));
  door->thread_ = std::thread([d = door.get()] { d->run(); });
  return door;
}

ApiDoor::~ApiDoor() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto rung = ::write(stop_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
  while (opening_ > 0) ::poll(nullptr, 0, 10);  // each has its own limit of time
  ::unlink(options_.path.c_str());
}

void ApiDoor::run() {
  for (;;) {
    pollfd watched[] = {{stop_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
    ::poll(watched, std::size(watched), -1);
    if ((watched[0].revents & POLLIN) != 0) return;
    Fd caller(::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!caller) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) ::poll(nullptr, 0, 100);
      continue;
    }
    if (pump_.pairs() >= kMostPairs || opening_ >= kMostOpening) {
      say(caller, busy("too many programs of this node ask at once"));
      continue;
    }
    ++opening_;
    std::thread([this, caller = std::move(caller)]() mutable {
      welcome(std::move(caller));
      --opening_;
    }).detach();
  }
}

void ApiDoor::welcome(Fd caller) {
  const wire::Peer peer = wire::peer_of(caller.get());
  if (!peer.local) return;
  std::string refusal;
  auto channel = vouched(*peer.local, refusal);
  if (channel) {
    pump_.carry({.plain = std::move(caller), .channel = std::move(*channel)});
  } else {
    say(caller, refusal.empty() ? busy("the controller can't be asked from this node: " + channel.error().message)
                                : refusal);
  }
}

// A connection on which the controller takes what comes as from that user. `refusal`: its own answer when
// it doesn't, which is the caller's to read.
Result<tls::Channel> ApiDoor::vouched(const wire::Peer::Local& who, std::string& refusal) const {
  const Duration end = since_boot() + kPatience;
  Fd fd = TRY(wire::connect_to(options_.controller, kPatience));
  tls::Channel channel(*options_.context, std::move(fd), tls::expect_controller());
  TRY(channel.handshake_within(kPatience));
  const std::string ask = encode(native::VouchAsk{.uid = who.uid, .gid = who.gid});
  TRY(member::say(channel, member::post_text("/v1/vouch", ask), end));
  auto answer = TRY(member::hear(channel, end));
  if (answer.status == 200) return channel;
  refusal = std::move(answer.text);
  return Error{Errc::denied, "the controller refuses"};
}

}  // namespace drover::agent
