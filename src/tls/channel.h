// One TLS connection over a non-blocking socket, for programs with a poll loop of their own, and on
// top of it the synchronous stream that wire::HttpClient takes.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"
#include "tls/context.h"
#include "wire/http_client.h"
#include "wire/socket.h"

namespace drover::tls {

class Channel {
 public:
  // What a step came to: some bytes, or which readiness of the socket to wait for.
  enum class Step { done, wants_read, wants_write, end, failed };
  struct Moved {
    Step step = Step::failed;
    std::size_t size = 0;
  };

  // Which side it plays is the context's. `fd` is connected and non-blocking. A client expects
  // somebody; a server may leave it null.
  Channel(const Context& context, Fd fd, Expect expect);

  [[nodiscard]] Step handshake();
  // Until it wants something: what was received and not read yet makes no socket readable.
  [[nodiscard]] Moved read(std::span<char> into);
  [[nodiscard]] Moved write(std::string_view bytes);
  // Says that nothing more will be written; as far as the socket takes it at once.
  void finish();
  [[nodiscard]] int fd() const { return fd_.get(); }
  // After the handshake; not_found when the peer showed no certificate.
  [[nodiscard]] Result<CertificateInfo> peer() const;
  // Is the peer's certificate still good? It was when the connection began.
  [[nodiscard]] Status recheck(Instant now) const { return recheck_peer(session_.get(), now); }
  [[nodiscard]] const Error& error() const { return error_; }  // after `failed`

  // The whole handshake, waiting for the peer at most that long altogether.
  [[nodiscard]] Status handshake_within(std::chrono::milliseconds limit);

 private:
  struct Free {
    void operator()(ssl_st* session) const;
  };
  [[nodiscard]] Step after(int result);

  std::unique_ptr<ssl_st, Free> session_;
  Fd fd_;
  Expect expect_;
  Error error_;
};

// For wire::ClientOptions::open: a verified connection to whom `expect` names. Denied when
// certificates are the reason that there is none.
[[nodiscard]] std::function<Result<std::unique_ptr<wire::ClientStream>>(Fd)> client_stream(
    std::shared_ptr<Context> context, Expect expect,
    std::chrono::milliseconds limit = std::chrono::seconds(10));

// The certificate of the authority that the server at `to` shows, if its fingerprint is the one
// given: how somebody who has only a token learns whom to trust.
[[nodiscard]] Result<std::string> fetch_authority(
    const wire::Endpoint& to, std::string_view fingerprint,
    std::chrono::milliseconds limit = std::chrono::seconds(10));

}  // namespace drover::tls
