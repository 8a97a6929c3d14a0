#include "wire/http_connection.h"

#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "wire/byte_connection.h"

namespace drover::wire {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kReadSize = 16U << 10U;      // enough for a request and its small body at once
constexpr std::size_t kBodyReadSize = 64U << 10U;
constexpr std::size_t kProgress = 64U << 10U;      // bytes that earn a write a new deadline
constexpr std::size_t kMaxPieces = 64;             // the kernel takes no more at once by default
constexpr std::chrono::milliseconds kLinger{1'000};

std::string hex(std::size_t n) {
  std::array<char, 16> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), n, 16);
  return {digits.data(), end};
}

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

bool names(std::string_view list, std::string_view word) {
  const auto parts = split(list, ',');
  return std::ranges::any_of(parts, [&](std::string_view part) { return iequals(trim(part), word); });
}

struct Refusal {
  int status;
  std::string_view why;
};
Refusal refusal_of(const boost::beast::error_code& error) {
  if (error == http::error::header_limit) return {431, "the request's headers are too large"};
  if (error == http::error::body_limit) return {413, "the request's body is too large"};
  if (error == http::error::bad_version) return {505, "only HTTP/1.0 and HTTP/1.1 are spoken here"};
  return {400, "malformed request"};
}

}  // namespace

HttpConnection::HttpConnection(std::shared_ptr<ServerState> server, std::shared_ptr<Shard> shard,
                               std::unique_ptr<Transport> transport, Peer peer)
    : server_(std::move(server)),
      shard_(std::move(shard)),
      transport_(std::move(transport)),
      peer_(std::move(peer)),
      who_(peer_),
      buffer_(server_->options().max_header + kBodyReadSize) {}

void HttpConnection::start(int refused) {
  admitted_ = refused == 0;
  shard_->add(shared_from_this());
  if (!admitted_) {
    refuse(refused, refused == 429 ? "you have too many connections" : "too many connections");
    return;
  }
  if (server_->winding_down()) {
    close();
  } else {
    next_request();
  }
}

void HttpConnection::read() {
  if (reading_ || eof_) return;
  const std::size_t free = buffer_.max_size() - buffer_.size();
  const bool in_body = phase_ == Phase::reading && header_seen_;
  const std::size_t size = std::min(free, in_body ? kBodyReadSize : kReadSize);
  if (size == 0) return;  // pipelined requests wait in the kernel
  const auto space = buffer_.prepare(size);
  reading_ = true;
  transport_->read(shared_from_this(), {static_cast<char*>(space.data()), space.size()});
}

void HttpConnection::on_read(End end, std::size_t size) {
  reading_ = false;
  if (phase_ == Phase::closed) return;
  if (leaves_http()) {  // the read was cancelled to hand the stream over
    const bool early = end == End::no && switch_;  // it had come already: a byte of the new protocol
    if (early) buffer_.commit(size);
    if (early || (end == End::failed && size == 0)) {
      leave_http();
    } else {
      close();
    }
    return;
  }
  if (end == End::failed) {
    close();
    return;
  }
  buffer_.commit(size);
  if (end == End::eof) eof_ = true;
  switch (phase_) {
    case Phase::reading:
      if (eof_) {
        close();
      } else {
        parse();
      }
      return;
    case Phase::answering:
      if (eof_ && streaming_) {
        close();
      } else if (eof_ && call_) {
        call_->caller_left();
      } else {
        read();
      }
      return;
    case Phase::draining:
      buffer_.consume(buffer_.size());
      if (eof_) {
        close();
      } else {
        read();
      }
      return;
    case Phase::upgraded:
    case Phase::closed:
      return;
  }
}

