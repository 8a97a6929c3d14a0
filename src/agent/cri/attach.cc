#include "agent/cri/attach.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <thread>

#include "base/text.h"
#include "os/file.h"
#include "os/random.h"

namespace drover::agent::cri {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr std::size_t kLongestHeader = 8192;
constexpr std::size_t kLongestFrame = std::size_t{16} << 20U;

bool write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(to, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool read_more(int from, std::string& into) {
  std::array<char, 16384> piece{};
  const ssize_t n = ::read(from, piece.data(), piece.size());
  if (n > 0) into.append(piece.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

struct Pipe {
  static std::optional<Pipe> make() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
    return Pipe{.read = Fd(ends[0]), .write = Fd(ends[1])};
  }
  Fd read, write;
};

struct Frame {
  unsigned opcode = 0;
  std::string_view body;
  std::size_t length = 0;  // with its header; 0: not whole
};
Frame first_frame(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (bytes.size() < 2) return {};
  std::uint64_t size = byte(1) & 0x7FU;
  std::size_t header = 2;
  const std::size_t extra = size == 126 ? 2 : size == 127 ? 8 : 0;
  if (bytes.size() < header + extra) return {};
  if (extra > 0) size = 0;
  for (std::size_t i = 0; i < extra; ++i) size = size << 8U | byte(header + i);
  header += extra;
  if (size > kLongestFrame) return {.opcode = 8, .body = {}, .length = header};
  if (bytes.size() < header + size) return {};
  return {.opcode = byte(0) & 0x0FU, .body = bytes.substr(header, size), .length = header + size};
}

}  // namespace

std::string websocket_frame(char channel, std::string_view bytes, std::string_view mask) {
  const std::size_t size = bytes.size() + 1;
  std::string frame = "\x82";
  if (size < 126) {
    frame += static_cast<char>(0x80U | size);
  } else {
    frame += '\xff';
    for (unsigned i = 8; i-- > 0;) frame += static_cast<char>((size >> (8 * i)) & 0xFFU);
  }
  frame += mask;
  frame += static_cast<char>(channel ^ mask[0]);
  for (std::size_t i = 0; i < bytes.size(); ++i) frame += static_cast<char>(bytes[i] ^ mask[(i + 1) % 4]);
  return frame;
}

Result<AttachStream> AttachStream::connect(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  const std::size_t slash = url.find('/', kScheme.size());
  const std::string host = url.substr(kScheme.size(), slash - kScheme.size());
  const std::size_t colon = host.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : parse_uint(std::string_view(host).substr(colon + 1));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  const bool good = url.starts_with(kScheme) && slash != std::string::npos && port && *port <= 0xFFFF &&
                    ::inet_pton(AF_INET, host.substr(0, colon).c_str(), &to.sin_addr) == 1;
  if (!good) return Error{Errc::unavailable, "containerd streams at an unknown kind of address: " + printable(url)};
  to.sin_port = htons(static_cast<std::uint16_t>(*port));
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {  // NOLINT
    return system_error(errno, host);
  }
  AttachStream stream(std::move(socket));
  TRY(stream.shake_hands(host, url.substr(slash)));
  return stream;
}

Status AttachStream::shake_hands(const std::string& host, const std::string& path) {
  const std::string request = "GET " + path + " HTTP/1.1\r\nHost: " + host +
                              "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                              "Sec-WebSocket-Key: ZHJvdmVyIGF0dGFjaGVzIQ==\r\n"  // no secret: guards against caches
                              "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n";
  if (!write_all(socket_.get(), request)) return system_error(errno, host);
  std::size_t end = 0;
  while ((end = arrived_.find("\r\n\r\n")) == std::string::npos) {
    pollfd ready{.fd = socket_.get(), .events = POLLIN};
    const bool more = arrived_.size() <= kLongestHeader && ::poll(&ready, 1, kPatienceMs) > 0;
    if (!more || !read_more(socket_.get(), arrived_)) {
      return Error{Errc::unavailable, "containerd doesn't answer at its streaming address"};
    }
  }
  const std::string line = arrived_.substr(0, arrived_.find("\r\n"));
  arrived_.erase(0, end + 4);
  if (line.find(" 101") == std::string::npos) return Error{Errc::unavailable, "containerd says: " + printable(line)};
  return Done{};
}

bool AttachStream::send(char channel, std::string_view bytes) {
  const std::lock_guard lock(*sending_);
  return write_all(socket_.get(), websocket_frame(channel, bytes, random_bytes(4)));
}

bool AttachStream::deliver(int out, int err) {
  for (Frame one = first_frame(arrived_); one.length > 0; one = first_frame(arrived_)) {
    if (one.opcode == 8) return false;
    if (one.opcode <= 2 && one.body.size() > 1) {
      const char channel = one.body[0];
      if (channel == 1 && !write_all(out, one.body.substr(1))) return false;
      if (channel == 2 && !write_all(err, one.body.substr(1))) return false;
    }
    arrived_.erase(0, one.length);
  }
  return true;
}

// The conversation carries plain pipes; a thread beside it speaks WebSocket.
void AttachStream::carry(Conversation& with) {
  auto in = Pipe::make();
  auto out = Pipe::make();
  auto err = Pipe::make();
  if (!in || !out || !err) return;
  std::thread speaker([&] {
    bool said_all = false;
    bool goes_on = deliver(out->write.get(), err->write.get());
    while (goes_on) {
      std::array<pollfd, 2> waiting{pollfd{.fd = socket_.get(), .events = POLLIN},
                                    pollfd{.fd = said_all ? -1 : in->read.get(), .events = POLLIN}};
      if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
      if (waiting[0].revents != 0) {
        goes_on = read_more(socket_.get(), arrived_) && deliver(out->write.get(), err->write.get());
      }
      std::string bytes;
      if (waiting[1].revents != 0) said_all = !read_more(in->read.get(), bytes);
      if (!bytes.empty()) goes_on = goes_on && send(0, bytes);
    }
    out->write.reset();
    err->write.reset();
  });
  ::fcntl(in->write.get(), F_SETFL, O_NONBLOCK);
  with.carry({.in = in->write.get(), .out = out->read.get(), .err = err->read.get()},
             {.resize = [&](auto rows, auto columns) {
                send(4, "{\"Width\":" + std::to_string(columns) + ",\"Height\":" + std::to_string(rows) + "}");
              },
              .input_ended = [&] { in->write.reset(); }});
  ::shutdown(socket_.get(), SHUT_RDWR);
  out->read.reset();
  err->read.reset();
  speaker.join();
}

}  // namespace drover::agent::cri
