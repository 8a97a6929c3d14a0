#include "tls/certificate.h"

#include <openssl/pem.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <memory>
#include <utility>

#include "base/text.h"
#include "os/random.h"
#include "tls/openssl.h"

namespace drover::tls {
namespace {

constexpr std::string_view kScheme = "drover://";
constexpr std::string_view kNode = "node/";
constexpr std::string_view kUser = "user/";

bool is_plain(std::string_view name) {
  return !name.empty() && name.size() <= 255 && std::ranges::all_of(name, [](char c) {
    return c > ' ' && c < 0x7f && c != '/' && c != '%' && c != '?' && c != '#';
  });
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(std::max(0L, size))};
}

BioPtr bio_of(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return text;
}

Result<std::string> pem_of(const X509* certificate) {
  const BioPtr out(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(out.get(), certificate) != 1)
    return openssl_error("a certificate can't be written");
  return text_of(out.get());
}

Result<KeyPtr> fresh_key() {
  KeyPtr key(EVP_EC_gen("P-256"));
  if (!key) return openssl_error("no key can be made");
  return key;
}

Result<std::string> pem_of(const EVP_PKEY* key) {
  const BioPtr out(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PKCS8PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return openssl_error("a key can't be written");
  }
  return text_of(out.get());
}

bool set_serial(X509* certificate) {
  std::string bytes = random_bytes(16);
  bytes[0] = static_cast<char>((static_cast<unsigned char>(bytes[0]) & 0x3fU) |
                               0x40U);  // positive, of fixed length
  std::unique_ptr<BIGNUM, Freer<&BN_free>> number(
      BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()),
                static_cast<int>(bytes.size()), nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_validity(X509* certificate, const Validity& validity) {
  return ASN1_TIME_set(X509_getm_notBefore(certificate), unix_seconds(validity.from)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), unix_seconds(validity.until)) != nullptr;
}

bool set_name(X509_NAME* name, const std::string& text) {
  return X509_NAME_add_entry_by_txt(
             name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.data()),
             static_cast<int>(std::min<std::size_t>(text.size(), 64)), -1, 0) == 1;
}

bool add(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Freer<&X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool push(GENERAL_NAMES* names, int type, const std::string& text) {
  std::unique_ptr<GENERAL_NAME, Freer<&GENERAL_NAME_free>> name(GENERAL_NAME_new());
  std::unique_ptr<ASN1_STRING, Freer<&ASN1_STRING_free>> value(
      ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING));
  if (!name || !value ||
      ASN1_STRING_set(value.get(), text.data(), static_cast<int>(text.size())) != 1)
    return false;
  GENERAL_NAME_set0_value(name.get(), type, value.release());
  if (sk_GENERAL_NAME_push(names, name.get()) <= 0) return false;
  static_cast<void>(name.release());
  return true;
}

bool add_names(X509* certificate, const Identity& identity, const std::vector<std::string>& hosts) {
  const NamesPtr names(GENERAL_NAMES_new());
  if (!names || !push(names.get(), GEN_URI, identity.uri())) return false;
  for (const std::string& host : hosts) {
    const std::unique_ptr<ASN1_OCTET_STRING, Freer<&ASN1_OCTET_STRING_free>> address(
        a2i_IPADDRESS(host.c_str()));
    if (address) {
      const auto* data = reinterpret_cast<const char*>(ASN1_STRING_get0_data(address.get()));
      const std::string bytes(data, static_cast<std::size_t>(ASN1_STRING_length(address.get())));
      if (!push(names.get(), GEN_IPADD, bytes)) return false;
    } else if (is_plain(host) && !push(names.get(), GEN_DNS, host)) {
      return false;
    }
  }
  return X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) ==
         1;
}

struct Parts {
  X509* issuer;  // null: itself
  EVP_PKEY* signer;
  EVP_PKEY* key;
};