void HttpConnection::next_request() {
  phase_ = Phase::reading;
  header_seen_ = false;
  streaming_ = false;
  keep_alive_ = true;
  request_ = Request{};
  parser_.emplace(request_);
  parser_->eager(true);
  parser_->header_limit(static_cast<std::uint32_t>(server_->options().max_header));
  parser_->body_limit(server_->options().max_body);
  deadline(buffer_.size() == 0 ? server_->options().idle_timeout : server_->options().header_timeout);
  parse();
}

void HttpConnection::parse() {
  if (buffer_.size() == 0) {
    read();
    return;
  }
  if (!parser_->got_some()) deadline(server_->options().header_timeout);
  boost::beast::error_code error;
  buffer_.consume(parser_->put(buffer_.data(), error));
  if (error == http::error::need_more) error = {};
  if (error) {
    const Refusal refusal = refusal_of(error);
    refuse(refusal.status, refusal.why);
    return;
  }
  if (parser_->is_header_done() && !header_seen_ && !header_done()) return;
  if (header_seen_ && !charge()) return;
  if (parser_->is_done()) {
    dispatch();
  } else {
    read();
  }
}

// After the last header, before the body.
bool HttpConnection::header_done() {
  header_seen_ = true;
  http_11_ = parser_->is_http_11();
  is_head_ = request_.method == "HEAD";
  keep_alive_ = parser_->keep_alive();
  if (parser_->is_done()) return true;
  deadline(server_->options().body_timeout);
  if (http_11_ && buffer_.size() == 0 && iequals(request_.header("Expect"), "100-continue")) {
    pieces_.push_back({"HTTP/1.1 100 Continue\r\n\r\n", nullptr});
    write();
  }
  return true;
}

// Bodies count against one budget of the whole server, from their announced size on.
bool HttpConnection::charge() {
  const std::size_t announced = parser_->content_length() ? *parser_->content_length() : 0;
  const std::size_t size = std::max<std::size_t>(announced, request_.body.size());
  if (size <= charged_) return true;
  if (!server_->charge_body(size - charged_)) {
    refuse(503, "too many large requests at once");
    return false;
  }
  charged_ = size;
  return true;
}

void HttpConnection::dispatch() {
  phase_ = Phase::answering;
  Shard::never_expire(*this);
  wants_upgrade_.reset();
  if (!std::exchange(identified_, true)) transport_->identify(who_);
  if (names(request_.header("Upgrade"), "websocket")) {
    wants_upgrade_ = Request{request_.method, request_.target, request_.headers, {}, who_};
  }
  request_.peer = who_;
  call_ = std::make_shared<Call>(shared_from_this(), shard_, server_->options().max_stream_queue);
  const std::shared_ptr<Call> call = call_;
  server_->handler()(std::move(request_), Responder(call));
  // Reading on tells when the caller hangs up; an answer that is ready needs no such watch.
  if (call_ == call && pieces_.empty() && !leaves_http()) read();
}

void HttpConnection::put_head(int status, const std::string& content_type, const Headers& headers,
                              std::string_view framing) {
  std::string head = http_11_ || status < 200 ? "HTTP/1.1 " : "HTTP/1.0 ";
  head += std::to_string(status);
  head += ' ';
  head += reason_phrase(status);
  const auto add = [&head](std::string_view name, std::string_view value) {
    head += "\r\n";
    head += name;
    head += ": ";
    head += value;
  };
  if (!content_type.empty() && is_clean_header({"Content-Type", content_type})) add("Content-Type", content_type);
  for (const Header& header : headers) {
    if (is_clean_header(header)) add(header.name, header.value);
  }
  if (!keep_alive_) {
    add("Connection", "close");
  } else if (!http_11_) {
    add("Connection", "keep-alive");
  }
  head += framing;
  head += "\r\n\r\n";
  pieces_.push_back({std::move(head), nullptr});
}

