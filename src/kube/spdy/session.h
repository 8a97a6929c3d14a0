// One SPDY connection at the server's end: which streams the client has open, and what may still be
// said on them. No I/O: bytes go in by feed() and come out by `send`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/spdy/frame.h"

namespace drover::kube {

class SpdySession {
 public:
  // May call back into the session.
  struct Ears {
    // An error refuses the stream.
    std::function<Status(std::uint32_t id, const SpdyHeaders& headers)> opened;
    std::function<void(std::uint32_t id, std::string_view bytes)> data;
    std::function<void(std::uint32_t id)> fin;    // the client has said all on it
    std::function<void(std::uint32_t id)> reset;  // neither side says any more on it
    std::function<void(std::string bytes)> send;
  };
  SpdySession(std::size_t most_streams, Ears ears) : most_(most_streams), ears_(std::move(ears)) {}

  // An error: the connection is of no use any more, and the client has been told.
  [[nodiscard]] Status feed(std::string_view bytes);

  // Nothing is said on a stream that isn't there, or on which all has been said.
  void data(std::uint32_t id, std::string_view bytes);
  void fin(std::uint32_t id);
  void reset(std::uint32_t id, SpdyCode code);
  void ping();
  void go_away() { ears_.send(spdy_away(last_, 0)); }
  [[nodiscard]] bool client_is_leaving() const { return away_; }

 private:
  struct Stream {
    bool said_all = false;   // we
    bool heard_all = false;  // from the client
  };
  void on(const SpdyOpened& opened);
  void on(const SpdyData& data);
  void on(const SpdyFin& fin);
  void on(const SpdyReset& reset);
  void on(const SpdyPing& ping);
  void on(const SpdyAway&) { away_ = true; }
  void heard_all(std::uint32_t id);
  void drop_if_over(std::uint32_t id);

  const std::size_t most_;
  const Ears ears_;
  SpdyReader reader_;
  HeaderPacker packer_;
  std::map<std::uint32_t, Stream> streams_;
  std::uint32_t last_ = 0;  // the client's last stream
  std::uint32_t last_ping_ = 0;
  bool away_ = false;
  bool broken_ = false;
};

}  // namespace drover::kube
