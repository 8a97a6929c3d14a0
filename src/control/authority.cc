#include "control/authority.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/proto.h"
#include "base/text.h"
#include "os/file.h"
#include "os/random.h"
#include "store/chain.h"

namespace drover::control {
namespace {

constexpr Duration kAuthorityLife = std::chrono::hours(20L * 365 * 24);
constexpr Duration kControllerLife = std::chrono::hours(30 * 24);
constexpr Duration kClockSlack = minutes(5);  // by which clocks of honest machines may differ
constexpr Duration kLongestToken = std::chrono::hours(7 * 24);
constexpr std::size_t kMostTokens = 1'000;
constexpr std::ptrdiff_t kMostTokensOfUser = 20;

bool is_node_name(std::string_view name) {
  return !name.empty() && name.size() <= 63 && name.front() != '-' && name.front() != '.' &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
             std::string_view::npos;
}

Error bad_name(std::string_view name) {
  return {Errc::invalid, "'" + printable(name, 63) +
                             "' can't be a node's name: letters, digits, '-', '_' and '.'"};
}

Result<tls::KeyAndCertificate> own_of(const AuthorityOptions& options) {
  const std::string file = options.folder + "/authority";
  if (!file_exists(file)) {
    const Instant now = options.now();
    auto made =
        TRY(tls::make_authority(options.cluster, {now - kClockSlack, now + kAuthorityLife}));
    TRY(write_file_durably(file, made.key + made.certificate, 0600));
    return made;
  }
  const std::string text = TRY(read_file(file));
  const std::size_t cut = text.find("-----BEGIN CERTIFICATE-----");
  if (cut == std::string::npos) return Error{Errc::invalid, file + ": no certificate in it"};
  return tls::KeyAndCertificate{.key = text.substr(0, cut), .certificate = text.substr(cut)};
}

}  // namespace

Authority::Authority(AuthorityOptions options, tls::KeyAndCertificate own, std::string fingerprint,
                     Book book)
    : options_(std::move(options)),
      own_(std::move(own)),
      fingerprint_(std::move(fingerprint)) {
  adopt(std::move(book));
}

Result<std::unique_ptr<Authority>> Authority::open(AuthorityOptions options) {
  TRY(make_folders(options.folder, 0700));
  auto own = TRY(own_of(options));
  auto info = tls::read_certificate(own.certificate);
  if (!info) return std::move(info).error().under(options.folder + "/authority");
  if (info->identity.cluster != options.cluster) {
    return Error{Errc::invalid,
                 fmt::format("{}: of cluster {}, this is {}", options.folder + "/authority",
                             info->identity.cluster, options.cluster)};
  }
  Book book;
  const std::string file = options.folder + "/book";
  if (file_exists(file)) {
    auto read = decode<Book>(TRY(read_file(file)));
    if (!read) return std::move(read).error().under(file);
    book = *std::move(read);
  }
  return std::unique_ptr<Authority>(new Authority(std::move(options), std::move(own),
                                                  std::move(info->fingerprint), std::move(book)));
}

Result<tls::Credentials> Authority::controller(const std::vector<std::string>& hosts) {
  const Instant now = options_.now();
  const std::string key = TRY(tls::make_key());
  const tls::Identity self{.kind = tls::Identity::Kind::controller, .cluster = options_.cluster};
  const std::string request = TRY(tls::make_request(key));
  const tls::Validity validity{now - kClockSlack, now + kControllerLife};
  return tls::Credentials{.authority = own_.certificate,
                          .certificate = TRY(tls::sign_request(own_, request, self, hosts, validity)),
                          .key = key};
}

Result<native::TokenAnswer> Authority::make_token(const native::TokenAsk& ask) {
  if (!ask.node.empty() && !is_node_name(ask.node)) return bad_name(ask.node);
  return hand_out({.node = ask.node}, ask.life);
}

Result<native::TokenAnswer> Authority::make_user_token(std::uint32_t uid,
                                                       const native::UserTokenAsk& ask) {
  return hand_out({.user = ask.user, .uid = uid}, ask.life);
}

Result<native::TokenAnswer> Authority::hand_out(Token token, Duration life) {
  if (life <= Duration(0) || life > kLongestToken) {
    return Error{Errc::invalid, "a token is good for up to 7 days"};
  }
  const std::lock_guard lock(mutex_);
  if (book_.tokens.size() >= kMostTokens)
    return Error{Errc::exhausted, "1000 tokens are out already"};
  // One person can't use up what is there for all.
  const auto of_user = [&](const Token& other) { return !token.user.empty() && other.user == token.user; };
  if (std::ranges::count_if(book_.tokens, of_user) >= kMostTokensOfUser)
    return Error{Errc::exhausted, fmt::format("{} tokens of {} are out already", kMostTokensOfUser, token.user)};
  const std::string secret = store::hex(random_bytes(16));
  Book book = book_;
  token.hash = store::sha256(secret);
  token.until = options_.now() + life;
  const Instant until = token.until;
  book.tokens.push_back(std::move(token));
  TRY(keep(std::move(book)));
  return native::TokenAnswer{.token = secret + "." + fingerprint_, .until = until};
}

Result<std::vector<Authority::Token>::iterator> Authority::find_token(
    Book& book, const std::string& secret) const {
  // The hashes are compared, so how long that takes tells nothing of the secret.
  const auto token = std::ranges::find(book.tokens, store::sha256(secret), &Token::hash);
  if (token == book.tokens.end())
    return Error{Errc::denied, "the token is unknown, or was used already"};
  if (token->until < options_.now())
    return Error{Errc::denied, "the token expired at " + tls::time_text(token->until)};
  return token;
}

Result<std::string> Authority::join(const native::JoinAsk& ask,
                                    const std::vector<std::string>& hosts) {
  if (!is_node_name(ask.node)) return bad_name(ask.node);
  const std::lock_guard lock(mutex_);
  Book book = book_;
  const auto token = TRY(find_token(book, ask.secret));
  if (!token->user.empty()) {
    return Error{Errc::denied, "the token is a person's, for `drover login`; a node's comes from `drover node token`"};
  }
  if (!token->node.empty() && token->node != ask.node) {
    return Error{Errc::denied,
                 fmt::format("the token is for node {}, not {}", token->node, ask.node)};
  }
  const tls::Identity who{
      .kind = tls::Identity::Kind::node, .cluster = options_.cluster, .name = ask.node};
  const auto is_here = [uri = who.uri()](const native::Member& member) {
    return member.identity == uri && !member.revoked;
  };
  if (token->node.empty() && std::ranges::any_of(book.issued, is_here)) {
    return Error{
        Errc::conflict,
        fmt::format("node {} has joined already: revoke it first, or make a token for that "
                    "name (drover node token {})",
                    ask.node, ask.node)};
  }
  book.tokens.erase(token);
  for (native::Member& member : book.issued) {
    if (is_here(member)) member.revoked = true;
  }
  const std::string certificate = TRY(issue(book, who, ask.request, hosts, options_.node_life));
  TRY(keep(std::move(book)));
  return certificate;
}

Result<native::HereAnswer> Authority::here(const native::HereAsk& ask,
                                           const std::vector<std::string>& hosts) {
  if (!is_node_name(ask.node)) return bad_name(ask.node);
  const std::lock_guard lock(mutex_);
  Book book = book_;
  const tls::Identity who{
      .kind = tls::Identity::Kind::node, .cluster = options_.cluster, .name = ask.node};
  // Its key was in the memory of an agent that is gone: nothing is to be remembered of it.
  std::erase_if(book.issued, [&](const native::Member& member) {
    return member.identity == who.uri() && member.here && !member.revoked;
  });
  std::string certificate = TRY(issue(book, who, ask.request, hosts, options_.node_life));
  book.issued.back().here = true;
  TRY(keep(std::move(book)));
  return native::HereAnswer{.certificate = std::move(certificate), .authority = own_.certificate};
}

Result<std::string> Authority::login(const native::LoginAsk& ask) {
  const std::lock_guard lock(mutex_);
  Book book = book_;
  const auto token = TRY(find_token(book, ask.secret));
  if (token->user.empty()) {
    return Error{Errc::denied,
                 "the token is a node's, for `drover-agent --join`; yours comes from `drover user token`"};
  }
  const tls::Identity who{.kind = tls::Identity::Kind::user,
                          .cluster = options_.cluster,
                          .name = token->user,
                          .uid = token->uid};
  book.tokens.erase(token);
  const std::string certificate = TRY(issue(book, who, ask.request, {}, options_.user_life));
  TRY(keep(std::move(book)));
  return certificate;
}

Result<std::string> Authority::renew(const tls::Identity& who, const std::string& request,
                                     const std::vector<std::string>& hosts) {
  const std::lock_guard lock(mutex_);
  Book book = book_;
  const std::string certificate = TRY(issue(book, who, request, hosts, options_.node_life));
  TRY(keep(std::move(book)));
  return certificate;
}

Result<std::string> Authority::issue(Book& book, const tls::Identity& who,
                                     const std::string& request,
                                     const std::vector<std::string>& hosts, Duration life) const {
  const Instant now = options_.now();
  const std::string certificate =
      TRY(tls::sign_request(own_, request, who, hosts, {now - kClockSlack, now + life}));
  const tls::CertificateInfo info = TRY(tls::read_certificate(certificate));
  book.issued.push_back({.identity = who.uri(),
                         .name = who.name,
                         .serial = info.serial,
                         .from = now,
                         .until = info.validity.until});
  return certificate;
}

Result<tls::Credentials> Authority::user(std::uint32_t uid, const std::string& name) {
  const std::string key = TRY(tls::make_key());
  const std::string request = TRY(tls::make_request(key));
  const tls::Identity who{.kind = tls::Identity::Kind::user, .cluster = options_.cluster, .name = name, .uid = uid};
  const std::lock_guard lock(mutex_);
  Book book = book_;
  const std::string certificate = TRY(issue(book, who, request, {}, options_.user_life));
  TRY(keep(std::move(book)));
  return tls::Credentials{.authority = own_.certificate, .certificate = certificate, .key = key};
}

Status Authority::revoke(const std::string& node) {
  const tls::Identity who{
      .kind = tls::Identity::Kind::node, .cluster = options_.cluster, .name = node};
  const std::lock_guard lock(mutex_);
  return revoke_if([uri = who.uri()](const native::Member& member) { return member.identity == uri; }, book_,
                   "no node " + printable(node, 63) + " has joined");
}

Status Authority::revoke_user(const std::string& name) {
  const std::lock_guard lock(mutex_);
  Book book = book_;
  const auto erased = std::erase_if(book.tokens, [&](const Token& token) { return token.user == name; });
  const auto is_his = [&](const native::Member& member) {
    return member.name == name && native::is_user(member);
  };
  if (erased > 0 && std::ranges::none_of(book.issued, is_his)) return keep(std::move(book));
  return revoke_if(is_his, std::move(book), "user " + printable(name, 63) + " has no certificate");
}

Status Authority::revoke_if(const std::function<bool(const native::Member&)>& is_meant, Book book,
                            const std::string& none) {
  bool found = false;
  for (native::Member& member : book.issued) {
    if (member.revoked || !is_meant(member)) continue;
    member.revoked = found = true;
  }
  if (!found) return Error{Errc::not_found, none};
  return keep(std::move(book));
}

// Durable first, then in force. What has expired needs no remembering: it is refused by its dates.
Status Authority::keep(Book book) {
  const Instant now = options_.now();
  std::erase_if(book.tokens,
                [&](const Token& token) { return token.until + std::chrono::hours(24) < now; });
  std::erase_if(book.issued,
                [&](const native::Member& member) { return member.until + kClockSlack < now; });
  TRY(write_file_durably(options_.folder + "/book", encode(book), 0600));
  adopt(std::move(book));
  return Done{};
}

void Authority::adopt(Book book) {
  book_ = std::move(book);
  revoked_.clear();
  for (const native::Member& member : book_.issued) {
    if (member.revoked) revoked_.insert(member.serial);
  }
}

bool Authority::is_revoked(const std::string& serial) const {
  const std::lock_guard lock(mutex_);
  return revoked_.contains(serial);
}

native::RevokedList Authority::revoked() const {
  const std::lock_guard lock(mutex_);
  return {.serials = {revoked_.begin(), revoked_.end()}};
}

native::MemberList Authority::members() const {
  const std::lock_guard lock(mutex_);
  return {.members = book_.issued};
}

}  // namespace drover::control
