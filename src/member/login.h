// A person's login to a controller elsewhere: how it is made and used. Where it lies:
// native/login.h.
#pragma once

#include <string>

#include "base/result.h"
#include "tls/certificate.h"
#include "wire/socket.h"

namespace drover::member {

struct Login {
  wire::Endpoint controller;
  tls::Credentials credentials;
  tls::CertificateInfo info;  // of the person's certificate

  // Good at this time? Denied: he has to log in again, and how.
  [[nodiscard]] Status check(Instant now) const;
};

// Turns a token of `drover user token` into a certificate and keeps it in `folder` (0700, the file
// 0600). An older login there is replaced.
[[nodiscard]] Result<Login> log_in(const wire::Endpoint& controller, const std::string& token,
                                   const std::string& folder);
// Denied when others may read or write it.
[[nodiscard]] Result<Login> open_login(const std::string& folder);

}  // namespace drover::member
