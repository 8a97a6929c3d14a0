// What one program shows its peers and asks of them: TLS 1.3, both sides under the cluster's own
// authority. May be replaced while connections are open; those go on with what they began with.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "tls/certificate.h"

struct ssl_st;
struct ssl_ctx_st;

namespace drover::tls {

// What is asked of a peer's certificate beyond authority, time and cluster.
struct Rules {
  std::string cluster;  // its id; another's certificate is refused
  std::function<bool(const CertificateInfo&)> revoked = {};  // from any thread; null: none is
};

// Whom a client means to reach.
using Expect = std::function<Status(const Identity&)>;
[[nodiscard]] Expect expect_controller();
[[nodiscard]] Expect expect_node(const std::string& name);

class Context {
 public:
  // A server asks for a certificate and leaves it to each address what a peer without one may do. A
  // client may have no certificate yet: `certificate` and `key` are empty then.
  enum class Side { server, client };
  [[nodiscard]] static Result<std::shared_ptr<Context>> make(Side side,
                                                             const Credentials& credentials,
                                                             Rules rules);
  [[nodiscard]] Status replace(const Credentials& credentials);

  // Whether a peer that was let in would be let in now: its certificate may have ended, or been revoked.
  [[nodiscard]] Status recheck(const CertificateInfo& peer, Instant now) const;

  // A session for one connection; the caller frees it.
  [[nodiscard]] ssl_st* open() const;

 private:
  Context(Side side, Rules rules) : side_(side), rules_(std::move(rules)) {}

  const Side side_;
  const Rules rules_;
  mutable std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> current_;
};

// Why the handshake or a later step failed, in one sentence. `code` is OpenSSL's, 0: the last on
// this thread.
[[nodiscard]] Error failure(ssl_st* session, unsigned long code);
// Context::recheck for the context that a session is of, after its handshake; a peer without a certificate is fine.
[[nodiscard]] Status recheck_peer(ssl_st* session, Instant now);
// Whom the handshake has verified; not_found when the peer showed nothing.
[[nodiscard]] Result<CertificateInfo> peer_of(ssl_st* session);

}  // namespace drover::tls
