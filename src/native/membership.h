// Who belongs to a cluster beyond its controller's machine: what is said to become a member, to
// stay one and to manage the others. Sent over TLS by nodes, over the Unix socket by
// administrators.
//
//   POST /v1/join           JoinAsk -> JoinAnswer     anybody with a node's token
//   POST /v1/login          LoginAsk -> JoinAnswer    anybody with a person's token
//   POST /v1/renew          RenewAsk -> JoinAnswer    a node, with the certificate that it has
//   GET  /v1/revoked        RevokedList               a node
//   POST /v1/vouch          VouchAsk                  a node, for a local caller; the connection is his from then on
//   POST /v1/members/token  TokenAsk -> TokenAnswer   administrators, as the following
//   POST /v1/members/here   HereAsk -> HereAnswer     for a node of the controller's own machine
//   GET  /v1/members/revoked RevokedList              for a node of the controller's own machine
//   GET  /v1/members        MemberList                nodes
//   POST /v1/members/revoke RevokeAsk
//   POST /v1/users/token    UserTokenAsk -> TokenAnswer  a person for himself, root for anybody
//   GET  /v1/users          MemberList                a person's own, administrators everybody's
//   POST /v1/users/revoke   RevokeUserAsk             the same
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/proto.h"
#include "base/result.h"
#include "base/time.h"

namespace drover::native {

struct JoinAsk {
  std::string secret;  // the token's first half
  std::string node;
  std::string request;  // for a certificate, PEM
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "secret", self.secret);
    visit(2, "node", self.node);
    visit(3, "request", self.request);
  }
};

struct HereAsk {
  std::string node;
  std::string request;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "request", self.request);
  }
};

struct HereAnswer {
  std::string certificate;  // PEM, as the authority's
  std::string authority;
  std::string host;  // by which other machines reach this one
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "certificate", self.certificate);
    visit(2, "authority", self.authority);
    visit(3, "host", self.host);
  }
};

struct LoginAsk {
  std::string secret;   // the token's first half, which says who it is
  std::string request;  // for a certificate, PEM
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "secret", self.secret);
    visit(2, "request", self.request);
  }
};

struct RenewAsk {
  std::string request;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "request", self.request);
  }
};

struct JoinAnswer {
  std::string certificate;  // PEM
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "certificate", self.certificate);
  }
};

struct VouchAsk {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "uid", self.uid);
    visit(2, "gid", self.gid);
  }
};

struct TokenAsk {
  std::string node;  // the only one that may use it; "": any that has not joined yet
  Duration life = minutes(15);
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "life", self.life);
  }
};

struct UserTokenAsk {
  std::string user;  // "": the caller
  Duration life = minutes(15);
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "user", self.user);
    visit(2, "life", self.life);
  }
};

struct TokenAnswer {
  std::string token;       // SECRET.FINGERPRINT of the authority
  std::string controller;  // "host:port"
  Instant until;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "token", self.token);
    visit(2, "controller", self.controller);
    visit(3, "until", self.until);
  }
};

// One certificate that was issued and has not expired.
struct Member {
  std::string identity;  // URI
  std::string name;
  std::string serial;
  Instant from;
  Instant until;
  bool revoked = false;
  bool here = false;  // a node's on the controller's own machine
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "identity", self.identity);
    visit(2, "name", self.name);
    visit(3, "serial", self.serial);
    visit(4, "from", self.from);
    visit(5, "until", self.until);
    visit(6, "revoked", self.revoked);
    visit(7, "here", self.here);
  }
};

[[nodiscard]] inline bool is_user(const Member& member) {
  return member.identity.find("/user/") != std::string::npos;  // names have no '/'
}

struct MemberList {
  std::vector<Member> members;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "members", self.members);
  }
};

// For nodes: of certificates that would be good otherwise.
struct RevokedList {
  std::vector<std::string> serials;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "serials", self.serials);
  }
};

struct RevokeAsk {
  std::string node;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
  }
};

struct RevokeUserAsk {
  std::string user;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "user", self.user);
  }
};

// What a person needs to speak to the Kubernetes door from anywhere: a certificate of his own, and where
// the door is.
struct UserAnswer {
  std::string user;
  std::uint32_t uid = 0;
  bool admin = false;
  std::string server;       // "host:port" of the Kubernetes door
  std::string cluster;      // its id
  std::string authority;    // PEM, as the two below
  std::string certificate;
  std::string key;
  Instant until;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "user", self.user);
    visit(2, "uid", self.uid);
    visit(3, "admin", self.admin);
    visit(4, "server", self.server);
    visit(5, "cluster", self.cluster);
    visit(6, "authority", self.authority);
    visit(7, "certificate", self.certificate);
    visit(8, "key", self.key);
    visit(9, "until", self.until);
  }
};
// For the caller himself, as the kernel names him.
[[nodiscard]] Result<UserAnswer> user_credentials(const std::string& state_folder);

// An administrator's questions to the controller of a state folder.
[[nodiscard]] Result<TokenAnswer> make_token(const std::string& state_folder, const TokenAsk& ask);
[[nodiscard]] Result<MemberList> list_members(const std::string& state_folder);
[[nodiscard]] Status revoke_node(const std::string& state_folder, const std::string& node);
// A person's.
[[nodiscard]] Result<TokenAnswer> make_user_token(const std::string& state_folder, const UserTokenAsk& ask);
[[nodiscard]] Result<MemberList> list_users(const std::string& state_folder);
[[nodiscard]] Status revoke_user(const std::string& state_folder, const std::string& user);

}  // namespace drover::native
