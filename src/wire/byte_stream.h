// Bytes both ways, with neither side running ahead of the other: what an HTTP connection becomes
// with Responder::switch_protocols, and what is opened beside a request on its own thread (Lane).
// All that is on one lane happens on one thread, one thing at a time, so it shares its state
// without locks.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "os/fd.h"
#include "wire/http.h"

namespace drover::wire {

struct ByteLimits {
  std::size_t low = 64U << 10U;       // on_drained comes when no more than this waits
  std::chrono::milliseconds tick{0};  // how often on_tick comes; 0: never
  // After close(): how long what the peer still says is waited for and thrown away, each time.
  // Without it, what he hasn't read yet may be lost.
  std::chrono::milliseconds linger{30'000};
};

// On its lane's thread only.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Queued without a limit of its own: who sends looks at waiting() first. Dropped after the end.
  virtual void send(Bytes bytes) = 0;
  [[nodiscard]] virtual std::size_t waiting() const = 0;
  // While held nothing more is read. From outside of on_bytes, one more may still come.
  virtual void hold(bool hold) = 0;
  // What is queued goes out, then the end; what comes in is thrown away. on_close follows.
  virtual void close() = 0;
  [[nodiscard]] virtual const Peer& peer() const = 0;
};
using ByteStreamPtr = std::shared_ptr<ByteStream>;

// on_open first, on_close last and once. One that never opened has neither.
struct ByteHandlers {
  std::function<void(const ByteStreamPtr&)> on_open;
  std::function<void(std::string_view)> on_bytes;
  std::function<void()> on_drained;
  std::function<void()> on_tick;
  std::function<void(const std::string& why)> on_close;
};

class Shard;
// The thread that a connection lives on.
class Lane {
 public:
  explicit Lane(std::shared_ptr<Shard> shard);
  // Runs it on the lane's thread, at once when this is it. False: the server has stopped.
  bool post(
      std::function<void()> work) const;  // NOLINT(modernize-use-nodiscard): it may not matter
  bool post_later(std::function<void()> work) const;  // NOLINT(modernize-use-nodiscard)
  // On the lane's thread: runs it there after a while.
  void post_after(std::chrono::milliseconds wait, std::function<void()> work) const;
  // A connected, non-blocking socket beside the connection; on the lane's thread. on_open is called
  // before it returns. False: the server stops.
  [[nodiscard]] bool open(Fd socket, const ByteLimits& limits, ByteHandlers handlers) const;

 private:
  std::shared_ptr<Shard> shard_;
};

}  // namespace drover::wire
