// Signs words of the cluster and knows its own signatures again: ECDSA over P-256 with SHA-256, as JSON Web Tokens
// have it (ES256: the two numbers, 32 bytes each).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct evp_pkey_st;

namespace drover::tls {

// Safe from any thread.
class Signer {
 public:
  // `key`: PEM.
  [[nodiscard]] static Result<Signer> of(const std::string& key);

  [[nodiscard]] Result<std::string> sign(std::string_view bytes) const;
  [[nodiscard]] bool is_mine(std::string_view bytes, std::string_view signature) const;

 private:
  explicit Signer(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace drover::tls