Result<std::string> issue(const Parts& parts, const Identity& identity,
                          const std::vector<std::string>& hosts, const Validity& validity) {
  const CertificatePtr certificate(X509_new());
  X509* const c = certificate.get();
  X509* const issuer = parts.issuer == nullptr ? c : parts.issuer;
  const bool authority = identity.kind == Identity::Kind::authority;
  const bool done = c != nullptr && X509_set_version(c, 2) == 1 && set_serial(c) &&
                    set_validity(c, validity) && X509_set_pubkey(c, parts.key) == 1 &&
                    set_name(X509_get_subject_name(c), "drover " + identity.text()) &&
                    X509_set_issuer_name(c, X509_get_subject_name(issuer)) == 1 &&
                    add(c, issuer, NID_basic_constraints,
                        authority ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE") &&
                    add(c, issuer, NID_key_usage,
                        authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature") &&
                    (authority || add(c, issuer, NID_ext_key_usage, "serverAuth,clientAuth")) &&
                    add(c, issuer, NID_subject_key_identifier, "hash") &&
                    (authority || add(c, issuer, NID_authority_key_identifier, "keyid:always")) &&
                    add_names(c, identity, hosts) && X509_sign(c, parts.signer, EVP_sha256()) > 0;
  if (!done) return openssl_error("a certificate can't be made");
  return pem_of(c);
}

Instant instant_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return Instant(seconds(::timegm(&parts)));
}

Result<Identity> identity_of(X509* certificate) {
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int type = 0;
    const void* const value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type);
    if (type != GEN_URI) continue;
    const auto* text = static_cast<const ASN1_STRING*>(value);
    return Identity::parse({reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                            static_cast<std::size_t>(ASN1_STRING_length(text))});
  }
  return Error{Errc::invalid, "the certificate is none of drover's: it names no identity"};
}

std::string_view block(std::string_view text, std::string_view what, std::size_t nth) {
  const std::string begin = "-----BEGIN " + std::string(what) + "-----";
  const std::string end = "-----END " + std::string(what) + "-----\n";
  std::size_t at = 0;
  for (std::size_t i = 0;; ++i) {
    at = text.find(begin, at);
    if (at == std::string_view::npos) return {};
    const std::size_t stop = text.find(end, at);
    if (stop == std::string_view::npos) return {};
    if (i == nth) return text.substr(at, stop + end.size() - at);
    at = stop;
  }
}

}  // namespace

Error openssl_error(std::string_view what) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(code);
  return {Errc::invalid, std::string(what) + (reason == nullptr ? "" : ": " + std::string(reason))};
}

Result<CertificatePtr> certificate_of(const std::string& pem) {
  CertificatePtr certificate(PEM_read_bio_X509(bio_of(pem).get(), nullptr, nullptr, nullptr));
  if (!certificate) return openssl_error("not a certificate");
  return certificate;
}

Result<KeyPtr> key_of(const std::string& pem) {
  KeyPtr key(PEM_read_bio_PrivateKey(bio_of(pem).get(), nullptr, nullptr, nullptr));
  if (!key) return openssl_error("not a private key");
  return key;
}

std::string Identity::uri() const {
  const std::string base = std::string(kScheme) + cluster + "/";
  switch (kind) {
    case Kind::authority:
      return base + "authority";
    case Kind::controller:
      return base + "controller";
    case Kind::node:
      return base + std::string(kNode) + name;
    case Kind::user:
      return base + std::string(kUser) + std::to_string(uid) + ":" + name;
  }
  return base;
}

Result<Identity> Identity::parse(std::string_view uri) {
  const Error bad{Errc::invalid, "'" + printable(uri) + "' is no identity of drover's"};
  if (!uri.starts_with(kScheme)) return bad;
  uri.remove_prefix(kScheme.size());
  const auto slash = uri.find('/');
  if (slash == std::string_view::npos || !is_plain(uri.substr(0, slash))) return bad;
  Identity found{.cluster = std::string(uri.substr(0, slash))};
  std::string_view rest = uri.substr(slash + 1);
  if (rest == "authority" || rest == "controller") {
    found.kind = rest == "authority" ? Kind::authority : Kind::controller;
    return found;
  }
  if (rest.starts_with(kNode) && is_plain(rest.substr(kNode.size()))) {
    found.name = rest.substr(kNode.size());
    return found;
  }
  if (!rest.starts_with(kUser)) return bad;
  rest.remove_prefix(kUser.size());
  const auto colon = rest.find(':');
  if (colon == std::string_view::npos) return bad;
  const auto uid = parse_uint(rest.substr(0, colon));
  if (!uid || *uid >= std::numeric_limits<std::uint32_t>::max() ||
      !is_plain(rest.substr(colon + 1)))
    return bad;
  found.kind = Kind::user;
  found.uid = static_cast<std::uint32_t>(*uid);
  found.name = rest.substr(colon + 1);
  return found;
}

std::string Identity::text() const {
  switch (kind) {
    case Kind::authority:
      return "authority";
    case Kind::controller:
      return "controller";
    case Kind::node:
      return "node " + name;
    case Kind::user:
      return "user " + name;
  }
  return {};
}

Result<std::string> make_key() { return pem_of(TRY(fresh_key()).get()); }

