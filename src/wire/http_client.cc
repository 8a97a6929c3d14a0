#include "wire/http_client.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace drover::wire {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kBuffer = 128U << 10U;
constexpr std::size_t kMaxHeader = 64U << 10U;

class ResponseParser : public http::basic_parser<false> {
 public:
  ResponseParser(const HttpClient::OnBody& on_body, std::size_t max_body) : on_body_(on_body), max_body_(max_body) {}
  [[nodiscard]] Response& response() { return response_; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  using Text = boost::beast::string_view;
  using Ec = boost::beast::error_code;

  void on_request_impl(http::verb, Text, Text, int, Ec&) override {}
  void on_response_impl(int status, Text, int, Ec&) override { response_.status = status; }
  void on_field_impl(http::field, Text name, Text value, Ec&) override {
    response_.headers.push_back({std::string(name), std::string(value)});
  }
  void on_header_impl(Ec&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Ec&) override {}
  std::size_t on_body_impl(Text body, Ec& error) override {
    if (on_body_ && response_.status / 100 == 2) {
      if (!stopped_ && !on_body_({body.data(), body.size()})) stopped_ = true;
    } else if (response_.body.size() + body.size() > max_body_) {
      error = http::error::body_limit;
    } else {
      response_.body.append(body.data(), body.size());
    }
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, Ec&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Ec& error) override { return on_body_impl(body, error); }
  void on_finish_impl(Ec&) override {}

  const HttpClient::OnBody& on_body_;
  const std::size_t max_body_;
  Response response_;
  bool stopped_ = false;
};

// Waits until the socket is ready; 0, or an errno.
int wait_for(int fd, short what, std::chrono::milliseconds limit) {
  pollfd poll_fd{fd, what, 0};
  const int wait = static_cast<int>(std::min<std::int64_t>(limit.count(), 1 << 30));
  int ready = 0;
  do {
    ready = ::poll(&poll_fd, 1, wait);
  } while (ready < 0 && errno == EINTR);
  return ready > 0 ? 0 : ready == 0 ? ETIMEDOUT : errno;
}

std::string head_of(const ClientRequest& request, const Endpoint& to) {
  std::string head = request.method + " " + request.target + " HTTP/1.1\r\nHost: ";
  head += to.path.empty() ? to.text() : "localhost";
  if (!request.content_type.empty()) head += "\r\nContent-Type: " + request.content_type;
  for (const Header& header : request.headers) head += "\r\n" + header.name + ": " + header.value;
  const bool says_size = !request.body.empty() || (request.method != "GET" && request.method != "HEAD");
  if (says_size) head += "\r\nContent-Length: " + std::to_string(request.body.size());
  return head + "\r\n\r\n";
}

bool is_clean(const ClientRequest& request) {
  const auto plain = [](std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c != '\x7f'; });
  };
  return plain(request.method) && plain(request.target) && is_clean_header({"Content-Type", request.content_type}) &&
         std::ranges::all_of(request.headers, is_clean_header);
}

}  // namespace

HttpClient::HttpClient(Endpoint to, ClientOptions options) : to_(std::move(to)), options_(options) {}

Result<Response> HttpClient::call(const ClientRequest& request) { return stream(request, nullptr); }

Result<Response> HttpClient::stream(const ClientRequest& request, const OnBody& on_body) {
  sent_ = false;
  if (!is_clean(request)) return Error{Errc::invalid, "a request with a blank or control character in its head"};
  TRY(connect());
  Status sent = send(request);
  if (!sent) {
    // The server may have answered (413, 503) and closed before it read everything.
    if (wait_for(watched(), POLLIN, std::chrono::milliseconds(0)) == 0) {
      Result<Response> early = receive(false, nullptr);
      disconnect();
      if (early && early->status >= 400) return early;
    }
    disconnect();
    return std::move(sent).error();
  }
  Result<Response> response = receive(request.method == "HEAD", on_body);
  if (!response) disconnect();
  return response;
}

Status HttpClient::connect() {
  if (fd_ || stream_) {
    pollfd kept{watched(), POLLIN, 0};
    if (::poll(&kept, 1, 0) != 0) disconnect();  // closed, or something unasked has come
  }
  if (fd_ || stream_) return Done{};
  fd_ = options_.dial ? TRY(options_.dial()) : TRY(connect_to(to_, options_.connect_timeout));
  if (options_.open) stream_ = TRY(options_.open(std::move(fd_)));
  return Done{};
}

