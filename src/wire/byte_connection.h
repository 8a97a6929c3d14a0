// A ByteStream over any kind of transport. Lives on its shard's thread. Internal to wire.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wire/byte_stream.h"
#include "wire/shard.h"
#include "wire/transport.h"

namespace drover::wire {

class ByteConnection : public ByteStream,
                       public Timed,
                       public TransportUser,
                       public std::enable_shared_from_this<ByteConnection> {
 public:
  // `ended` is called once, when the transport is closed; may be null.
  ByteConnection(std::shared_ptr<Shard> shard, std::unique_ptr<Transport> transport, Peer peer,
                 const ByteLimits& limits, ByteHandlers handlers, std::function<void()> ended);
  // `head` is sent before all else, `early` has been read already.
  void start(std::string head, const std::string& early);

  void send(Bytes bytes) override;
  [[nodiscard]] std::size_t waiting() const override { return waiting_; }
  void hold(bool hold) override;
  void close() override;
  [[nodiscard]] const Peer& peer() const override { return peer_; }

  void on_deadline() override;
  void on_wind_down() override { close(); }
  void on_stop() override { fail("stopped"); }
  void on_read(End end, std::size_t size) override;
  void on_written(bool failed, std::size_t size) override;

 private:
  void read();
  void write();
  void told_all();
  void fail(const std::string& why);

  const std::shared_ptr<Shard> shard_;
  const std::unique_ptr<Transport> transport_;
  const Peer peer_;
  const ByteLimits limits_;
  ByteHandlers handlers_;
  std::function<void()> ended_;

  std::array<char, 32U << 10U> in_;
  std::deque<Bytes> out_;
  std::vector<std::string_view> views_;
  std::size_t offset_ = 0;  // of the first, written already
  std::size_t waiting_ = 0;
  bool reading_ = false;
  bool writing_ = false;
  bool held_ = false;
  bool closing_ = false;
  bool mute_ = false;  // the peer takes nothing any more
  bool shut_ = false;  // the end has been said
  bool over_ = false;
};

}  // namespace drover::wire
