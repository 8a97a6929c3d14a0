#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/random.h"
#include "wire/shard.h"
#include "wire/transport.h"
#include "wire/websocket.h"

namespace drover::wire {

// Everything happens on the thread of a shard of its own; there the connect may block for
// connect_timeout, since the client has nothing else to do.
class WsClient::Loop : public std::enable_shared_from_this<WsClient::Loop> {
 public:
  Loop(WsClientOptions options, WsHandlers handlers)
      : options_(std::move(options)),
        handlers_(std::move(handlers)),
        shard_(std::make_shared<Shard>()),
        timer_(std::make_unique<asio::steady_timer>(shard_->context())),
        random_(options_.seed) {}

  void start() {
    shard_->start();
    shard_->post([self = shared_from_this()] { self->connect(); });
  }

  void stop() {
    stopping_ = true;
    shard_->post([self = shared_from_this()] {
      self->timer_->cancel();
      if (self->session_) self->session_->close();
      self->session_.reset();
    });
    shard_->stop();
    timer_.reset();
  }

 private:
  void connect() {
    if (stopping_) return;
    Result<Fd> fd = connect_to(options_.to, options_.connect_timeout);
    if (!fd) {
      retry(fd.error().message);
      return;
    }
    const auto self = shared_from_this();
    WsHandlers watched;
    watched.on_open = [self](const WsSessionPtr& session) {
      self->session_ = session;
      self->handlers_.on_open(session);
    };
    watched.on_message = [self](const WsSessionPtr& session, std::string& message) {
      self->attempts_ = 0;  // the server talks with us: the next loss starts with the short pause
      return self->handlers_.on_message(session, message);
    };
    watched.on_close = [self](const WsSessionPtr& session, const std::string& why) {
      self->session_.reset();
      self->handlers_.on_close(session, why);
    };
    const std::string host = options_.to.path.empty() ? options_.to.text() : "localhost";
    const WsHello hello{host, options_.target, options_.headers};
    const auto ended = [self](const std::string& why) { self->retry(why); };
    if (options_.websocket) {
      options_.websocket(shard_, std::move(*fd), hello, options_.limits, std::move(watched), ended);
    } else {
      plain_websocket(shard_, std::move(*fd), hello, options_.limits, std::move(watched), ended);
    }
  }

  void retry(const std::string& why) {
    if (stopping_) return;
    const auto longest = std::min<std::int64_t>(options_.retry_min.count() << std::min(attempts_, 20),
                                                options_.retry_max.count());
    ++attempts_;
    const std::chrono::milliseconds pause(random_.between(longest / 2, longest));
    if (options_.on_retry) options_.on_retry(why, pause);
    timer_->expires_after(pause);
    timer_->async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->connect();
    });
  }

  const WsClientOptions options_;
  const WsHandlers handlers_;
  const std::shared_ptr<Shard> shard_;
  std::unique_ptr<asio::steady_timer> timer_;
  Random random_;
  int attempts_ = 0;
  WsSessionPtr session_;
  std::atomic<bool> stopping_{false};
};

WsClient::WsClient(WsClientOptions options, WsHandlers handlers)
    : loop_(std::make_shared<Loop>(std::move(options), std::move(handlers))) {
  loop_->start();
}
WsClient::~WsClient() { stop(); }
void WsClient::stop() {
  if (loop_) std::exchange(loop_, nullptr)->stop();
}

}  // namespace drover::wire
