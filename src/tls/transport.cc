// All of Asio and Beast that depends on TLS is compiled here.
#include "tls/transport.h"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/websocket/ssl.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "os/clock.h"
#include "wire/shard.h"
#include "wire/transport.h"
#include "wire/ws_connection.h"

namespace drover::tls {
namespace {

namespace asio = boost::asio;
using Plain = asio::generic::stream_protocol;
using Socket = asio::basic_stream_socket<Plain, asio::io_context::executor_type>;
using SslStream = asio::ssl::stream<Socket>;
using Code = boost::system::error_code;

constexpr std::chrono::milliseconds kHandshake{10'000};
constexpr std::size_t kRecord = 16U << 10U;  // what one record of TLS holds

int family_of(int fd) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0 ? at.ss_family : AF_INET;
}

Socket socket_of(wire::Shard& shard, Fd fd) {
  Socket socket(shard.context().get_executor());
  Code error;
  socket.assign(Plain(family_of(fd.get()), 0), fd.get(), error);
  if (!error) static_cast<void>(fd.release());
  return socket;
}

std::string words(SslStream& stream, const Code& error) {
  const bool ours = error.category() == asio::error::get_ssl_category();
  const Error why =
      failure(stream.native_handle(), ours ? static_cast<unsigned long>(error.value()) : 0UL);
  return ours || why.code == Errc::denied ? why.message : error.message();
}

}  // namespace
}  // namespace drover::tls

template <>
struct drover::wire::StreamWords<drover::tls::SslStream> {
  static std::string of(tls::SslStream& stream, const boost::system::error_code& error) {
    return tls::words(stream, error);
  }
};

namespace drover::tls {
namespace {

// Ends a connection whose peer's certificate is no longer good. Lives on the connection's thread,
// and goes before the connection's socket is anybody else's.
class Watch : public std::enable_shared_from_this<Watch> {
 public:
  Watch(wire::Shard& shard, std::shared_ptr<Context> context, CertificateInfo peer, int fd,
        std::chrono::milliseconds often)
      : timer_(shard.context().get_executor()),
        context_(std::move(context)),
        peer_(std::move(peer)),
        fd_(fd),
        often_(often) {}
  void start() {
    timer_.expires_after(often_);
    timer_.async_wait([weak = weak_from_this()](const Code& error) {
      if (const auto self = weak.lock(); self && !error) self->look();
    });
  }

 private:
  void look() {
    if (context_->recheck(peer_, wall_now())) {
      start();
    } else {
      ::shutdown(fd_, SHUT_RDWR);
    }
  }
  asio::steady_timer timer_;
  const std::shared_ptr<Context> context_;
  const CertificateInfo peer_;
  const int fd_;
  const std::chrono::milliseconds often_;
};

// Null for a peer without a certificate.
std::shared_ptr<Watch> watch_over(SslStream& stream, wire::Shard& shard,
                                  const std::shared_ptr<Context>& context,
                                  std::chrono::milliseconds often) {
  auto info = peer_of(stream.native_handle());
  if (!info) return nullptr;
  auto watch = std::make_shared<Watch>(shard, context, *std::move(info),
                                       stream.lowest_layer().native_handle(), often);
  watch->start();
  return watch;
}

// A watch goes along with a connection that has become a WebSocket.
wire::WsEnded with_watch(wire::WsEnded ended, std::shared_ptr<Watch> watch) {
  return
      [ended = std::move(ended), watch = std::move(watch)](const std::string& why) { ended(why); };
}

struct Terms {
  std::function<void(const std::string&)> refused;
  std::chrono::milliseconds recheck;
};

class TlsTransport : public wire::Transport {
 public:
  TlsTransport(std::shared_ptr<wire::Shard> shard, std::shared_ptr<Context> context, Fd fd,
               Terms terms)
      : shard_(std::move(shard)),
        context_(std::move(context)),
        from_(wire::peer_of(fd.get()).address),
        stream_(socket_of(*shard_, std::move(fd)), context_->open()),
        timer_(shard_->context().get_executor()),
        terms_(std::move(terms)) {}

  void read(std::shared_ptr<wire::TransportUser> user, std::span<char> into) override {
    when_ready(user, [this, user, into](bool ready) {
      if (!ready) {
        user->on_read(wire::TransportUser::End::failed, 0);
        return;
      }
      stream_.async_read_some(asio::buffer(into.data(), into.size()),
                              [user](const Code& error, std::size_t size) {
                                using End = wire::TransportUser::End;
                                const End end = error == asio::error::eof ? End::eof : End::failed;
                                user->on_read(error ? end : End::no, size);
                              });
    });
  }

  // A record for each small piece would cost more than copying them together.
  void write(std::shared_ptr<wire::TransportUser> user,
             std::span<const std::string_view> pieces) override {
    out_.clear();
    for (const std::string_view piece : pieces) {
      out_.append(piece.substr(0, kRecord - out_.size()));
      if (out_.size() == kRecord) break;
    }
    when_ready(user, [this, user](bool ready) {
      if (!ready) {
        user->on_written(true, 0);
        return;
      }
      stream_.async_write_some(asio::buffer(out_), [user](const Code& error, std::size_t size) {
        user->on_written(static_cast<bool>(error), size);
      });
    });
  }

