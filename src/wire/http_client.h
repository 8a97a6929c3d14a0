// A small synchronous HTTP/1.1 client over a Unix or TCP socket for programs that start, ask and
// end: no threads, no event loop, nothing that costs at start. One connection, kept alive between
// calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/http.h"
#include "wire/socket.h"

namespace drover::wire {

// A connected stream of another kind than a plain socket. Waits at most `patience` for the peer.
class ClientStream {
 public:
  virtual ~ClientStream() = default;
  // Some of the bytes, at least one.
  [[nodiscard]] virtual Result<std::size_t> write(std::string_view bytes,
                                                  std::chrono::milliseconds patience) = 0;
  // 0 at the end.
  [[nodiscard]] virtual Result<std::size_t> read(std::span<char> into,
                                                 std::chrono::milliseconds patience) = 0;
  // Becomes readable when something comes.
  [[nodiscard]] virtual int fd() const = 0;
};

struct ClientOptions {
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds read_timeout{60'000};  // between two pieces of an answer
  std::size_t max_body = 1U << 30U;                // of an answer that is collected
  // Makes the connected, non-blocking socket in another way; null: it is connected to the endpoint.
  std::function<Result<Fd>()> dial;
  // Makes a stream of a connected, non-blocking socket (which it then owns); null: the socket
  // itself.
  std::function<Result<std::unique_ptr<ClientStream>>(Fd)> open;
};

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";
  Headers headers;
  std::string content_type;
  std::string body;
};

struct Response {
  int status = 0;
  Headers headers;
  std::string body;
  [[nodiscard]] std::string_view header(std::string_view name) const { return find_header(headers, name); }
};

class HttpClient {
 public:
  explicit HttpClient(Endpoint to, ClientOptions options = {});

  // Unavailable when there is no connection or it broke: `sent()` then tells whether the server may
  // have seen the request. A kept connection that the server closed meanwhile is replaced first.
  [[nodiscard]] Result<Response> call(const ClientRequest& request);

  // Receives the body piece by piece, once the status is 2xx; other answers are collected. False
  // from `on_body` ends the call (and the connection); the Response says what had come.
  using OnBody = std::function<bool(std::string_view piece)>;
  [[nodiscard]] Result<Response> stream(const ClientRequest& request, const OnBody& on_body);

  [[nodiscard]] bool sent() const { return sent_; }
  void disconnect();
  [[nodiscard]] const Endpoint& endpoint() const { return to_; }

 private:
  [[nodiscard]] Status connect();
  [[nodiscard]] int watched() const { return stream_ ? stream_->fd() : fd_.get(); }
  [[nodiscard]] Status send_over_stream(std::string head, const std::string& body);
  [[nodiscard]] Status send(const ClientRequest& request);
  [[nodiscard]] Result<Response> receive(bool head, const OnBody& on_body);
  [[nodiscard]] Result<std::size_t> read_some(std::size_t filled);

  const Endpoint to_;
  const ClientOptions options_;
  Fd fd_;
  std::unique_ptr<ClientStream> stream_;  // instead of fd_
  bool sent_ = false;
  std::unique_ptr<char[]> buffer_;  // not cleared: a list is read through it in many pieces
};

}  // namespace drover::wire
