// One request at work, as any thread sees it: who may answer, what waits to be written, whether the
// caller is still there. Internal to wire.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "wire/http_server.h"

namespace drover::wire {

class HttpConnection;

class Call : public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<HttpConnection> connection, std::shared_ptr<Shard> shard, std::size_t max_queue)
      : connection_(std::move(connection)), shard_(std::move(shard)), max_queue_(max_queue) {}

  // True for the first who asks: only he answers.
  [[nodiscard]] bool claim() { return !claimed_.exchange(true); }

  void answer(Answer answer);
  void begin_stream(int status, std::string content_type, Headers headers);
  void upgrade(WsHandlers handlers, WsTerms terms);
  void switch_protocols(Switch to);
  [[nodiscard]] Lane lane() const { return Lane(shard_); }
  void adopt(Peer peer);

  bool write(Bytes bytes);
  void finish();
  void abort();
  [[nodiscard]] bool gone() const;
  [[nodiscard]] std::size_t waiting() const;
  void when_drained(std::size_t low, std::function<void()> resume);
  void when_gone(std::function<void()> notify);

  // For the connection, on its shard's thread:
  struct Taken {
    std::vector<Bytes> bytes;
    bool finished = false;
  };
  [[nodiscard]] Taken take();
  void wrote(std::size_t bytes);
  // The caller has hung up, or the answer is complete; lets go of the connection.
  void end(bool gone);
  void caller_left();

 private:
  void flush();
  std::vector<std::function<void()>> set_gone();

  mutable std::mutex mutex_;
  std::shared_ptr<HttpConnection> connection_;  // null once it has ended
  const std::shared_ptr<Shard> shard_;
  const std::size_t max_queue_;
  std::atomic<bool> claimed_{false};
  std::vector<Bytes> incoming_;
  std::size_t waiting_ = 0;
  bool finished_ = false;
  bool aborted_ = false;
  bool gone_ = false;
  bool flush_posted_ = false;
  std::size_t low_ = 0;
  std::function<void()> resume_;
  std::vector<std::function<void()>> notify_;
};

}  // namespace drover::wire