Result<KeyAndCertificate> make_authority(const std::string& cluster, const Validity& validity) {
  const KeyPtr key = TRY(fresh_key());
  const Identity identity{.kind = Identity::Kind::authority, .cluster = cluster};
  return KeyAndCertificate{
      .key = TRY(pem_of(key.get())),
      .certificate = TRY(issue({nullptr, key.get(), key.get()}, identity, {}, validity))};
}

Result<std::string> make_request(const std::string& key_pem) {
  const KeyPtr key = TRY(key_of(key_pem));
  const RequestPtr request(X509_REQ_new());
  const BioPtr out(BIO_new(BIO_s_mem()));
  if (!request || X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      !set_name(X509_REQ_get_subject_name(request.get()), "drover") ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) <= 0 ||
      PEM_write_bio_X509_REQ(out.get(), request.get()) != 1) {
    return openssl_error("a request for a certificate can't be made");
  }
  return text_of(out.get());
}

Result<std::string> sign_request(const KeyAndCertificate& authority, const std::string& request_pem,
                                 const Identity& identity, const std::vector<std::string>& hosts,
                                 const Validity& validity) {
  const RequestPtr request(
      PEM_read_bio_X509_REQ(bio_of(request_pem).get(), nullptr, nullptr, nullptr));
  if (!request) return openssl_error("not a request for a certificate");
  EVP_PKEY* const key = X509_REQ_get0_pubkey(request.get());
  std::array<char, 64> group{};
  std::size_t size = 0;
  if (key == nullptr || EVP_PKEY_is_a(key, "EC") != 1 ||
      EVP_PKEY_get_group_name(key, group.data(), group.size(), &size) != 1 ||
      std::string_view(group.data(), size) != "prime256v1") {
    ERR_clear_error();
    return Error{Errc::invalid, "only keys of the curve P-256 get a certificate"};
  }
  if (X509_REQ_verify(request.get(), key) != 1) {
    ERR_clear_error();
    return Error{Errc::denied, "the request isn't signed with its own key"};
  }
  const CertificatePtr issuer = TRY(certificate_of(authority.certificate));
  const KeyPtr signer = TRY(key_of(authority.key));
  return issue({issuer.get(), signer.get(), key}, identity, hosts, validity);
}

Result<CertificateInfo> read_certificate(const std::string& pem) { return info_of(TRY(certificate_of(pem)).get()); }

Result<CertificateInfo> info_of(X509* c) {
  CertificateInfo info;
  info.identity = TRY(identity_of(c));
  info.validity = {instant_of(X509_get0_notBefore(c)), instant_of(X509_get0_notAfter(c))};
  std::string bytes(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  if (X509_digest(c, EVP_sha256(), reinterpret_cast<unsigned char*>(bytes.data()), &size) != 1) {
    return openssl_error("a certificate can't be read");
  }
  info.fingerprint = hex(std::string_view(bytes).substr(0, size));
  const ASN1_INTEGER* const serial = X509_get0_serialNumber(c);
  info.serial = hex({reinterpret_cast<const char*>(ASN1_STRING_get0_data(serial)),
                     static_cast<std::size_t>(ASN1_STRING_length(serial))});
  return info;
}

std::string time_text(Instant at) {
  const std::time_t moment = unix_seconds(at);
  std::tm parts{};
  std::array<char, 32> text{};
  ::gmtime_r(&moment, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

Status check_time(const CertificateInfo& info, Instant now) {
  const std::string whose = "the certificate of " + info.identity.text();
  if (now < info.validity.from) {
    return Error{Errc::denied, whose + " is not valid before " + time_text(info.validity.from) +
                                   ", and here it is " + time_text(now) + ": is a clock wrong?"};
  }
  if (now >= info.validity.until) {
    return Error{Errc::denied, whose + " expired at " + time_text(info.validity.until) +
                                   ", and here it is " + time_text(now)};
  }
  return Done{};
}

std::string to_text(const Credentials& credentials) {
  return credentials.key + credentials.certificate + credentials.authority;
}

Result<Credentials> parse_credentials(std::string_view text) {
  Credentials found{.authority = std::string(block(text, "CERTIFICATE", 1)),
                    .certificate = std::string(block(text, "CERTIFICATE", 0)),
                    .key = std::string(block(text, "PRIVATE KEY", 0))};
  if (found.authority.empty() || found.key.empty()) {
    return Error{Errc::invalid, "a key, its certificate or the authority's is missing"};
  }
  TRY(read_certificate(found.certificate));
  return found;
}

}  // namespace drover::tls
