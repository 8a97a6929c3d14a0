// One WebSocket over any kind of stream, at either end. Lives on its shard's thread; send and close
// may come from any thread. Included only by the .cc of a stream kind. Internal to wire.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "wire/shard.h"
#include "wire/websocket.h"

namespace drover::wire {

namespace websocket = boost::beast::websocket;

// What an error of that kind of stream means; kinds with words of their own specialise it.
template <class Socket>
struct StreamWords {
  static std::string of(Socket&, const boost::system::error_code& error) { return error.message(); }
};

template <class Socket>
class WsConnection : public WsSession, public Timed, public std::enable_shared_from_this<WsConnection<Socket>> {
 public:
  // `ended` is called once, on the shard's thread, when the socket is closed; the text says why.
  WsConnection(std::shared_ptr<Shard> shard, Socket socket, Peer peer, const WsTerms& terms, WsHandlers handlers,
               std::function<void(const std::string&)> ended)
      : shard_(std::move(shard)),
        ws_(std::move(socket)),
        retry_(shard_->context().get_executor()),
        peer_(std::move(peer)),
        limits_(terms.limits.value_or(WsLimits{})),
        protocol_(terms.protocol),
        text_(terms.text),
        low_(terms.low),
        handlers_(std::move(handlers)),
        ended_(std::move(ended)) {}

  // The server's end.
  void accept(const Request& request) {
    prepare();
    if (!protocol_.empty()) {
      ws_.set_option(websocket::stream_base::decorator([name = protocol_](websocket::response_type& response) {
        response.set(boost::beast::http::field::sec_websocket_protocol, name);
      }));
    }
    request_.method_string(request.method);
    request_.target(request.target);
    request_.version(11);
    for (const Header& header : request.headers) request_.insert(header.name, header.value);
    ws_.async_accept(request_, [self = this->shared_from_this()](const Code& error) {
      if (error) {
        self->fail("handshake: " + error.message());
      } else {
        self->opened();
      }
    });
  }

  // The client's end.
  void handshake(const std::string& host, const std::string& target, const Headers& headers) {
    prepare();
    ws_.set_option(websocket::stream_base::decorator([headers](websocket::request_type& request) {
      for (const Header& header : headers) request.set(header.name, header.value);
    }));
    ws_.async_handshake(response_, host, target, [self = this->shared_from_this()](const Code& error) {
      if (error == websocket::error::upgrade_declined) {
        self->fail("the server answered " + std::to_string(self->response_.result_int()));
      } else if (error) {
        self->fail("handshake: " + StreamWords<Socket>::of(self->ws_.next_layer(), error));
      } else {
        self->opened();
      }
    });
  }

  Sent send(Bytes message) override {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return Sent::closed;
      if (queued_ + message->size() > limits_.max_queue) return Sent::full;
      queued_ += message->size();
      queue_.push_back(std::move(message));
      if (std::exchange(sending_, true)) return Sent::queued;
    }
    shard_->post([self = this->shared_from_this()] { self->write(); });
    return Sent::queued;
  }

