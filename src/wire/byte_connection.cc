#include "wire/byte_connection.h"

#include <utility>

namespace drover::wire {
namespace {

constexpr std::size_t kMaxPieces = 64;  // the kernel takes no more at once by default

}  // namespace

ByteConnection::ByteConnection(std::shared_ptr<Shard> shard, std::unique_ptr<Transport> transport,
                               Peer peer, const ByteLimits& limits, ByteHandlers handlers,
                               std::function<void()> ended)
    : shard_(std::move(shard)),
      transport_(std::move(transport)),
      peer_(std::move(peer)),
      limits_(limits),
      handlers_(std::move(handlers)),
      ended_(std::move(ended)) {}

void ByteConnection::start(std::string head, const std::string& early) {
  shard_->add(shared_from_this());
  if (limits_.tick.count() > 0) shard_->expire_in(*this, limits_.tick);
  if (!head.empty()) send(bytes(std::move(head)));
  handlers_.on_open(shared_from_this());
  if (!early.empty() && !closing_ && !over_) handlers_.on_bytes(early);
  read();
}

void ByteConnection::send(Bytes bytes) {
  if (over_ || closing_ || mute_ || !bytes || bytes->empty()) return;
  waiting_ += bytes->size();
  out_.push_back(std::move(bytes));
  write();
}

void ByteConnection::hold(bool hold) {
  held_ = hold;
  read();
}

void ByteConnection::close() {
  if (over_ || std::exchange(closing_, true)) return;
  held_ = false;  // a peer that goes is to be noticed
  read();
  if (out_.empty() && !writing_) told_all();
}

void ByteConnection::told_all() {
  if (std::exchange(shut_, true)) return;
  if (limits_.linger.count() <= 0) {
    shard_->post_later([self = shared_from_this()] { self->fail("closed"); });
    return;
  }
  // Closing with unread input would destroy what is still on its way: the peer goes first.
  transport_->shutdown_send();
  shard_->expire_in(*this, limits_.linger);
}

void ByteConnection::read() {
  if (reading_ || over_ || held_) return;
  reading_ = true;
  transport_->read(shared_from_this(), in_);
}

void ByteConnection::on_read(End end, std::size_t size) {
  reading_ = false;
  if (over_) return;
  if (end != End::no) return fail(end == End::eof ? "closed by the peer" : "the connection broke");
  const auto self = shared_from_this();
  if (!closing_)
    handlers_.on_bytes({in_.data(), size});
  else if (shut_)
    shard_->expire_in(*this, limits_.linger);
  read();
}

void ByteConnection::write() {
  if (writing_ || over_ || out_.empty()) return;
  views_.clear();
  for (const Bytes& piece : out_) {
    if (views_.size() == kMaxPieces) break;
    views_.push_back(*piece);
  }
  views_.front().remove_prefix(offset_);
  writing_ = true;
  transport_->write(shared_from_this(), views_);
}

void ByteConnection::on_written(bool failed, std::size_t size) {
  writing_ = false;
  if (over_) return;
  const bool was_high = waiting_ > limits_.low;
  if (failed) {  // what the peer said before it went is still to be read, its end behind that
    mute_ = true;
    out_.clear();
    waiting_ = 0;
  } else {
    waiting_ -= size;
    offset_ += size;
  }
  while (!out_.empty() && offset_ >= out_.front()->size()) {
    offset_ -= out_.front()->size();
    out_.pop_front();
  }
  write();
  if (closing_ && out_.empty()) return told_all();
  if (was_high && waiting_ <= limits_.low && !closing_ && handlers_.on_drained) {
    const auto self = shared_from_this();
    handlers_.on_drained();
  }
}

void ByteConnection::on_deadline() {
  if (shut_) return fail("closed");
  if (limits_.tick.count() <= 0) return;
  shard_->expire_in(*this, limits_.tick);
  const auto self = shared_from_this();
  if (!closing_ && handlers_.on_tick) handlers_.on_tick();
}

void ByteConnection::fail(const std::string& why) {
  if (std::exchange(over_, true)) return;
  const auto self = shared_from_this();
  transport_->close();
  shard_->remove(*this);
  out_.clear();
  waiting_ = 0;
  const ByteHandlers handlers = std::exchange(handlers_, {});
  if (handlers.on_close) handlers.on_close(closing_ ? "closed" : why);
  if (ended_) std::exchange(ended_, nullptr)();
}

Lane::Lane(std::shared_ptr<Shard> shard) : shard_(std::move(shard)) {}

bool Lane::post(std::function<void()> work) const { return shard_->post(std::move(work)); }

bool Lane::post_later(std::function<void()> work) const {
  return shard_->post_later(std::move(work));
}

void Lane::post_after(std::chrono::milliseconds wait, std::function<void()> work) const {
  const auto timer = std::make_shared<asio::steady_timer>(shard_->context(), wait);
  timer->async_wait([timer, work = std::move(work)](const auto&) { work(); });
}

bool Lane::open(Fd socket, const ByteLimits& limits, ByteHandlers handlers) const {
  if (shard_->ending()) return false;
  Peer peer = peer_of(socket.get());
  std::make_shared<ByteConnection>(shard_, plain_transport(shard_, std::move(socket)),
                                   std::move(peer), limits, std::move(handlers), nullptr)
      ->start({}, {});
  return true;
}

}  // namespace drover::wire
