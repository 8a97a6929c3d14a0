#include "wire/call.h"

#include <utility>

#include "wire/http_connection.h"

namespace drover::wire {
namespace {

// Runs `work(connection)` on the connection's thread, later when `later`.
template <class Work>
void on_shard(const std::shared_ptr<HttpConnection>& connection, bool later, Work work) {
  if (!connection) return;
  auto job = [connection, work = std::move(work)]() mutable { work(*connection); };
  if (later) {
    connection->shard().post_later(std::move(job));
  } else {
    connection->shard().post(std::move(job));
  }
}

}  // namespace

void Call::answer(Answer answer) {
  std::shared_ptr<HttpConnection> connection;
  {
    const std::lock_guard lock(mutex_);
    connection = connection_;
  }
  on_shard(connection, false, [self = shared_from_this(), answer = std::move(answer)](HttpConnection& c) {
    c.answer(self, answer);
  });
}

void Call::begin_stream(int status, std::string content_type, Headers headers) {
  std::shared_ptr<HttpConnection> connection;
  {
    const std::lock_guard lock(mutex_);
    connection = connection_;
  }
  on_shard(connection, false,
           [self = shared_from_this(), status, type = std::move(content_type),
            headers = std::move(headers)](HttpConnection& c) mutable {
             c.begin_stream(self, status, std::move(type), std::move(headers));
           });
}

void Call::adopt(Peer peer) {
  std::shared_ptr<HttpConnection> connection;
  {
    const std::lock_guard lock(mutex_);
    connection = connection_;
  }
  on_shard(connection, false,
           [self = shared_from_this(), peer = std::move(peer)](HttpConnection& c) mutable {
             c.adopt(self, std::move(peer));
           });
}

void Call::upgrade(WsHandlers handlers, WsTerms terms) {
  std::shared_ptr<HttpConnection> connection;
  {
    const std::lock_guard lock(mutex_);
    connection = connection_;
  }
  on_shard(connection, false,
           [self = shared_from_this(), handlers = std::move(handlers),
            terms = std::move(terms)](HttpConnection& c) mutable {
             c.upgrade(self, std::move(handlers), std::move(terms));
           });
}

void Call::switch_protocols(Switch to) {
  std::shared_ptr<HttpConnection> connection;
  {
    const std::lock_guard lock(mutex_);
    connection = connection_;
  }
  on_shard(connection, false, [self = shared_from_this(), to = std::move(to)](HttpConnection& c) mutable {
    c.switch_protocols(self, std::move(to));
  });
}

bool Call::write(Bytes bytes) {
  if (!bytes || bytes->empty()) return !gone();
  std::shared_ptr<HttpConnection> connection;
  {
    const std::lock_guard lock(mutex_);
    if (gone_ || finished_ || aborted_ || !connection_) return false;
    if (waiting_ + bytes->size() <= max_queue_ || waiting_ == 0) {
      waiting_ += bytes->size();
      incoming_.push_back(std::move(bytes));
      if (flush_posted_) return true;
      flush_posted_ = true;
      connection = connection_;
    }
  }
  if (!connection) {
    abort();
    return false;
  }
  on_shard(connection, false, [self = shared_from_this()](HttpConnection& c) { c.flush_stream(self); });
  return true;
}

void Call::finish() {
  std::shared_ptr<HttpConnection> connection;
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || gone_ || aborted_) return;
    finished_ = true;
    if (std::exchange(flush_posted_, true)) return;
    connection = connection_;
  }
  on_shard(connection, false, [self = shared_from_this()](HttpConnection& c) { c.flush_stream(self); });
}

void Call::abort() {
  std::shared_ptr<HttpConnection> connection;
  {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    connection = connection_;
  }
  on_shard(connection, true, [self = shared_from_this()](HttpConnection& c) { c.cut(self); });
}

bool Call::gone() const {
  const std::lock_guard lock(mutex_);
  return gone_;
}

std::size_t Call::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void Call::when_drained(std::size_t low, std::function<void()> resume) {
  {
    const std::lock_guard lock(mutex_);
    if (!gone_ && waiting_ > low) {
      low_ = low;
      resume_ = std::move(resume);
      return;
    }
  }
  resume();
}

void Call::when_gone(std::function<void()> notify) {
  {
    const std::lock_guard lock(mutex_);
    if (!gone_) {
      notify_.push_back(std::move(notify));
      return;
    }
  }
  notify();
}

Call::Taken Call::take() {
  const std::lock_guard lock(mutex_);
  flush_posted_ = false;
  return {std::exchange(incoming_, {}), finished_};
}

void Call::wrote(std::size_t bytes) {
  std::function<void()> resume;
  {
    const std::lock_guard lock(mutex_);
    waiting_ -= bytes;
    if (resume_ && waiting_ <= low_) resume = std::exchange(resume_, nullptr);
  }
  if (resume) resume();
}

std::vector<std::function<void()>> Call::set_gone() {
  gone_ = true;
  auto told = std::exchange(notify_, {});
  if (resume_) told.push_back(std::exchange(resume_, nullptr));
  return told;
}

void Call::caller_left() {
  std::vector<std::function<void()>> told;
  {
    const std::lock_guard lock(mutex_);
    told = set_gone();
  }
  for (const auto& tell : told) tell();
}

void Call::end(bool gone) {
  std::vector<std::function<void()>> told;
  std::shared_ptr<HttpConnection> connection;
  {
    const std::lock_guard lock(mutex_);
    connection = std::exchange(connection_, nullptr);
    if (gone) told = set_gone();
    notify_.clear();  // they may hold what holds this call
    resume_ = nullptr;
  }
  for (const auto& tell : told) tell();
}

}  // namespace drover::wire
