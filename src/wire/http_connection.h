// One HTTP/1.1 connection of a server: reads a request, hands it to the handler, writes the answer,
// and again. Lives on its shard's thread; a Call is the request at work as other threads see it.
// Internal to wire.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/call.h"
#include "wire/request_parser.h"
#include "wire/server_state.h"
#include "wire/shard.h"
#include "wire/transport.h"

namespace drover::wire {

class HttpConnection : public Timed, public TransportUser, public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(std::shared_ptr<ServerState> server, std::shared_ptr<Shard> shard,
                 std::unique_ptr<Transport> transport, Peer peer);

  // On the shard's thread, as all that follows. A status: answer only that, to a connection that
  // was not let in.
  void start(int refused);
  void answer(const std::shared_ptr<Call>& call, const Answer& answer);
  void begin_stream(const std::shared_ptr<Call>& call, int status, std::string content_type, Headers headers);
  void flush_stream(const std::shared_ptr<Call>& call);
  void upgrade(const std::shared_ptr<Call>& call, WsHandlers handlers, WsTerms terms);
  void switch_protocols(const std::shared_ptr<Call>& call, Switch to);
  void adopt(const std::shared_ptr<Call>& call, Peer peer);
  void cut(const std::shared_ptr<Call>& call);
  [[nodiscard]] Shard& shard() { return *shard_; }

  void on_deadline() override;
  void on_wind_down() override;
  void on_stop() override { close(); }
  void on_read(End end, std::size_t size) override;
  void on_written(bool failed, std::size_t size) override;

 private:
  enum class Phase { reading, answering, draining, upgraded, closed };
  // A piece of output: its own small text or shared bytes.
  struct Piece {
    std::string own;
    Bytes shared;
    bool counted = false;  // counts as waiting in the stream
    [[nodiscard]] std::string_view view() const { return shared ? std::string_view(*shared) : std::string_view(own); }
  };

  void read();
  void parse();
  bool header_done();
  bool charge();
  void dispatch();
  void next_request();
  void refuse(int status, std::string_view why);
  void put_head(int status, const std::string& content_type, const Headers& headers, std::string_view framing);
  void write();
  void drained();
  void answer_done();
  void leave_http();
  void do_upgrade();
  void do_switch();
  [[nodiscard]] bool leaves_http() const { return upgrade_.has_value() || switch_.has_value(); }
  void linger();
  void close();
  void deadline(std::chrono::milliseconds delay) { shard_->expire_in(*this, delay); }

  const std::shared_ptr<ServerState> server_;
  const std::shared_ptr<Shard> shard_;
  std::unique_ptr<Transport> transport_;
  const Peer peer_;  // of the socket: what it is counted under
  Peer who_;         // whom its requests come from
  bool identified_ = false;
  bool admitted_ = true;

  Phase phase_ = Phase::reading;
  boost::beast::flat_buffer buffer_;
  Request request_;
  std::optional<RequestParser> parser_;
  bool header_seen_ = false;
  bool reading_ = false;  // a read is in flight
  bool eof_ = false;
  std::size_t charged_ = 0;

  std::shared_ptr<Call> call_;
  bool keep_alive_ = true;
  bool is_head_ = false;
  bool http_11_ = true;
  bool streaming_ = false;
  bool chunked_ = false;
  std::optional<Request> wants_upgrade_;
  std::optional<WsHandlers> upgrade_;
  WsTerms terms_;
  std::optional<Switch> switch_;

  std::deque<Piece> pieces_;
  std::vector<std::string_view> views_;
  std::size_t offset_ = 0;    // of the first piece, written already
  std::size_t progress_ = 0;  // bytes since the deadline was last moved
  bool writing_ = false;      // a write is in flight
};

}  // namespace drover::wire
