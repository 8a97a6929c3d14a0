#include "wire/http_server.h"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>
#include <vector>

#include "wire/call.h"
#include "wire/http_connection.h"
#include "wire/server_state.h"
#include "wire/shard.h"
#include "wire/transport.h"

namespace drover::wire {

// Accepts on the first shard's thread and hands connections round.
class Server::Listener : public std::enable_shared_from_this<Server::Listener> {
 public:
  Listener(ServerOptions options, Handler handler, Fd fd)
      : state_(std::make_shared<ServerState>(std::move(options), std::move(handler))), port_(local_port(fd.get())) {
    for (int i = 0; i < std::max(1, state_->options().threads); ++i) shards_.push_back(std::make_shared<Shard>());
    struct stat file {};
    if (::lstat(state_->options().at.path.c_str(), &file) == 0) inode_ = file.st_ino;
    retry_ = std::make_unique<asio::steady_timer>(shards_.front()->context());
    descriptor_ = std::make_unique<Descriptor>(shards_.front()->context().get_executor(), fd.release());
  }

  void start() {
    shards_.front()->post([self = shared_from_this()] { self->wait(); });
    for (const auto& shard : shards_) shard->start();
  }

  void stop() {
    state_->wind_down();
    shards_.front()->post([self = shared_from_this()] {
      self->retry_->cancel();
      self->close_descriptor();
    });
    for (const auto& shard : shards_) {
      shard->post([shard] { shard->each([](Timed& timed) { timed.on_wind_down(); }); });
    }
    state_->wait_until_empty(state_->options().stop_grace);
    for (const auto& shard : shards_) shard->stop();
    retry_.reset();
    descriptor_.reset();
    forget_path();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::size_t connections() const { return state_->connections(); }

 private:
  using Descriptor = asio::posix::basic_stream_descriptor<asio::io_context::executor_type>;

  void wait() {
    if (!descriptor_->is_open()) return;
    descriptor_->async_wait(Descriptor::wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->accept();
    });
  }

  // A few at a time, so that connections at work on this thread get their turn.
  void accept() {
    constexpr int kAtOnce = 16;
    for (int i = 0; i < kAtOnce; ++i) {
      Fd fd(::accept4(descriptor_->native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd) {
        try {
          welcome(std::move(fd));
        } catch (const std::exception&) {  // out of memory: this caller goes, the next may find some
        }
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        pause();
        return;
      } else if (errno != EINTR && errno != ECONNABORTED) {
        break;
      }
    }
    wait();
  }

  // Out of descriptors: those who wait in the backlog wait a little longer.
  void pause() {
    retry_->expires_after(std::chrono::milliseconds(100));
    retry_->async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->wait();
    });
  }

  void welcome(Fd fd) {
    Peer peer = peer_of(fd.get());
    const int refused = state_->enter(peer);
    if (refused != 0 && !state_->enter_refused()) return;
    const auto& shard = shards_[next_++ % shards_.size()];
    const auto& kind = state_->options().transport;
    auto transport = kind ? kind(shard, std::move(fd)) : plain_transport(shard, std::move(fd));
    auto connection = std::make_shared<HttpConnection>(state_, shard, std::move(transport), peer);
    shard->post([connection, refused] { connection->start(refused); });
  }

  void close_descriptor() {
    boost::system::error_code ignored;
    descriptor_->close(ignored);
  }

  // Takes the socket's file away, unless another server has put its own there.
  void forget_path() {
    const std::string& path = state_->options().at.path;
    struct stat file {};
    if (!path.empty() && ::lstat(path.c_str(), &file) == 0 && file.st_ino == inode_) ::unlink(path.c_str());
  }

  const std::shared_ptr<ServerState> state_;
  const std::uint16_t port_;
  ino_t inode_ = 0;
  std::vector<std::shared_ptr<Shard>> shards_;
  std::unique_ptr<asio::steady_timer> retry_;
  std::unique_ptr<Descriptor> descriptor_;
  std::size_t next_ = 0;
};

Server::Server(std::shared_ptr<Listener> listener) : listener_(std::move(listener)) {}
Server::~Server() { stop(); }

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler handler) {
  Fd fd = TRY(listen_on(options.at, options.mode));
  std::shared_ptr<Listener> listener;
  try {
    listener = std::make_shared<Listener>(std::move(options), std::move(handler), std::move(fd));
    listener->start();
    return std::unique_ptr<Server>(new Server(listener));
  } catch (const std::exception& e) {  // no descriptor or thread to be had
    if (listener) listener->stop();
    return Error{Errc::unavailable, std::string("the server can't start: ") + e.what()};
  }
}

void Server::stop() {
  if (listener_) std::exchange(listener_, nullptr)->stop();
}
std::uint16_t Server::port() const { return listener_ ? listener_->port() : std::uint16_t{0}; }
std::size_t Server::connections() const { return listener_ ? listener_->connections() : 0; }

struct Stream::Finisher {
  std::shared_ptr<Call> call;
  explicit Finisher(std::shared_ptr<Call> of) : call(std::move(of)) {}
  Finisher(const Finisher&) = delete;
  Finisher& operator=(const Finisher&) = delete;
  ~Finisher() { call->finish(); }
};

Stream::Stream(std::shared_ptr<Call> call) : call_(call), finisher_(std::make_shared<Finisher>(std::move(call))) {}
bool Stream::write(Bytes bytes) const { return call_ && call_->write(std::move(bytes)); }
void Stream::finish() const {
  if (call_) call_->finish();
}
void Stream::abort() const {
  if (call_) call_->abort();
}
bool Stream::gone() const { return !call_ || call_->gone(); }
std::size_t Stream::waiting() const { return call_ ? call_->waiting() : 0; }
void Stream::when_drained(std::size_t low, std::function<void()> resume) const {
  if (call_) {
    call_->when_drained(low, std::move(resume));
  } else {
    resume();
  }
}
void Stream::when_gone(std::function<void()> notify) const {
  if (call_) {
    call_->when_gone(std::move(notify));
  } else {
    notify();
  }
}

struct Responder::Unanswered {
  std::shared_ptr<Call> call;
  explicit Unanswered(std::shared_ptr<Call> of) : call(std::move(of)) {}
  Unanswered(const Unanswered&) = delete;
  Unanswered& operator=(const Unanswered&) = delete;
  ~Unanswered() {
    if (call->claim()) call->answer(text_answer(500, "the request was dropped\n"));
  }
};

Responder::Responder(std::shared_ptr<Call> call)
    : call_(call), unanswered_(std::make_shared<Unanswered>(std::move(call))) {}

bool Responder::answer(Answer answer) const {
  if (!call_->claim()) return false;
  call_->answer(std::move(answer));
  return true;
}

Stream Responder::stream(int status, std::string content_type, Headers headers) const {
  if (!call_->claim()) return {};
  call_->begin_stream(status, std::move(content_type), std::move(headers));
  return Stream(call_);
}

void Responder::adopt(Peer peer) const { call_->adopt(std::move(peer)); }
void Responder::upgrade(WsHandlers handlers, WsTerms terms) const {
  if (call_->claim()) call_->upgrade(std::move(handlers), std::move(terms));
}
void Responder::switch_protocols(Switch to) const {
  if (call_->claim()) call_->switch_protocols(std::move(to));
}
Lane Responder::lane() const { return call_->lane(); }

bool Responder::gone() const { return call_->gone(); }
void Responder::when_gone(std::function<void()> notify) const { call_->when_gone(std::move(notify)); }

}  // namespace drover::wire
