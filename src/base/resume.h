// A message stream that outlives its connections: each side keeps what the other has not confirmed,
// and a new connection goes on where the last one broke. No I/O here: the owner moves the bytes.
//
// On the wire each frame is four bytes, little-endian: the kind in the highest, the length of what
// follows in the other three. Kind 0 is a message, kind 1 confirms messages (8 bytes, little-endian:
// how many have been received since the stream began).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace drover {

inline constexpr std::size_t kLargestMessage = (std::size_t{1} << 20U);

// A single frame of the kind that opens a connection, before the stream proper; same layout, kind 0.
[[nodiscard]] std::string frame(std::string_view message);
// Writes the header of a frame into the first kFrameHeader bytes of `framed`; the message is behind them.
inline constexpr std::size_t kFrameHeader = 4;
// How long the frame at the front of `bytes` is as a whole: as far as is known, its header at least.
[[nodiscard]] std::size_t frame_length(std::string_view bytes);
void begin_frame(std::string& framed);
// The message at the front of `bytes`, which loses it; nothing when it isn't whole yet.
// invalid: no frame of ours, or one that is too large.
[[nodiscard]] Result<std::string_view> take_frame(std::string_view& bytes, bool& whole);

class ResumableStream {
 public:
  // `window`: how many unconfirmed bytes are kept before full() asks the owner to hold back.
  explicit ResumableStream(std::size_t window = std::size_t{1} << 20U) : window_(window) {}

  // ---- sending ----
  // At most kLargestMessage. May be called while full or unconnected; what is kept grows by it.
  void send(std::string_view message);
  // The same for bytes that are a frame already (begin_frame), so that large ones aren't copied.
  void send_framed(std::string framed);
  [[nodiscard]] bool full() const { return kept_bytes_ >= window_; }
  [[nodiscard]] bool all_confirmed() const { return kept_.empty(); }
  // What to write next on the connection, empty when there is nothing; wrote() says how much of it went.
  [[nodiscard]] std::string_view pending() const;
  void wrote(std::size_t bytes);

  // ---- receiving ----
  // Bytes as they came. Calls `on_message` for each whole message, once in the stream's life.
  [[nodiscard]] Status feed(std::string_view bytes, const std::function<void(std::string_view)>& on_message);
  [[nodiscard]] std::uint64_t received() const { return received_; }
  // While held, the peer isn't told that its messages came, so that it holds back after its window.
  void hold_confirmations(bool hold);

  // ---- connections ----
  // A new connection; the peer says how many messages it has. invalid: it can't have that many, or we
  // have thrown away what it lacks: the stream can't go on.
  [[nodiscard]] Status connected(std::uint64_t peer_received);
  void lost();

 private:
  void confirm(std::uint64_t count);
  void plan_confirmation();

  std::size_t window_;
  std::deque<std::string> kept_;    // frames not confirmed, the first is message number confirmed_
  std::size_t kept_bytes_ = 0;
  std::uint64_t confirmed_ = 0;
  std::size_t next_ = 0;            // in kept_: to be written
  std::size_t written_ = 0;         // of that one, or of the confirmation under way
  std::string confirmation_;        // to be written before kept_[next_]; never in the middle of a message
  bool confirm_due_ = false;
  bool holds_ = false;
  bool held_ = false;               // a confirmation, by holds_
  bool connected_ = false;
  std::uint64_t received_ = 0;
  std::string partial_;
};

}  // namespace drover
