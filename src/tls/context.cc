#include "tls/context.h"

#include <openssl/sslerr.h>

#include <optional>
#include <utility>

#include "base/check.h"
#include "os/clock.h"
#include "tls/openssl.h"

namespace drover::tls {
namespace {

void free_words(void*, void* words, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<std::string*>(words);
}

// Where a session keeps why its peer was refused.
int words_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, free_words);
  return index;
}
// Where a context keeps its rules; they belong to the Context, which outlives its sessions'
// handshakes.
int rules_index() {
  static const int index = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void*, void* rules, CRYPTO_EX_DATA*, int, long, void*) {
        delete static_cast<Rules*>(rules);
      });
  return index;
}

struct Finding {
  int code;
  std::string words;
};

Finding judge(X509* certificate, const Rules& rules) {
  const auto info = info_of(certificate);
  if (!info) return {X509_V_ERR_APPLICATION_VERIFICATION, info.error().message};
  if (info->identity.cluster != rules.cluster) {
    return {X509_V_ERR_APPLICATION_VERIFICATION, "the certificate of " + info->identity.text() +
                                                     " is of cluster " + info->identity.cluster +
                                                     ", this is " + rules.cluster};
  }
  if (rules.revoked && rules.revoked(*info)) {
    return {X509_V_ERR_CERT_REVOKED,
            "the certificate of " + info->identity.text() + " was revoked"};
  }
  return {X509_V_OK, {}};
}

// A failure that OpenSSL found, in our words where there are better ones.
std::string words_of(X509_STORE_CTX* store, int code) {
  X509* const certificate = X509_STORE_CTX_get_current_cert(store);
  if (certificate != nullptr &&
      (code == X509_V_ERR_CERT_NOT_YET_VALID || code == X509_V_ERR_CERT_HAS_EXPIRED)) {
    if (const auto info = info_of(certificate)) {
      if (const Status now = check_time(*info, wall_now()); !now) return now.error().message;
    }
  }
  if (code == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
      code == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN || code == X509_V_ERR_CERT_SIGNATURE_FAILURE) {
    return "the peer's certificate is not of this cluster";
  }
  return std::string("the peer's certificate is refused: ") + X509_verify_cert_error_string(code);
}

int verify(int ok, X509_STORE_CTX* store) {
  auto* const session =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* const rules =
      static_cast<const Rules*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), rules_index()));
  std::string words;
  if (ok != 1) {
    words = words_of(store, X509_STORE_CTX_get_error(store));
  } else if (X509_STORE_CTX_get_error_depth(store) == 0) {
    Finding found = judge(X509_STORE_CTX_get_current_cert(store), *rules);
    if (found.code == X509_V_OK) return 1;
    X509_STORE_CTX_set_error(store, found.code);
    words = std::move(found.words);
  } else {
    return 1;
  }
  delete static_cast<std::string*>(SSL_get_ex_data(session, words_index()));
  SSL_set_ex_data(session, words_index(), new std::string(std::move(words)));
  return 0;
}

bool set_base(SSL_CTX* context) {
  SSL_CTX_set_session_cache_mode(context,
                                 SSL_SESS_CACHE_OFF);  // each connection proves itself anew
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  return SSL_CTX_set_num_tickets(context, 0) == 1 &&
         SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1;
}

Result<ContextPtr> context_of(Context::Side side, const Credentials& credentials,
                              const Rules& rules) {
  const bool server = side == Context::Side::server;
  ContextPtr context(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()));
  if (!context || !set_base(context.get())) return openssl_error("TLS can't be set up");
  const CertificatePtr authority = TRY(certificate_of(credentials.authority));
  if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.get()) != 1) {
    return openssl_error("the authority's certificate can't be used");
  }
  if (server || !credentials.certificate.empty()) {
    const CertificatePtr own = TRY(certificate_of(credentials.certificate));
    const KeyPtr key = TRY(key_of(credentials.key));
    if (SSL_CTX_use_certificate(context.get(), own.get()) != 1 ||
        SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1 ||
        SSL_CTX_check_private_key(context.get()) != 1 ||
        // Who joins knows the authority by its fingerprint; a server knows it itself.
        (server && SSL_CTX_add1_chain_cert(context.get(), authority.get()) != 1)) {
      return openssl_error("the key and the certificate don't belong together");
    }
  }
  SSL_CTX_set_ex_data(context.get(), rules_index(), new Rules(rules));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, &verify);
  return context;
}

