// The cluster's certificate authority, its tokens and what it has issued: files of their own beside
// the log (docs/adr/0029 says why they are no facts). Safe from any thread.
//
//   <state>/identity/authority   the authority's key and certificate
//   <state>/identity/book        tokens (as hashes), issued and revoked certificates; replaced as a
//   whole
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "native/membership.h"
#include "os/clock.h"
#include "tls/certificate.h"
#include "tls/signer.h"

namespace drover::control {

struct AuthorityOptions {
  std::string folder;
  std::string cluster;                              // its id
  Duration node_life = std::chrono::hours(7 * 24);  // of a node's certificate
  Duration user_life = std::chrono::hours(30 * 24);  // of a person's
  std::function<Instant()> now = wall_now;
};

class Authority {
 public:
  // Made at the first start; invalid when the files are of another cluster or can't be read.
  [[nodiscard]] static Result<std::unique_ptr<Authority>> open(AuthorityOptions options);

  // A new certificate for the controller itself.
  [[nodiscard]] Result<tls::Credentials> controller(const std::vector<std::string>& hosts);

  // A token that lets one node join, once, within `life`: SECRET.FINGERPRINT.
  [[nodiscard]] Result<native::TokenAnswer> make_token(const native::TokenAsk& ask);
  // Denied when the token is unknown, used, expired or another node's; conflict when a token for
  // any node names one that has joined. A node that joins again leaves its earlier certificates
  // behind, revoked.
  [[nodiscard]] Result<std::string> join(const native::JoinAsk& ask,
                                         const std::vector<std::string>& hosts);
  // For a node whom the caller has identified otherwise. Its earlier certificates end.
  [[nodiscard]] Result<native::HereAnswer> here(const native::HereAsk& ask,
                                                const std::vector<std::string>& hosts);
  [[nodiscard]] Result<std::string> renew(const tls::Identity& who, const std::string& request,
                                          const std::vector<std::string>& hosts);
  // A key and a certificate for a person, whom the caller has identified.
  [[nodiscard]] Result<tls::Credentials> user(std::uint32_t uid, const std::string& name);
  // A token that lets that person log in from one machine, once, within `life`.
  [[nodiscard]] Result<native::TokenAnswer> make_user_token(std::uint32_t uid,
                                                            const native::UserTokenAsk& ask);
  // Who he is, the token says. Denied when it is unknown, used, expired or a node's.
  [[nodiscard]] Result<std::string> login(const native::LoginAsk& ask);
  // Every certificate of that node, from now on; of that person, with his tokens.
  [[nodiscard]] Status revoke(const std::string& node);
  [[nodiscard]] Status revoke_user(const std::string& name);

  // For tokens of service accounts: the authority's own hand, and what it is known by.
  [[nodiscard]] Result<tls::Signer> signer() const { return tls::Signer::of(own_.key); }
  [[nodiscard]] const std::string& certificate() const { return own_.certificate; }

  [[nodiscard]] bool is_revoked(const std::string& serial) const;
  [[nodiscard]] native::RevokedList revoked() const;
  [[nodiscard]] native::MemberList members() const;

 private:
  struct Token {
    std::string hash;  // SHA-256 of the secret
    std::string node;
    Instant until;
    std::string user;  // whose it is; "": a node's
    std::uint32_t uid = 0;
    template <class Self, class Visit>
    static void describe(Self& self, Visit& visit) {
      visit(1, "hash", self.hash);
      visit(2, "node", self.node);
      visit(3, "until", self.until);
      visit(4, "user", self.user);
      visit(5, "uid", self.uid);
    }
  };
  struct Book {
    std::vector<Token> tokens;
    std::vector<native::Member> issued;
    template <class Self, class Visit>
    static void describe(Self& self, Visit& visit) {
      visit(1, "tokens", self.tokens);
      visit(2, "issued", self.issued);
    }
  };

  Authority(AuthorityOptions options, tls::KeyAndCertificate own, std::string fingerprint,
            Book book);
  [[nodiscard]] Result<native::TokenAnswer> hand_out(Token token, Duration life);
  // The token of that secret, if it may be used now.
  [[nodiscard]] Result<std::vector<Token>::iterator> find_token(Book& book,
                                                                const std::string& secret) const;
  [[nodiscard]] Status revoke_if(const std::function<bool(const native::Member&)>& is_meant,
                                 Book book, const std::string& none);
  // Signs for a node and notes it in `book`.
  [[nodiscard]] Result<std::string> issue(Book& book, const tls::Identity& who,
                                          const std::string& request,
                                          const std::vector<std::string>& hosts, Duration life) const;
  [[nodiscard]] Status keep(Book book);
  void adopt(Book book);  // in memory alone

  const AuthorityOptions options_;
  const tls::KeyAndCertificate own_;
  const std::string fingerprint_;
  mutable std::mutex mutex_;
  Book book_;
  std::set<std::string> revoked_;  // serials, of book_: each request of each node asks
};

}  // namespace drover::control
