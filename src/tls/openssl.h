// OpenSSL's objects as owners that free themselves. Internal to tls.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tls/certificate.h"

namespace drover::tls {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Freer<&EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, Freer<&X509_free>>;
using RequestPtr = std::unique_ptr<X509_REQ, Freer<&X509_REQ_free>>;
using BioPtr = std::unique_ptr<BIO, Freer<&BIO_free_all>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Freer<&GENERAL_NAMES_free>>;
using ContextPtr = std::unique_ptr<SSL_CTX, Freer<&SSL_CTX_free>>;
using SessionPtr = std::unique_ptr<SSL, Freer<&SSL_free>>;

// What OpenSSL says of the last failure on this thread; forgets it.
[[nodiscard]] Error openssl_error(std::string_view what);

[[nodiscard]] Result<CertificatePtr> certificate_of(const std::string& pem);
[[nodiscard]] Result<KeyPtr> key_of(const std::string& pem);
// Reading a certificate from text costs OpenSSL 3.0 a good part of a handshake; one that is read stays as it is.
[[nodiscard]] Result<CertificateInfo> info_of(X509* certificate);

}  // namespace drover::tls