void HttpClient::disconnect() {
  fd_.reset();
  stream_.reset();
}

Status HttpClient::send_over_stream(std::string head, const std::string& body) {
  head += body;
  for (std::string_view left = head; !left.empty();) {
    const Result<std::size_t> n = stream_->write(left, options_.read_timeout);
    if (!n) return Error{n.error()}.under(to_.text());
    sent_ = true;
    left.remove_prefix(*n);
  }
  return Done{};
}

Status HttpClient::send(const ClientRequest& request) {
  if (stream_) return send_over_stream(head_of(request, to_), request.body);
  const std::string head = head_of(request, to_);
  std::size_t done = 0;
  const std::size_t all = head.size() + request.body.size();
  while (done < all) {
    iovec parts[2] = {};
    const std::size_t of_head = std::min(done, head.size());
    const std::size_t of_body = done - of_head;
    parts[0] = {const_cast<char*>(head.data() + of_head), head.size() - of_head};
    parts[1] = {const_cast<char*>(request.body.data() + of_body), request.body.size() - of_body};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t n = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    int error = n < 0 ? errno : 0;
    if (error == EAGAIN) error = wait_for(fd_.get(), POLLOUT, options_.read_timeout);
    if (error != 0 && error != EINTR) {
      return Error{Errc::unavailable, to_.text() + ": " + std::strerror(error)};
    }
    if (n > 0) {
      sent_ = true;
      done += static_cast<std::size_t>(n);
    }
  }
  return Done{};
}

// Reads behind the first `filled` bytes of the buffer; 0 at the end of the stream.
Result<std::size_t> HttpClient::read_some(std::size_t filled) {
  if (filled == kBuffer) return Error{Errc::unavailable, to_.text() + ": malformed answer: its head is too large"};
  if (stream_) {
    const Result<std::size_t> n = stream_->read({buffer_.get() + filled, kBuffer - filled}, options_.read_timeout);
    if (!n) return Error{n.error()}.under(to_.text());
    return *n;
  }
  for (;;) {
    const ssize_t n = ::recv(fd_.get(), buffer_.get() + filled, kBuffer - filled, 0);
    if (n >= 0) return static_cast<std::size_t>(n);
    int error = errno;
    if (error == EAGAIN) error = wait_for(fd_.get(), POLLIN, options_.read_timeout);
    if (error != 0 && error != EINTR) return Error{Errc::unavailable, to_.text() + ": " + std::strerror(error)};
  }
}

Result<Response> HttpClient::receive(bool head, const OnBody& on_body) {
  std::optional<ResponseParser> parser;
  const auto fresh = [&] {
    parser.emplace(on_body, options_.max_body);
    parser->eager(true);
    parser->skip(head);
    parser->header_limit(kMaxHeader);
    parser->body_limit(boost::none);
  };
  fresh();
  const auto broken = [&](std::string_view what) {
    return Error{Errc::unavailable, to_.text() + ": " + std::string(what)};
  };
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(kBuffer);
  std::size_t filled = 0;
  for (bool more = true; !parser->is_done();) {
    boost::beast::error_code error;
    const std::size_t size = more ? TRY(read_some(filled)) : 0;
    filled += size;
    if (more && size == 0) {
      if (parser->got_some()) parser->put_eof(error);
      if (error || !parser->is_done()) return broken("the connection ended before the answer did");
      break;
    }
    const std::size_t used = parser->put(boost::asio::const_buffer(buffer_.get(), filled), error);
    filled -= used;
    std::memmove(buffer_.get(), buffer_.get() + used, filled);
    if (error && error != http::error::need_more) return broken("malformed answer: " + error.message());
    if (parser->stopped()) {
      disconnect();
      return std::move(parser->response());
    }
    more = true;
    if (parser->is_done() && parser->response().status / 100 == 1) {  // the answer follows
      fresh();
      more = filled == 0;
    }
  }
  if (!parser->keep_alive() || filled != 0) disconnect();
  return std::move(parser->response());
}

}  // namespace drover::wire
