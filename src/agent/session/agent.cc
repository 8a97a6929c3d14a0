#include "agent/session/agent.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <utility>
#include <variant>

#include "agent/session/hosts.h"
#include "agent/session/streams.h"
#include "base/hash.h"
#include "base/proto.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/fd.h"
#include "os/socket.h"
#include "wire/inbox.h"
#include "wire/websocket.h"

namespace drover::agent {
namespace {

constexpr Duration kAfterRefusal = seconds(5);
constexpr int kQuietMs = 500;
constexpr int kLivelyMs = 100;  // a pod's next move may be due

struct Opened {
  wire::WsSessionPtr socket;
};
struct Closed {
  wire::WsSessionPtr socket;
};
struct Message {
  wire::WsSessionPtr socket;
  std::string bytes;
};
using Happening = std::variant<Opened, Closed, Message>;

class Loop {
 public:
  Loop(const AgentOptions& options, Runner& runner, Pods& pods, Journal& journal, Streams& streams)
      : options_(options),
        runner_(runner),
        pods_(pods),
        journal_(journal),
        streams_(streams),
        bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        steward_({.send = [this](const FromAgent& m) { send(m); },
                  .say = options.say},
                 runner, journal, &pods) {}

  void run(int stop_fd);
  [[nodiscard]] bool is_over(const StepAttach& wish) const { return steward_.is_over(key_of(wish)); }
  [[nodiscard]] static std::string key_of(const StepAttach& wish) {
    return key_text({.job = wish.job, .attempt = wish.attempt, .step = wish.step});
  }

 private:
  wire::WsClientOptions client_options() const;
  wire::WsHandlers handlers();
  void ring() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(bell_.get(), &one, sizeof one);
  }
  void on(Opened& opened);
  void on(Closed& closed);
  void on(Message& message);
  void learn_hosts(const Wanted& wanted);
  void send(const FromAgent& message);
  void beat();
  void turn();

