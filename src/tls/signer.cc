#include "tls/signer.h"

#include <openssl/ecdsa.h>

#include <array>
#include <utility>

#include "tls/openssl.h"

namespace drover::tls {
namespace {

using DigestPtr = std::unique_ptr<EVP_MD_CTX, Freer<&EVP_MD_CTX_free>>;
using PairPtr = std::unique_ptr<ECDSA_SIG, Freer<&ECDSA_SIG_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, Freer<&BN_free>>;

constexpr int kHalf = 32;

const unsigned char* raw(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());  // NOLINT
}
unsigned char* raw(std::string& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}  // NOLINT

}  // namespace

Result<Signer> Signer::of(const std::string& key) {
  KeyPtr own = TRY(key_of(key));
  return Signer(std::shared_ptr<evp_pkey_st>(own.release(), &EVP_PKEY_free));
}

Result<std::string> Signer::sign(std::string_view bytes) const {
  const DigestPtr digest(EVP_MD_CTX_new());
  std::size_t size = 0;
  if (!digest ||
      EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_.get()) != 1 ||
      EVP_DigestSign(digest.get(), nullptr, &size, raw(bytes), bytes.size()) != 1) {
    return openssl_error("nothing can be signed");
  }
  std::string der(size, '\0');
  if (EVP_DigestSign(digest.get(), raw(der), &size, raw(bytes), bytes.size()) != 1)
    return openssl_error("nothing can be signed");
  const unsigned char* at = raw(std::string_view(der));
  const PairPtr pair(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size)));
  std::string signature(std::size_t{2} * kHalf, '\0');
  if (!pair || BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), raw(signature), kHalf) != kHalf ||
      BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), raw(signature) + kHalf, kHalf) != kHalf) {
    return openssl_error("a signature can't be written");
  }
  return signature;
}

bool Signer::is_mine(std::string_view bytes, std::string_view signature) const {
  if (signature.size() != std::size_t{2} * kHalf) return false;
  const PairPtr pair(ECDSA_SIG_new());
  NumberPtr r(BN_bin2bn(raw(signature), kHalf, nullptr));
  NumberPtr s(BN_bin2bn(raw(signature) + kHalf, kHalf, nullptr));
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return false;
  static_cast<void>(r.release());  // they are the pair's now
  static_cast<void>(s.release());
  const int size = i2d_ECDSA_SIG(pair.get(), nullptr);
  if (size <= 0) return false;
  std::string der(static_cast<std::size_t>(size), '\0');
  unsigned char* at = raw(der);
  i2d_ECDSA_SIG(pair.get(), &at);
  const DigestPtr digest(EVP_MD_CTX_new());
  const bool mine =
      digest &&
      EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
      EVP_DigestVerify(digest.get(), raw(std::string_view(der)), der.size(), raw(bytes),
                       bytes.size()) == 1;
  ERR_clear_error();
  return mine;
}

}  // namespace drover::tls