void HttpConnection::answer(const std::shared_ptr<Call>& call, const Answer& answer) {
  if (call_ != call) return;
  if (server_->winding_down()) keep_alive_ = false;
  const std::size_t size = answer.body ? answer.body->size() : 0;
  put_head(answer.status, answer.content_type, answer.headers,
           has_body(answer.status) ? "\r\nContent-Length: " + std::to_string(size) : std::string{});
  if (size > 0 && has_body(answer.status) && !is_head_) pieces_.push_back({{}, answer.body});
  write();
}

void HttpConnection::begin_stream(const std::shared_ptr<Call>& call, int status, std::string content_type,
                                  Headers headers) {
  if (call_ != call) return;
  if (server_->winding_down()) keep_alive_ = false;
  chunked_ = http_11_;
  if (!chunked_) keep_alive_ = false;
  put_head(status, content_type, headers, chunked_ ? "\r\nTransfer-Encoding: chunked" : "");
  streaming_ = true;
  if (eof_) {
    close();
    return;
  }
  write();
  flush_stream(call);
  if (phase_ == Phase::answering) read();
}

void HttpConnection::flush_stream(const std::shared_ptr<Call>& call) {
  if (call_ != call || !streaming_ || phase_ != Phase::answering) return;
  Call::Taken taken = call->take();
  for (Bytes& bytes : taken.bytes) {
    const std::size_t size = bytes->size();
    if (is_head_) {
      call->wrote(size);
      continue;
    }
    if (chunked_) pieces_.push_back({hex(size) + "\r\n", nullptr});
    pieces_.push_back({{}, std::move(bytes), true});
    if (chunked_) pieces_.push_back({"\r\n", nullptr});
  }
  if (taken.finished) {
    streaming_ = false;
    if (chunked_ && !is_head_) pieces_.push_back({"0\r\n\r\n", nullptr});
  }
  if (pieces_.empty()) {
    if (taken.finished && !writing_) answer_done();
    return;
  }
  write();
}

void HttpConnection::write() {
  if (writing_ || pieces_.empty() || phase_ == Phase::closed) return;
  views_.clear();
  for (const Piece& piece : pieces_) {
    if (views_.size() == kMaxPieces) break;
    views_.push_back(piece.view());
  }
  views_.front().remove_prefix(offset_);
  if (phase_ == Phase::answering && progress_ == 0) deadline(server_->options().write_timeout);
  writing_ = true;
  transport_->write(shared_from_this(), views_);
}

void HttpConnection::on_written(bool failed, std::size_t size) {
  if (phase_ == Phase::closed) return;
  if (failed) {
    close();
    return;
  }
  progress_ += size;
  if (progress_ >= kProgress) progress_ = 0;  // write() moves the deadline
  const std::shared_ptr<Call> call = call_;
  offset_ += size;
  while (!pieces_.empty() && offset_ >= pieces_.front().view().size()) {
    const std::size_t whole = pieces_.front().view().size();
    const bool counted = pieces_.front().counted;
    offset_ -= whole;
    pieces_.pop_front();
    if (counted && call) call->wrote(whole);
    if (phase_ == Phase::closed) return;  // its listener may do anything but write now
  }
  writing_ = false;
  if (!pieces_.empty()) {
    write();
  } else {
    drained();
  }
}

// All that was to be written has been written.
void HttpConnection::drained() {
  progress_ = 0;
  if (writing_ || phase_ != Phase::answering) return;  // the 100 of a body that is still coming in
  if (streaming_) {
    Shard::never_expire(*this);
    return;
  }
  answer_done();
}

void HttpConnection::answer_done() {
  if (call_) std::exchange(call_, nullptr)->end(false);
  server_->release_body(std::exchange(charged_, 0));
  if (eof_ || !keep_alive_ || server_->winding_down()) {
    linger();
  } else {
    next_request();
  }
}

void HttpConnection::refuse(int status, std::string_view why) {
  phase_ = Phase::answering;
  keep_alive_ = false;
  is_head_ = false;
  const std::string text = std::string(why) + "\n";
  Headers headers;
  if (status == 429 || status == 503) headers.push_back({"Retry-After", "1"});
  put_head(status, "text/plain; charset=utf-8", headers, "\r\nContent-Length: " + std::to_string(text.size()));
  pieces_.push_back({text, nullptr});
  write();
}