  void cancel_read() override {
    Code ignored;
    stream_.lowest_layer().cancel(ignored);
  }
  // Without TLS's own farewell, which would wait for the peer's: HTTP says itself where an answer
  // ends.
  void shutdown_send() override {
    Code ignored;
    stream_.lowest_layer().shutdown(Socket::shutdown_send, ignored);
  }
  void close() override {
    Code ignored;
    timer_.cancel();
    watch_.reset();
    stream_.lowest_layer().close(ignored);
  }
  void identify(wire::Peer& peer) const override {
    const auto info = peer_of(const_cast<SslStream&>(stream_).native_handle());
    if (info) peer.certified = wire::Peer::Certified{info->identity.uri(), info->serial};
  }
  void upgrade(const wire::Request& request, wire::WsHandlers handlers, const wire::WsTerms& terms,
               wire::WsEnded ended) override {
    std::make_shared<wire::WsConnection<SslStream>>(shard_, std::move(stream_), request.peer, terms,
                                                    std::move(handlers),
                                                    with_watch(std::move(ended), std::move(watch_)))
        ->accept(request);
  }

 private:
  template <class Then>
  void when_ready(const std::shared_ptr<wire::TransportUser>& user, Then then) {
    if (ready_) {
      then(true);
      return;
    }
    timer_.expires_after(kHandshake);
    timer_.async_wait([this, user](const Code& error) {
      Code ignored;
      if (!error) stream_.lowest_layer().close(ignored);
    });
    stream_.async_handshake(
        SslStream::server, [this, user, then = std::move(then)](const Code& error) {
          timer_.cancel();
          ready_ = !error;
          if (ready_) watch_ = watch_over(stream_, *shard_, context_, terms_.recheck);
          if (error && error != asio::error::operation_aborted && terms_.refused)
            terms_.refused(from_ + ": " + words(stream_, error));
          then(ready_);
        });
  }

  const std::shared_ptr<wire::Shard> shard_;
  const std::shared_ptr<Context> context_;
  const std::string from_;
  SslStream stream_;
  asio::steady_timer timer_;
  const Terms terms_;
  std::shared_ptr<Watch> watch_;
  std::string out_;
  bool ready_ = false;
};

// A client's connection until its handshake is through.
class Opening : public wire::Timed, public std::enable_shared_from_this<Opening> {
 public:
  Opening(std::shared_ptr<wire::Shard> shard, std::shared_ptr<Context> context, Fd fd,
          wire::WsEnded ended)
      : shard_(std::move(shard)),
        context_(std::move(context)),
        peer_(wire::peer_of(fd.get())),
        stream_(socket_of(*shard_, std::move(fd)), context_->open()),
        ended_(std::move(ended)) {}

  void start(const wire::WsHello& hello, const wire::WsLimits& limits, wire::WsHandlers handlers,
             Expect expect) {
    shard_->add(shared_from_this());
    shard_->expire_in(*this, limits.handshake);
    stream_.async_handshake(SslStream::client,
                            [self = shared_from_this(), hello, limits, expect = std::move(expect),
                             handlers = std::move(handlers)](const Code& error) mutable {
                              if (self->over_) return;
                              if (error) {
                                self->fail(words(self->stream_, error));
                                return;
                              }
                              self->opened(hello, limits, std::move(handlers), expect);
                            });
  }

  void on_deadline() override { fail("the peer did not finish the TLS handshake"); }
  void on_wind_down() override { fail("stopped"); }
  void on_stop() override { fail("stopped"); }

 private:
  void opened(const wire::WsHello& hello, const wire::WsLimits& limits, wire::WsHandlers handlers,
              const Expect& expect) {
    const auto info = peer_of(stream_.native_handle());
    const Status expected = info ? expect(info->identity) : Status(info.error());
    if (!expected) {
      fail(expected.error().message);
      return;
    }
    over_ = true;
    peer_.certified = wire::Peer::Certified{info->identity.uri(), info->serial};
    const auto self = shared_from_this();
    shard_->remove(*this);
    auto watch = watch_over(stream_, *shard_, context_, kRecheck);
    std::make_shared<wire::WsConnection<SslStream>>(
        shard_, std::move(stream_), peer_, wire::WsTerms{.limits = limits}, std::move(handlers),
        with_watch(std::move(ended_), std::move(watch)))
        ->handshake(hello.host, hello.target, hello.headers);
  }

  void fail(const std::string& why) {
    if (std::exchange(over_, true)) return;
    const auto self = shared_from_this();
    Code ignored;
    stream_.lowest_layer().close(ignored);
    shard_->remove(*this);
    std::exchange(ended_, nullptr)(why);
  }

  const std::shared_ptr<wire::Shard> shard_;
  const std::shared_ptr<Context> context_;
  wire::Peer peer_;
  SslStream stream_;
  wire::WsEnded ended_;
  bool over_ = false;
};

}  // namespace

wire::TransportFactory server_transport(std::shared_ptr<Context> context,
                                        std::function<void(const std::string& why)> refused,
                                        std::chrono::milliseconds recheck) {
  return [context = std::move(context), terms = Terms{std::move(refused), recheck}](
             std::shared_ptr<wire::Shard> shard, Fd fd) {
    return std::unique_ptr<wire::Transport>(
        std::make_unique<TlsTransport>(std::move(shard), context, std::move(fd), terms));
  };
}

wire::WebsocketFactory client_websocket(std::shared_ptr<Context> context, Expect expect) {
  return [context = std::move(context), expect = std::move(expect)](
             std::shared_ptr<wire::Shard> shard, Fd fd, const wire::WsHello& hello,
             const wire::WsLimits& limits, wire::WsHandlers handlers, wire::WsEnded ended) {
    std::make_shared<Opening>(std::move(shard), context, std::move(fd), std::move(ended))
        ->start(hello, limits, std::move(handlers), expect);
  };
}

Result<Identity> identity_of(const wire::Peer& peer) {
  if (!peer.certified) return Error{Errc::denied, "this needs a certificate of this cluster"};
  return Identity::parse(peer.certified->identity);
}

}  // namespace drover::tls
