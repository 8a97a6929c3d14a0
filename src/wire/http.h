// The words of HTTP as plain values: what a door sees of a request and says as an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace drover::wire {

// Bytes that several readers may share: a frame is encoded once, however many watch.
using Bytes = std::shared_ptr<const std::string>;
[[nodiscard]] inline Bytes bytes(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

struct Header {
  std::string name;
  std::string value;
};
using Headers = std::vector<Header>;

// The first header of that name (case does not matter), or "".
[[nodiscard]] std::string_view find_header(const Headers& headers, std::string_view name);

// Who calls. On a Unix socket the kernel says so; over TLS his certificate does; over plain TCP
// only the address is known.
struct Peer {
  struct Local {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::int32_t pid = 0;
  };
  // A certificate that the handshake has verified.
  struct Certified {
    std::string identity;  // the URI in it
    std::string serial;    // hexadecimal
  };
  std::optional<Local> local;
  std::optional<Certified> certified;
  std::string address;  // "unix", "127.0.0.1:4711", "[::1]:4711"
};

struct Request {
  std::string method;
  std::string target;  // as sent: path and query, not decoded (wire/target.h does that)
  Headers headers;
  std::string body;
  Peer peer;

  [[nodiscard]] std::string_view header(std::string_view name) const { return find_header(headers, name); }
};

struct Answer {
  int status = 200;
  std::string content_type;
  Bytes body;  // null: empty
  Headers headers;
};
[[nodiscard]] inline Answer text_answer(int status, std::string text) {
  return {status, "text/plain; charset=utf-8", bytes(std::move(text)), {}};
}

// "Not Found" for 404.
[[nodiscard]] std::string_view reason_phrase(int status);

// A header's name or value that may be written: no control characters, so nothing can be smuggled.
[[nodiscard]] bool is_clean_header(const Header& header);

}  // namespace drover::wire
