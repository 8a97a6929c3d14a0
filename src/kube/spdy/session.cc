#include "kube/spdy/session.h"

#include <algorithm>

namespace drover::kube {
namespace {

constexpr std::size_t kLargestData = 64U << 10U;  // of one frame of ours

}  // namespace

Status SpdySession::feed(std::string_view bytes) {
  Status read = reader_.feed(bytes, [this](const SpdyEvent& event) {
    if (!broken_) std::visit([this](const auto& e) { on(e); }, event);
  });
  if (read && broken_) read = Error{Errc::invalid, "a stream's number isn't above the last one's"};
  if (!read) ears_.send(spdy_away(last_, 1));
  return read;
}

void SpdySession::on(const SpdyOpened& opened) {
  if (opened.id % 2 == 0 || opened.id <= last_) {
    broken_ = true;
    return;
  }
  last_ = opened.id;
  if (away_ || streams_.size() >= most_)
    return ears_.send(spdy_reset(opened.id, SpdyCode::refused_stream));
  streams_[opened.id] = {};
  if (!ears_.opened(opened.id, opened.headers)) return reset(opened.id, SpdyCode::refused_stream);
  ears_.send(spdy_reply(opened.id, packer_.pack({})));
  if (opened.fin) heard_all(opened.id);
}

void SpdySession::on(const SpdyData& data) {
  const auto stream = streams_.find(data.id);
  if (stream == streams_.end()) {
    if (data.id > last_) ears_.send(spdy_reset(data.id, SpdyCode::invalid_stream));
    return;  // else it was on its way when the stream ended
  }
  if (stream->second.heard_all) return reset(data.id, SpdyCode::protocol_error);
  if (!data.bytes.empty()) ears_.data(data.id, data.bytes);
  if (data.fin) heard_all(data.id);
}

void SpdySession::on(const SpdyFin& fin) { heard_all(fin.id); }

void SpdySession::on(const SpdyReset& reset) {
  if (streams_.erase(reset.id) > 0) ears_.reset(reset.id);
}

void SpdySession::on(const SpdyPing& ping) {
  if (ping.id % 2 == 1) ears_.send(spdy_ping(ping.id));  // ours are even: an answer
}

void SpdySession::heard_all(std::uint32_t id) {
  const auto stream = streams_.find(id);
  if (stream == streams_.end() || stream->second.heard_all) return;
  stream->second.heard_all = true;
  ears_.fin(id);
  drop_if_over(id);
}

void SpdySession::data(std::uint32_t id, std::string_view bytes) {
  const auto stream = streams_.find(id);
  if (stream == streams_.end() || stream->second.said_all) return;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kLargestData))) {
    ears_.send(spdy_data(id, bytes.substr(0, kLargestData), false));
  }
}

void SpdySession::fin(std::uint32_t id) {
  const auto stream = streams_.find(id);
  if (stream == streams_.end() || stream->second.said_all) return;
  stream->second.said_all = true;
  ears_.send(spdy_data(id, {}, true));
  drop_if_over(id);
}

void SpdySession::reset(std::uint32_t id, SpdyCode code) {
  if (streams_.erase(id) == 0) return;
  ears_.send(spdy_reset(id, code));
  ears_.reset(id);
}

void SpdySession::ping() { ears_.send(spdy_ping(last_ping_ += 2)); }

void SpdySession::drop_if_over(std::uint32_t id) {
  const auto stream = streams_.find(id);
  if (stream != streams_.end() && stream->second.said_all && stream->second.heard_all)
    streams_.erase(stream);
}

}  // namespace drover::kube
