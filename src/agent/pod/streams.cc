#include "agent/pod/streams.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "agent/pod/log.h"
#include "base/resume.h"
#include "os/file.h"
#include "os/socket.h"

namespace drover::agent {
namespace {

constexpr int kMostVisitors = 256;
constexpr Duration kFollowEvery(200);

Result<Fd> connect_port(const std::string& address, std::uint32_t port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  if (port == 0 || port > 0xFFFF || ::inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) {
    return Error{Errc::invalid, "no such port: " + std::to_string(port)};
  }
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return system_error(errno, "socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {  // NOLINT
    return system_error(errno, "port " + std::to_string(port) + " of " + address);
  }
  return socket;
}

}  // namespace

Result<std::unique_ptr<PodStreams>> PodStreams::open(PodStreamOptions options) {
  std::unique_ptr<PodStreams> streams(new PodStreams(std::move(options)));
  streams->listening_ = TRY(listen_stream(streams->options_.path, 0600));
  streams->stop_ = Fd(::eventfd(0, EFD_CLOEXEC));
  if (!streams->stop_) return system_error(errno, "eventfd");
  streams->door_ = std::thread([self = streams.get()] { self->admit(); });
  return streams;
}

PodStreams::~PodStreams() {
  const std::uint64_t one = 1;
  if (stop_) [[maybe_unused]] const auto rung = ::write(stop_.get(), &one, sizeof one);
  if (door_.joinable()) door_.join();
  for (std::thread& thread : threads_) thread.join();
}

void PodStreams::admit() {
  for (;;) {
    std::array<pollfd, 2> waiting{pollfd{.fd = listening_.get(), .events = POLLIN},
                                  pollfd{.fd = stop_.get(), .events = POLLIN}};
    ::poll(waiting.data(), waiting.size(), -1);
    if (waiting[1].revents != 0) return;
    auto accepted = accept_connection(listening_.get());
    if (!accepted) continue;
    const auto peer = peer_of(accepted->get());
    if (peer && (peer->uid == 0 || peer->uid == ::geteuid())) begin(std::move(*accepted));
  }
}

bool PodStreams::begin(Fd socket) {
  const std::lock_guard lock(mutex_);
  if (visitors_ >= kMostVisitors) return false;
  ++visitors_;
  std::erase_if(threads_, [this](std::thread& thread) {
    if (std::erase(left_, thread.get_id()) == 0) return false;
    thread.join();
    return true;
  });
  threads_.emplace_back([this, socket = std::make_shared<Fd>(std::move(socket))] {
    serve(std::move(*socket));
    --visitors_;
    const std::lock_guard done(mutex_);
    left_.push_back(std::this_thread::get_id());
  });
  return true;
}

// He is carried to and from one end of a pair of sockets; the other is served like a local one.
void PodStreams::take(relay::Pump& pump, relay::Arrival arrival) {
  if (arrival.who.kind != tls::Identity::Kind::controller) {
    return relay::refuse(pump, std::move(arrival), {.error = "only the controller opens streams of pods"});
  }
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return relay::refuse(pump, std::move(arrival), {.error = system_error(errno, "socketpair").message, .again = true});
  }
  Fd near(ends[0]);
  const std::string ask = frame(arrival.opening.ask);  // fits: openings are shorter than a socket's room
  if (::send(near.get(), ask.data(), ask.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(ask.size()) ||
      !begin(Fd(ends[1]))) {
    return relay::refuse(pump, std::move(arrival), {.error = "too many streams of pods are open", .again = true});
  }
  relay::join(pump, std::move(arrival), std::move(near), "");
}

void PodStreams::serve(Fd socket) {
  Conversation with(std::move(socket), stop_.get());
  const auto wish = with.opening();
  if (!wish) {
    with.send(PodAttached{.error = wish.error().message});
    return;
  }
  const std::string pod = std::to_string(wish->job.value()) + "." + std::to_string(wish->attempt);
  const auto target = options_.directory->find(pod, wish->container);
  if (!target) {
    with.send(PodAttached{.error = "there is no container " + wish->container + " of that pod on this node",
                          .missing = true});
    return;
  }
  if (wish->kind == PodStreamKind::log) return serve_log(*target, *wish, with);
  if (!target->running) {
    with.send(PodAttached{.error = "container " + wish->container + " isn't running"});
    return;
  }
  PodCommands* const commands = target->host ? options_.host : options_.images;
  if (wish->kind == PodStreamKind::port) return serve_port(*target, *wish, with);
  if (commands == nullptr) {
    with.send(PodAttached{.error = "commands don't get into this container"});
  } else if (wish->kind == PodStreamKind::exec) {
    commands->exec(*target, *wish, with);
  } else {
    commands->attach(*target, *wish, with);
  }
}

void PodStreams::serve_log(const PodTarget& target, const PodAttach& wish, Conversation& with) const {
  const std::string path = wish.previous ? target.previous_log : target.log;
  auto reader = path.empty() ? Result<LogReader>(Error{Errc::not_found, "there is no log"})
                             : LogReader::open(path, {.timestamps = wish.timestamps, .tail = wish.tail,
                                                      .since = wish.since, .most = wish.most});
  if (!reader) {
    with.send(PodAttached{.error = "container " + wish.container + ": " + reader.error().message, .missing = true});
    return;
  }
  if (!with.send(PodAttached{})) return;
  const std::string pod = std::to_string(wish.job.value()) + "." + std::to_string(wish.attempt);
  bool there = true;
  const auto take = [&](bool error, std::string_view bytes) { return there = with.say(error, bytes); };
  for (;;) {
    // Looked at before the last read, so that nothing which was written until its end is missed.
    const auto now = options_.directory->find(pod, wish.container);
    const bool goes_on = wish.follow && now && now->running && now->log == path;
    if (!reader->read(take) || !goes_on) break;
    if (!with.pause(kFollowEvery)) return;
  }
  if (there) with.end({});
}

void PodStreams::serve_port(const PodTarget& target, const PodAttach& wish, Conversation& with) {
  const auto socket = connect_port(target.address, wish.port);
  if (!socket) {
    with.send(PodAttached{.error = socket.error().message});
    return;
  }
  if (!with.send(PodAttached{})) return;
  const bool whole = with.carry({.in = socket->get(), .out = socket->get()},
                                {.resize = {}, .input_ended = [&] { ::shutdown(socket->get(), SHUT_WR); }});
  if (whole) with.end({});
}

}  // namespace drover::agent