  void close() override {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(closing_, true)) return;
      if (sending_) return;  // write() closes when the queue is empty
      sending_ = true;
    }
    shard_->post([self = this->shared_from_this()] { self->write(); });
  }

  [[nodiscard]] std::size_t waiting() const override {
    const std::lock_guard lock(mutex_);
    return queued_;
  }
  void resume() override {
    // Later, so that who says so isn't called back from within.
    shard_->post_later([self = this->shared_from_this()] {
      if (!self->held_back_ || self->ended_reported_) return;
      self->held_back_ = false;
      self->retry_.cancel();
      self->deliver();
    });
  }

  [[nodiscard]] const Peer& peer() const override { return peer_; }

  void on_deadline() override {
    if (leaving_ || !open_) {
      fail(why_.empty() ? "the peer did not answer" : why_);
      return;
    }
    // While a write waits for the peer, Beast reads none of its pings either; the kernel watches over that.
    if (std::exchange(heard_, false) || held_back_ || stalled_) silent_ = std::chrono::milliseconds{0};
    else silent_ += limits_.ping_every;
    if (silent_ >= limits_.dead_after) {
      fail("the peer has been silent for too long");
      return;
    }
    if (!std::exchange(pinging_, true)) {
      ws_.async_ping({}, [self = this->shared_from_this()](const Code& error) {
        self->pinging_ = false;
        if (error) self->fail(error.message());
      });
    }
    stalled_ = writing_;
    shard_->expire_in(*this, limits_.ping_every);
    if (handlers_.on_tick && !ended_reported_) handlers_.on_tick(this->shared_from_this());
  }
  void on_wind_down() override { close(); }
  void on_stop() override { fail("stopped"); }

 private:
  using Code = boost::system::error_code;

  void prepare() {
    shard_->add(this->shared_from_this());
    shard_->expire_in(*this, limits_.handshake);
    const auto none = websocket::stream_base::none();  // on_deadline sees to all of that
    ws_.set_option(websocket::stream_base::timeout{none, none, false});
    ws_.read_message_max(limits_.max_message);
    ws_.binary(true);
    ws_.auto_fragment(false);
    ws_.write_buffer_bytes(64U << 10U);
    ws_.control_callback([this](websocket::frame_type, boost::beast::string_view) { heard_ = true; });
  }

  void opened() {
    if (ended_reported_) return;
    open_ = true;
    shard_->expire_in(*this, limits_.ping_every);
    handlers_.on_open(this->shared_from_this());
    if (ended_reported_) return;
    {
      const std::lock_guard lock(mutex_);
      if (!sending_ && closing_) sending_ = true;
    }
    write();  // what was sent before the handshake was through
    read();
  }

  void read() {
    constexpr std::size_t kChunk = 64U << 10U;
    ws_.async_read_some(buffer_, kChunk, [self = this->shared_from_this()](const Code& error, std::size_t) {
      self->on_read(error);
    });
  }

  void on_read(const Code& error) {
    if (error) {
      fail(error == websocket::error::closed ? "closed by the peer" : error.message());
      return;
    }
    heard_ = true;
    if (!ws_.is_message_done()) {
      read();
      return;
    }
    if (!text_ && !ws_.got_binary()) {
      fail("the peer sent text where messages are binary");
      return;
    }
    message_.assign(static_cast<const char*>(buffer_.data().data()), buffer_.size());
    buffer_.clear();
    if (buffer_.capacity() > (1U << 20U)) buffer_.shrink_to_fit();
    deliver();
  }

  void deliver() {
    if (ended_reported_) return;
    held_back_ = !handlers_.on_message(this->shared_from_this(), message_);
    if (ended_reported_) return;
    if (!held_back_) {
      message_.clear();
      read();
      return;
    }
    retry_.expires_after(std::chrono::milliseconds(20));
    retry_.async_wait([self = this->shared_from_this()](const Code& error) {
      if (!error && self->held_back_) self->deliver();
    });
  }

  void write() {
    if (!open_ || writing_ || leaving_ || ended_reported_) return;
    {
      const std::lock_guard lock(mutex_);
      if (queue_.empty()) {
        sending_ = closing_;
        if (!closing_) return;
      } else {
        sent_ = std::move(queue_.front());
        queue_.pop_front();
      }
    }
    if (!sent_) {
      leave();
      return;
    }
    writing_ = true;
    ws_.async_write(asio::buffer(*sent_), [self = this->shared_from_this()](const Code& error, std::size_t) {
      self->writing_ = self->stalled_ = false;
      bool drained = false;
      {
        const std::lock_guard lock(self->mutex_);
        const bool high = self->queued_ > self->low_;
        self->queued_ -= self->sent_->size();
        drained = high && self->queued_ <= self->low_;
      }
      self->sent_.reset();
      if (error) {
        self->fail(error.message());
        return;
      }
      self->write();
      if (drained && self->handlers_.on_drained && !self->ended_reported_) self->handlers_.on_drained(self);
    });
  }

  void leave() {
    leaving_ = true;
    why_ = "closed";
    shard_->expire_in(*this, limits_.farewell);
    ws_.async_close(websocket::close_code::normal,
                    [self = this->shared_from_this()](const Code&) { self->fail("closed"); });
  }

  void fail(const std::string& why) {
    if (std::exchange(ended_reported_, true)) return;
    const auto self = this->shared_from_this();
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    Code ignored;
    boost::beast::get_lowest_layer(ws_).close(ignored);
    retry_.cancel();
    shard_->remove(*this);
    const std::string reason = leaving_ ? why_ : why;
    if (open_) handlers_.on_close(self, reason);
    ended_(reason);
    handlers_ = {};
    ended_ = nullptr;
  }

  const std::shared_ptr<Shard> shard_;
  websocket::stream<Socket, false> ws_;
  asio::steady_timer retry_;
  const Peer peer_;
  const WsLimits limits_;
  const std::string protocol_;
  const bool text_;
  const std::size_t low_;
  WsHandlers handlers_;
  std::function<void(const std::string&)> ended_;

  boost::beast::http::request<boost::beast::http::empty_body> request_;
  websocket::response_type response_;
  boost::beast::flat_buffer buffer_;
  std::string message_;
  std::string why_;
  bool open_ = false;
  bool leaving_ = false;         // our closing handshake has begun
  bool ended_reported_ = false;
  bool heard_ = true;            // since the last ping
  bool held_back_ = false;       // a message waits for its receiver
  bool pinging_ = false;
  bool writing_ = false;
  bool stalled_ = false;         // a write was in flight at the last ping
  Bytes sent_;                   // in flight
  std::chrono::milliseconds silent_{0};

  mutable std::mutex mutex_;
  std::deque<Bytes> queue_;
  std::size_t queued_ = 0;
  bool sending_ = false;  // write() has been asked for and will see the queue
  bool closing_ = false;
};

}  // namespace drover::wire
