// The frames of SPDY/3.1 as a server sees them. Control frames are read whole and are small; the
// bytes of data frames are passed on as they come, so that no frame has to be kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "kube/spdy/headers.h"

namespace drover::kube {

inline constexpr std::size_t kLargestControl = 16U << 10U;

enum class SpdyCode : std::uint32_t {  // why a stream is reset
  protocol_error = 1,
  invalid_stream = 2,
  refused_stream = 3,
  cancel = 5,
  internal_error = 6,
};

struct SpdyOpened {  // SYN_STREAM
  std::uint32_t id = 0;
  bool fin = false;
  SpdyHeaders headers;
};
struct SpdyData {  // a data frame or a piece of one
  std::uint32_t id = 0;
  bool fin = false;  // with the last piece
  std::string_view bytes;
};
struct SpdyFin {  // HEADERS or SYN_REPLY with the end of a stream; what they say besides is of no
                  // use here
  std::uint32_t id = 0;
};
struct SpdyReset {
  std::uint32_t id = 0;
};
struct SpdyPing {
  std::uint32_t id = 0;
};
struct SpdyAway {};  // GOAWAY
using SpdyEvent = std::variant<SpdyOpened, SpdyData, SpdyFin, SpdyReset, SpdyPing, SpdyAway>;

class SpdyReader {
 public:
  // An error means that nothing more can be read: this isn't SPDY/3, or more than is borne.
  // SETTINGS and WINDOW_UPDATE are read over (ADR 37).
  [[nodiscard]] Status feed(std::string_view bytes,
                            const std::function<void(const SpdyEvent&)>& take);

 private:
  Status control(std::string_view frame, const std::function<void(const SpdyEvent&)>& take);

  std::string partial_;        // of a header, or of a control frame
  std::uint32_t data_id_ = 0;  // of the data frame under way
  std::size_t data_left_ = 0;
  bool data_fin_ = false;
  HeaderUnpacker unpacker_;
};

[[nodiscard]] std::string spdy_reply(std::uint32_t id, std::string_view packed_headers);
[[nodiscard]] std::string spdy_data(std::uint32_t id, std::string_view bytes, bool fin);
[[nodiscard]] std::string spdy_reset(std::uint32_t id, SpdyCode code);
[[nodiscard]] std::string spdy_ping(std::uint32_t id);
// `status`: 0 all is well, 1 a mistake of the peer.
[[nodiscard]] std::string spdy_away(std::uint32_t last_id, std::uint32_t status);

}  // namespace drover::kube
