// Certificates of a cluster: keys (EC P-256), an authority, requests, signatures, reading. Who
// somebody is stands in one URI of his certificate (docs/adr/0029); everything here is PEM text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace drover::tls {

// "drover://CLUSTER/authority", "/controller", "/node/NAME", "/user/UID:NAME".
struct Identity {
  enum class Kind : std::uint8_t { authority, controller, node, user };
  Kind kind = Kind::node;
  std::string cluster;
  std::string name;       // of the node or user
  std::uint32_t uid = 0;  // of the user

  [[nodiscard]] std::string uri() const;
  [[nodiscard]] static Result<Identity> parse(std::string_view uri);
  // "node n1", for people.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Identity&, const Identity&) = default;
};

struct Validity {
  Instant from;
  Instant until;
};

struct CertificateInfo {
  Identity identity;
  std::string serial;       // hexadecimal
  std::string fingerprint;  // SHA-256 of the whole, hexadecimal
  Validity validity;
};

struct KeyAndCertificate {
  std::string key;
  std::string certificate;
};

[[nodiscard]] Result<std::string> make_key();
[[nodiscard]] Result<KeyAndCertificate> make_authority(const std::string& cluster,
                                                       const Validity& validity);
// A request for a certificate of this key. Who it is for, the authority decides.
[[nodiscard]] Result<std::string> make_request(const std::string& key);
// `hosts`: DNS names and addresses, for clients that compare them. Denied when the request isn't
// signed with its own key, invalid when its key is of another kind.
[[nodiscard]] Result<std::string> sign_request(const KeyAndCertificate& authority,
                                               const std::string& request, const Identity& identity,
                                               const std::vector<std::string>& hosts,
                                               const Validity& validity);
[[nodiscard]] Result<CertificateInfo> read_certificate(const std::string& pem);

// Good now? Else a sentence that names the clock or the end.
[[nodiscard]] Status check_time(const CertificateInfo& info, Instant now);
// "2026-11-30T12:00:00Z"
[[nodiscard]] std::string time_text(Instant at);

// What one program keeps of its identity. The file holds the key, its certificate and the
// authority's, one after the other, after lines "name: value" that the program adds; only its owner
// may read it.
struct Credentials {
  std::string authority;
  std::string certificate;
  std::string key;
};
[[nodiscard]] std::string to_text(const Credentials& credentials);
[[nodiscard]] Result<Credentials> parse_credentials(std::string_view text);

}  // namespace drover::tls
