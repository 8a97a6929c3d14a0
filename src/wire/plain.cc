// Plain sockets, Unix and TCP alike, as a Transport: all of Asio and Beast that depends on the kind of
// stream is compiled here.
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <sys/socket.h>

#include <utility>
#include <vector>

#include "wire/shard.h"
#include "wire/transport.h"
#include "wire/ws_connection.h"

namespace drover::wire {
namespace {

using Plain = asio::generic::stream_protocol;
using Socket = asio::basic_stream_socket<Plain, asio::io_context::executor_type>;
using Code = boost::system::error_code;

int family_of(int fd) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0 ? at.ss_family : AF_UNIX;
}

// A descriptor that can't be watched gives a socket that fails at its first use.
Socket socket_of(Shard& shard, Fd fd) {
  Socket socket(shard.context().get_executor());
  Code error;
  socket.assign(Plain(family_of(fd.get()), 0), fd.get(), error);
  if (!error) static_cast<void>(fd.release());
  return socket;
}

class PlainTransport : public Transport {
 public:
  PlainTransport(std::shared_ptr<Shard> shard, Fd fd)
      : shard_(std::move(shard)), socket_(socket_of(*shard_, std::move(fd))) {}

  void read(std::shared_ptr<TransportUser> user, std::span<char> into) override {
    socket_.async_read_some(asio::buffer(into.data(), into.size()),
                            [user = std::move(user)](const Code& error, std::size_t size) {
                              using End = TransportUser::End;
                              const End end = error == asio::error::eof ? End::eof : End::failed;
                              user->on_read(error ? end : End::no, size);
                            });
  }

  void write(std::shared_ptr<TransportUser> user, std::span<const std::string_view> pieces) override {
    buffers_.clear();
    for (const std::string_view piece : pieces) buffers_.emplace_back(piece.data(), piece.size());
    socket_.async_write_some(buffers_, [user = std::move(user)](const Code& error, std::size_t size) {
      user->on_written(static_cast<bool>(error), size);
    });
  }

  void cancel_read() override {
    Code ignored;
    socket_.cancel(ignored);
  }
  void shutdown_send() override {
    Code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
  }
  void close() override {
    Code ignored;
    socket_.close(ignored);
  }
  void upgrade(const Request& request, WsHandlers handlers, const WsTerms& terms, WsEnded ended) override {
    std::make_shared<WsConnection<Socket>>(shard_, std::move(socket_), request.peer, terms, std::move(handlers),
                                           std::move(ended))
        ->accept(request);
  }

 private:
  const std::shared_ptr<Shard> shard_;
  Socket socket_;
  std::vector<asio::const_buffer> buffers_;
};

}  // namespace

std::unique_ptr<Transport> plain_transport(std::shared_ptr<Shard> shard, Fd fd) {
  return std::make_unique<PlainTransport>(std::move(shard), std::move(fd));
}

void plain_websocket(std::shared_ptr<Shard> shard, Fd fd, const WsHello& hello, const WsLimits& limits,
                     WsHandlers handlers, WsEnded ended) {
  Peer peer = peer_of(fd.get());
  Socket socket = socket_of(*shard, std::move(fd));
  std::make_shared<WsConnection<Socket>>(std::move(shard), std::move(socket), std::move(peer),
                                         WsTerms{.limits = limits}, std::move(handlers), std::move(ended))
      ->handshake(hello.host, hello.target, hello.headers);
}

}  // namespace drover::wire