// What a peer's alert says of our certificate.
std::optional<std::string_view> alert_words(int reason) {
  switch (reason) {
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "the peer says that our certificate has expired";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
      return "the peer says that our certificate was revoked";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "the peer says that our certificate is of another cluster";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      return "the peer does not accept our certificate: not valid at its time (is a clock wrong?), "
             "or of another "
             "cluster";
    default:
      return std::nullopt;
  }
}

}  // namespace

Expect expect_controller() {
  return [](const Identity& peer) -> Status {
    if (peer.kind == Identity::Kind::controller) return Done{};
    return Error{Errc::denied, "the peer is " + peer.text() + ", not the controller"};
  };
}

Expect expect_node(const std::string& name) {
  return [name](const Identity& peer) -> Status {
    if (peer.kind == Identity::Kind::node && peer.name == name) return Done{};
    return Error{Errc::denied, "the peer is " + peer.text() + ", not node " + name};
  };
}

Result<std::shared_ptr<Context>> Context::make(Side side, const Credentials& credentials,
                                               Rules rules) {
  std::shared_ptr<Context> context(new Context(side, std::move(rules)));
  TRY(context->replace(credentials));
  return context;
}

Status Context::replace(const Credentials& credentials) {
  ContextPtr fresh = TRY(context_of(side_, credentials, rules_));
  const std::lock_guard lock(mutex_);
  current_ = std::shared_ptr<SSL_CTX>(fresh.release(), &SSL_CTX_free);
  return Done{};
}

namespace {

// A clock that was set back ends nothing: it was valid when the connection began.
Status recheck_by(const Rules& rules, const CertificateInfo& peer, Instant now) {
  if (now >= peer.validity.until) return check_time(peer, now);
  if (!rules.revoked || !rules.revoked(peer)) return Done{};
  return Error{Errc::denied, "the certificate of " + peer.identity.text() + " was revoked"};
}

}  // namespace

Status Context::recheck(const CertificateInfo& peer, Instant now) const {
  return recheck_by(rules_, peer, now);
}

Status recheck_peer(ssl_st* session, Instant now) {
  const auto peer = peer_of(session);
  if (!peer) return Done{};
  const auto* const rules =
      static_cast<const Rules*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), rules_index()));
  return recheck_by(*rules, *peer, now);
}

ssl_st* Context::open() const {
  std::shared_ptr<SSL_CTX> context;
  {
    const std::lock_guard lock(mutex_);
    context = current_;
  }
  SSL* const session = SSL_new(context.get());
  CHECK(session != nullptr);
  if (side_ == Side::server) {
    SSL_set_accept_state(session);
  } else {
    SSL_set_connect_state(session);
  }
  return session;
}

Error failure(ssl_st* session, unsigned long code) {
  if (const auto* words =
          static_cast<const std::string*>(SSL_get_ex_data(session, words_index()))) {
    ERR_clear_error();
    return {Errc::denied, *words};
  }
  if (code == 0) code = ERR_get_error();
  ERR_clear_error();
  const int reason = ERR_GET_REASON(code);
  if (const auto words = alert_words(reason)) return {Errc::denied, std::string(*words)};
  if (code == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
    return {Errc::unavailable, "the connection ended"};
  if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST) {
    return {Errc::unavailable, "the peer does not speak TLS"};
  }
  const char* const text = ERR_reason_error_string(code);
  return {Errc::unavailable, text == nullptr ? "TLS failed" : text};
}

Result<CertificateInfo> peer_of(ssl_st* session) {
  const CertificatePtr certificate(SSL_get1_peer_certificate(session));
  if (!certificate) return Error{Errc::not_found, "the peer shows no certificate"};
  return info_of(certificate.get());
}

}  // namespace drover::tls