// Closing with unread input would destroy the answer on its way: send the end and read for a while.
void HttpConnection::linger() {
  if (eof_) {
    close();
    return;
  }
  phase_ = Phase::draining;
  buffer_.consume(buffer_.size());
  transport_->shutdown_send();
  deadline(kLinger);
  read();
}

void HttpConnection::upgrade(const std::shared_ptr<Call>& call, WsHandlers handlers, WsTerms terms) {
  if (call_ != call) return;
  if (!wants_upgrade_ || buffer_.size() != 0 || eof_) {
    answer(call, text_answer(wants_upgrade_ ? 400 : 426, "this address speaks WebSocket\n"));
    return;
  }
  upgrade_ = std::move(handlers);
  terms_ = std::move(terms);
  if (!terms_.limits) terms_.limits = server_->options().websocket;
  leave_http();
}

void HttpConnection::switch_protocols(const std::shared_ptr<Call>& call, Switch to) {
  if (call_ != call) return;
  if (writing_ || eof_) {
    answer(call, text_answer(400, "too early for another protocol\n"));
    return;
  }
  switch_ = std::move(to);
  leave_http();
}

void HttpConnection::leave_http() {
  if (reading_) {
    transport_->cancel_read();
    return;
  }
  phase_ = Phase::upgraded;
  if (call_) std::exchange(call_, nullptr)->end(false);
  server_->release_body(std::exchange(charged_, 0));
  const std::shared_ptr<HttpConnection> self = shared_from_this();
  shard_->remove(*this);
  if (upgrade_) {
    do_upgrade();
  } else {
    do_switch();
  }
}

void HttpConnection::do_upgrade() {
  transport_->upgrade(*wants_upgrade_, std::move(*upgrade_), terms_,
                      [server = server_, peer = peer_](const std::string&) { server->leave(peer); });
  upgrade_.reset();
}

void HttpConnection::do_switch() {
  Switch to = std::move(*switch_);
  switch_.reset();
  keep_alive_ = true;
  to.headers.insert(to.headers.begin(), {{"Connection", "Upgrade"}, {"Upgrade", to.protocol}});
  put_head(101, {}, to.headers, {});
  const std::string early(static_cast<const char*>(buffer_.data().data()), buffer_.size());
  std::make_shared<ByteConnection>(shard_, std::move(transport_), who_, to.limits, std::move(to.handlers),
                                   [server = server_, peer = peer_] { server->leave(peer); })
      ->start(std::exchange(pieces_, {}).front().own, early);
}

void HttpConnection::adopt(const std::shared_ptr<Call>& call, Peer peer) {
  if (call_ == call) who_ = std::move(peer);
}

void HttpConnection::cut(const std::shared_ptr<Call>& call) {
  if (call_ == call) close();
}

void HttpConnection::on_deadline() {
  const bool half_a_request = phase_ == Phase::reading && parser_->got_some() && !writing_;
  if (half_a_request) {
    refuse(408, "the request took too long to arrive");
  } else {
    close();
  }
}

void HttpConnection::on_wind_down() {
  const bool idle = phase_ == Phase::reading && !parser_->got_some();
  if (idle || streaming_) close();
}

void HttpConnection::close() {
  if (phase_ == Phase::closed || phase_ == Phase::upgraded) return;
  phase_ = Phase::closed;
  const std::shared_ptr<HttpConnection> self = shared_from_this();
  transport_->close();
  shard_->remove(*this);
  server_->release_body(std::exchange(charged_, 0));
  if (admitted_) {
    server_->leave(peer_);
  } else {
    server_->leave_refused();
  }
  if (call_) std::exchange(call_, nullptr)->end(true);
}

}  // namespace drover::wire
