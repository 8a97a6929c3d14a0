#include "tls/channel.h"

#include <openssl/pem.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "os/clock.h"
#include "tls/openssl.h"

namespace drover::tls {
namespace {

// Waits until the socket is ready for `step`; false when the time is over.
bool wait_for(int fd, Channel::Step step, std::chrono::milliseconds limit) {
  const bool reads = step == Channel::Step::wants_read;
  pollfd watched{fd, static_cast<short>(reads ? POLLIN : POLLOUT), 0};
  int ready = 0;
  do {
    ready =
        ::poll(&watched, 1, static_cast<int>(std::clamp<std::int64_t>(limit.count(), 0, 1 << 30)));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

class Stream : public wire::ClientStream {
 public:
  explicit Stream(Channel channel) : channel_(std::move(channel)) {}
  ~Stream() override { channel_.finish(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Result<std::size_t> write(std::string_view bytes, std::chrono::milliseconds patience) override {
    return moved([&] { return channel_.write(bytes); }, patience);
  }
  Result<std::size_t> read(std::span<char> into, std::chrono::milliseconds patience) override {
    return moved([&] { return channel_.read(into); }, patience);
  }
  [[nodiscard]] int fd() const override { return channel_.fd(); }

 private:
  template <class Move>
  Result<std::size_t> moved(Move move, std::chrono::milliseconds patience) {
    for (;;) {
      const Channel::Moved step = move();
      switch (step.step) {
        case Channel::Step::done:
          return step.size;
        case Channel::Step::end:
          return std::size_t{0};
        case Channel::Step::failed:
          return channel_.error();
        case Channel::Step::wants_read:
        case Channel::Step::wants_write:
          if (!wait_for(channel_.fd(), step.step, patience))
            return Error{Errc::unavailable, std::strerror(ETIMEDOUT)};
      }
    }
  }
  Channel channel_;
};

}  // namespace

void Channel::Free::operator()(ssl_st* session) const { SSL_free(session); }

Channel::Channel(const Context& context, Fd fd, Expect expect)
    : session_(context.open()), fd_(std::move(fd)), expect_(std::move(expect)) {
  CHECK(SSL_set_fd(session_.get(), fd_.get()) == 1);
}

// What a call of OpenSSL that returned `result` came to.
Channel::Step Channel::after(int result) {
  const int saved = errno;
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_NONE:
      return Step::done;
    case SSL_ERROR_WANT_READ:
      return Step::wants_read;
    case SSL_ERROR_WANT_WRITE:
      return Step::wants_write;
    case SSL_ERROR_ZERO_RETURN:
      return Step::end;
    case SSL_ERROR_SYSCALL:
      error_ = {Errc::unavailable, saved == 0 ? "the connection ended" : std::strerror(saved)};
      ERR_clear_error();
      return Step::failed;
    default:
      error_ = failure(session_.get(), 0);
      return Step::failed;
  }
}

Channel::Step Channel::handshake() {
  ERR_clear_error();
  errno = 0;
  const Step step = after(SSL_do_handshake(session_.get()));
  if (step != Step::done || !expect_) return step;
  const auto who = peer();
  const Status expected = who ? expect_(who->identity) : Status(who.error());
  if (expected) return step;
  error_ = expected.error();
  return Step::failed;
}

Channel::Moved Channel::read(std::span<char> into) {
  ERR_clear_error();
  errno = 0;
  std::size_t size = 0;
  const int result = SSL_read_ex(session_.get(), into.data(), into.size(), &size);
  return {result == 1 ? Step::done : after(result), size};
}

Channel::Moved Channel::write(std::string_view bytes) {
  ERR_clear_error();
  errno = 0;
  std::size_t size = 0;
  const int result = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &size);
  return {result == 1 ? Step::done : after(result), size};
}

void Channel::finish() {
  if (!session_) return;
  SSL_shutdown(session_.get());
  ERR_clear_error();
}

Result<CertificateInfo> Channel::peer() const { return peer_of(session_.get()); }

Status Channel::handshake_within(std::chrono::milliseconds limit) {
  const Duration end = since_boot() + limit;
  for (;;) {
    const Step step = handshake();
    if (step == Step::done) return Done{};
    if (step == Step::failed) return error_;
    if (step == Step::end || !wait_for(fd(), step, end - since_boot())) {
      return Error{Errc::unavailable, "the peer did not finish the TLS handshake"};
    }
  }
}

std::function<Result<std::unique_ptr<wire::ClientStream>>(Fd)> client_stream(
    std::shared_ptr<Context> context, Expect expect, std::chrono::milliseconds limit) {
  return [context = std::move(context), expect = std::move(expect),
          limit](Fd fd) -> Result<std::unique_ptr<wire::ClientStream>> {
    Channel channel(*context, std::move(fd), expect);
    TRY(channel.handshake_within(limit));
    return std::unique_ptr<wire::ClientStream>(std::make_unique<Stream>(std::move(channel)));
  };
}

Result<std::string> fetch_authority(const wire::Endpoint& to, std::string_view fingerprint,
                                    std::chrono::milliseconds limit) {
  const Fd fd = TRY(wire::connect_to(to, limit));
  // Nothing is believed here and nothing is sent: only what matches the fingerprint is taken along.
  const ContextPtr context(SSL_CTX_new(TLS_client_method()));
  const SessionPtr session(context ? SSL_new(context.get()) : nullptr);
  if (!session || SSL_set_min_proto_version(session.get(), TLS1_3_VERSION) != 1 ||
      SSL_set_fd(session.get(), fd.get()) != 1) {
    return openssl_error("TLS can't be set up");
  }
  const Duration end = since_boot() + limit;
  for (;;) {
    ERR_clear_error();
    const int result = SSL_connect(session.get());
    if (result == 1) break;
    const int want = SSL_get_error(session.get(), result);
    if (want != SSL_ERROR_WANT_READ && want != SSL_ERROR_WANT_WRITE) {
      return failure(session.get(), 0).under(to.text());
    }
    const auto step =
        want == SSL_ERROR_WANT_READ ? Channel::Step::wants_read : Channel::Step::wants_write;
    if (!wait_for(fd.get(), step, end - since_boot())) {
      return Error{Errc::unavailable, to.text() + ": the peer did not finish the TLS handshake"};
    }
  }
  STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(session.get());
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    const BioPtr out(BIO_new(BIO_s_mem()));
    char* data = nullptr;
    if (PEM_write_bio_X509(out.get(), sk_X509_value(chain, i)) != 1) continue;
    const long size = BIO_get_mem_data(out.get(), &data);
    const std::string pem(data, static_cast<std::size_t>(size));
    const auto info = read_certificate(pem);
    if (info && info->fingerprint == fingerprint &&
        info->identity.kind == Identity::Kind::authority)
      return pem;
  }
  return Error{Errc::denied,
               to.text() + ": the server there is not the one that the token is from"};
}

}  // namespace drover::tls
