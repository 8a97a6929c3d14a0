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

class TlsTransport : public wire::Transport {
 public:
  TlsTransport(std::shared_ptr<wire::Shard> shard, const Context& context, Fd fd,
               std::function<void(const std::string&)> refused)
      : shard_(std::move(shard)),
        from_(wire::peer_of(fd.get()).address),
        stream_(socket_of(*shard_, std::move(fd)), context.open()),
        timer_(shard_->context().get_executor()),
        refused_(std::move(refused)) {}

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
    stream_.lowest_layer().close(ignored);
  }
  void identify(wire::Peer& peer) const override {
    const auto info = peer_of(const_cast<SslStream&>(stream_).native_handle());
    if (info) peer.certified = wire::Peer::Certified{info->identity.uri(), info->serial};
  }
  void upgrade(const wire::Request& request, wire::WsHandlers handlers,
               const wire::WsTerms& terms, wire::WsEnded ended) override {
    std::make_shared<wire::WsConnection<SslStream>>(shard_, std::move(stream_), request.peer,
                                                    terms, std::move(handlers), std::move(ended))
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
    stream_.async_handshake(SslStream::server,
                            [this, user, then = std::move(then)](const Code& error) {
                              timer_.cancel();
                              ready_ = !error;
                              if (error && error != asio::error::operation_aborted && refused_)
                                refused_(from_ + ": " + words(stream_, error));
                              then(ready_);
                            });
  }

  const std::shared_ptr<wire::Shard> shard_;
  const std::string from_;
  SslStream stream_;
  asio::steady_timer timer_;
  const std::function<void(const std::string&)> refused_;
  std::string out_;
  bool ready_ = false;
};

// A client's connection until its handshake is through.
class Opening : public wire::Timed, public std::enable_shared_from_this<Opening> {
 public:
  Opening(std::shared_ptr<wire::Shard> shard, const Context& context, Fd fd, wire::WsEnded ended)
      : shard_(std::move(shard)),
        peer_(wire::peer_of(fd.get())),
        stream_(socket_of(*shard_, std::move(fd)), context.open()),
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
    std::make_shared<wire::WsConnection<SslStream>>(
        shard_, std::move(stream_), peer_, wire::WsTerms{.limits = limits}, std::move(handlers),
        std::move(ended_))
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
  wire::Peer peer_;
  SslStream stream_;
  wire::WsEnded ended_;
  bool over_ = false;
};

}  // namespace

wire::TransportFactory server_transport(std::shared_ptr<Context> context,
                                        std::function<void(const std::string& why)> refused) {
  return [context = std::move(context), refused = std::move(refused)](
             std::shared_ptr<wire::Shard> shard, Fd fd) {
    return std::unique_ptr<wire::Transport>(
        std::make_unique<TlsTransport>(std::move(shard), *context, std::move(fd), refused));
  };
}

wire::WebsocketFactory client_websocket(std::shared_ptr<Context> context, Expect expect) {
  return [context = std::move(context), expect = std::move(expect)](
             std::shared_ptr<wire::Shard> shard, Fd fd, const wire::WsHello& hello,
             const wire::WsLimits& limits, wire::WsHandlers handlers, wire::WsEnded ended) {
    std::make_shared<Opening>(std::move(shard), *context, std::move(fd), std::move(ended))
        ->start(hello, limits, std::move(handlers), expect);
  };
}

Result<Identity> identity_of(const wire::Peer& peer) {
  if (!peer.certified) return Error{Errc::denied, "this needs a certificate of this cluster"};
  return Identity::parse(peer.certified->identity);
}

}  // namespace drover::tls