  const AgentOptions& options_;
  Runner& runner_;
  Pods& pods_;
  Journal& journal_;
  Streams& streams_;
  Fd bell_;
  wire::Inbox<Happening> inbox_{1024};
  wire::WsSessionPtr socket_;
  std::uint64_t hosts_ = 0;  // the sum of the digests of those that jobs see
  Duration heartbeat_ = seconds(5);
  Duration beaten_{0};
  std::atomic<bool> leaving_ = false;  // the client is being joined: nobody empties the inbox
  Duration silent_until_{0};  // since boot: no session before that
  Steward steward_;
};

wire::WsClientOptions Loop::client_options() const {
  wire::WsClientOptions client{.to = options_.controller, .target = "/v1/agent"};
  client.websocket = options_.websocket;
  client.seed = fnv1a(static_cast<std::uint64_t>(::getpid()), fnv1a(options_.inventory().name));
  client.retry_max = milliseconds(5'000);
  client.on_retry = [say = options_.say, quiet = false](const std::string& why, std::chrono::milliseconds) mutable {
    if (!std::exchange(quiet, true)) say(fmt::format("no session with the controller: {}; trying again", why));
  };
  return client;
}

wire::WsHandlers Loop::handlers() {
  return {
      .on_open = [this](const wire::WsSessionPtr& socket) {
        while (!inbox_.push(Opened{socket}) && !leaving_) ::poll(nullptr, 0, 10);
        ring();
      },
      .on_message = [this](const wire::WsSessionPtr& socket, std::string& bytes) {
        if (!inbox_.push(Message{socket, bytes})) return false;
        ring();
        return true;
      },
      .on_close = [this](const wire::WsSessionPtr& socket, const std::string&) {
        while (!inbox_.push(Closed{socket}) && !leaving_) ::poll(nullptr, 0, 10);
        ring();
      },
  };
}

void Loop::run(int stop_fd) {
  std::optional<wire::WsClient> client;
  for (;;) {
    if (!client && since_boot() >= silent_until_) client.emplace(client_options(), handlers());
    pollfd fds[] = {{stop_fd, POLLIN, 0}, {bell_.get(), POLLIN, 0}, {runner_.wake_fd(), POLLIN, 0},
                    {streams_.fd(), POLLIN, 0},  {pods_.wake_fd(), POLLIN, 0}};
    ::poll(fds, std::size(fds), pods_.lively() ? kLivelyMs : kQuietMs);
    if ((fds[0].revents & POLLIN) != 0) {
      leaving_ = true;
      return;
    }
    turn();
    if (client && since_boot() < silent_until_) {
      leaving_ = true;
      client.reset();  // nothing of the old session comes any more
      leaving_ = false;
      static_cast<void>(inbox_.pop_all(milliseconds(0)));
      socket_ = nullptr;
      steward_.on_closed();
    }
  }
}

void Loop::turn() {
  std::uint64_t rung = 0;
  [[maybe_unused]] const auto read = ::read(bell_.get(), &rung, sizeof rung);
  for (Happening& happening : inbox_.pop_all(milliseconds(0))) {
    std::visit([this](auto& h) { on(h); }, happening);
  }
  const Duration now = since_boot();
  steward_.look(now);
  streams_.turn(now);
  if (socket_ && now - beaten_ >= heartbeat_) beat();
}

void Loop::on(Opened& opened) {
  socket_ = opened.socket;
  steward_.look(since_boot());
  const Remembered& seen = journal_.seen();
  send(Hello{.cluster_id = seen.cluster_id,
             .epoch = seen.epoch,
             .head = seen.head,
             .inventory = options_.inventory(),
             .held = steward_.held(),
             .hosts = hosts_});
}

void Loop::on(Closed& closed) {
  if (closed.socket != socket_) return;
  socket_ = nullptr;
  steward_.on_closed();
}

void Loop::on(Message& message) {
  if (message.socket != socket_) return;
  const auto decoded = decode<ToAgent>(message.bytes);
  if (!decoded) {
    options_.say(fmt::format("the controller's message can't be read: {}", decoded.error().message));
    message.socket->close();
    return;
  }
  if (const auto* wanted = std::get_if<Wanted>(&*decoded)) learn_hosts(*wanted);
  if (const auto* welcome = std::get_if<Welcome>(&*decoded)) heartbeat_ = welcome->heartbeat;
  // Refused, by either side: it won't be better in a moment.
  if (!steward_.on_message(*decoded)) silent_until_ = since_boot() + kAfterRefusal;
}

void Loop::learn_hosts(const Wanted& wanted) {
  if (wanted.hosts.empty()) return;
  hosts_ = 0;
  if (!options_.hosts_path.empty()) {
    if (const auto written = write_hosts(options_.hosts_path, wanted.hosts); !written) {
      options_.say(fmt::format("the hosts file of jobs: {}", written.error().message));
      return;
    }
  }
  for (const HostAddress& host : wanted.hosts) hosts_ += digest_of(host);
}

void Loop::send(const FromAgent& message) {
  if (!socket_) return;
  // A full queue means that the peer has stopped reading: the next session starts from the records.
  if (socket_->send(wire::bytes(encode(message))) == wire::WsSession::Sent::full) socket_->close();
}

void Loop::beat() {
  beaten_ = since_boot();
  const Pulse pulse = options_.pulse();
  send(steward_.heartbeat(pulse.load_centi, pulse.memory_free));
}

// To the agent of another node. That one doesn't take our word for who asks: only the ticket counts there.
void pass_on(relay::Exchange& exchange, relay::Caller caller) {
  const StepAttach& wish = caller.wish;
  const auto refuse = [&](const std::string& why) {
    const std::string bytes = relay::attached_frame({.error = why});
    [[maybe_unused]] const auto n =
        ::send(caller.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  };
  if (wish.address.empty()) return refuse("its agent takes no streams from other machines");
  if (wish.ticket.empty()) {
    return refuse("from another machine only the step's own srun gets in: ask on that node, or on the controller's "
                  "machine");
  }
  relay::Opening opening{.kind = std::string(relay::kStepStream), .ask = encode(wish)};
  relay::Target target{.node = wish.node, .address = wish.address};
  exchange.dialer->call({.plain = std::move(caller.socket),
                         .target = std::move(target),
                         .opening = std::move(opening),
                         .refused = relay::relay_failed});
}

}  // namespace

Status run_agent(const AgentOptions& options, Runner& runner, Pods& pods, int stop_fd) {
  Journal journal = TRY(Journal::open(options.journal_path));
  const Loop* loop = nullptr;
  StreamOptions doors{
      .path = options.stream_path,
      .node = options.node,
      .reach = [&](const StepAttach& wish) -> Result<Fd> {
         if (wish.step == kBatchStep) return Error{Errc::invalid, "nobody attaches to a batch script"};
         auto part = connect_stream(options.part_path(Loop::key_of(wish)));
         // Nobody at the socket, or none: it isn't there yet, or it was.
         if (!part) return Error{Errc::not_found, part.error().message};
         return part;
       },
      .is_over = [&](const StepAttach& wish) { return loop != nullptr && loop->is_over(wish); }};
  relay::Exchange* const exchange = options.exchange;
  if (exchange != nullptr) {
    doors.abroad = [exchange](relay::Caller caller) { pass_on(*exchange, std::move(caller)); };
    doors.pump = exchange->pump.get();
  }
  const auto streams = TRY(Streams::open(std::move(doors)));
  if (exchange != nullptr) {
    exchange->door->serve(relay::kStepStream, [&](relay::Arrival arrival) { streams->take(std::move(arrival)); });
  }
  Loop living(options, runner, pods, journal, *streams);
  loop = &living;
  living.run(stop_fd);
  if (exchange != nullptr) exchange->door->serve(relay::kStepStream, nullptr);
  return Done{};
}

}  // namespace drover::agent
