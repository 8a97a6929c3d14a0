// An agent's membership of a cluster whose controller is on another machine: joining by a token,
// the credentials in one file, proving them at each connection, renewing them in time.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "base/result.h"
#include "native/membership.h"
#include "tls/certificate.h"
#include "tls/context.h"
#include "wire/socket.h"

namespace drover::agent {

class Membership {
 public:
  // Asks the controller at `controller` for a certificate as `node` and keeps it in `file` (0600).
  // `token` is SECRET.FINGERPRINT: only the controller whose authority has that fingerprint gets to
  // see the secret.
  [[nodiscard]] static Result<std::unique_ptr<Membership>> join(const wire::Endpoint& controller,
                                                                const std::string& token,
                                                                const std::string& node,
                                                                const std::string& file);
  // For a node of the controller's own machine, whose socket `controller` is: a certificate for this agent's life
  // alone. Conflict: the controller takes no connections from other machines, so there is none.
  [[nodiscard]] static Result<std::unique_ptr<Membership>> here(const wire::Endpoint& controller,
                                                                const std::string& node);
  // What an earlier join has left; not_found without one.
  [[nodiscard]] static Result<std::unique_ptr<Membership>> open(const std::string& file);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  [[nodiscard]] const wire::Endpoint& controller() const { return controller_; }
  [[nodiscard]] const std::string& node() const { return identity_.name; }
  // Of this machine, by which others reach it, for a node of the controller's own.
  [[nodiscard]] const std::string& host() const { return host_; }
  // For connections to the controller and to other nodes, and for theirs to us. Both are kept renewed.
  [[nodiscard]] const std::shared_ptr<tls::Context>& context() const { return context_; }
  [[nodiscard]] const std::shared_ptr<tls::Context>& door_context() const { return door_context_; }
  // Another address of the same controller, for this process alone.
  void move_to(wire::Endpoint controller) { controller_ = std::move(controller); }

  // Does the controller take us? Denied: no, and it won't by itself; unavailable: it can't be asked
  // now.
  [[nodiscard]] Status greet() const;
  // A new key and certificate, kept in the file and used from then on.
  [[nodiscard]] Status renew();
  // Renews after two thirds of each certificate's life, and keeps asking who was revoked, until the destructor.
  void keep_renewed(std::function<void(const std::string&)> say);

 private:
  Membership(wire::Endpoint controller, tls::Credentials credentials, tls::CertificateInfo info,
             std::string file);
  [[nodiscard]] static Result<std::unique_ptr<Membership>> make(const wire::Endpoint& controller,
                                                                const tls::Credentials& credentials,
                                                                const std::string& file);
  [[nodiscard]] Result<std::string> renewed(const std::string& request);
  struct Revoked {
    std::mutex mutex;
    std::set<std::string> serials;
  };
  [[nodiscard]] Result<native::RevokedList> ask_revoked() const;
  void learn_revoked();
  void watch(const std::function<void(const std::string&)>& say);

  wire::Endpoint controller_;
  const tls::Identity identity_;
  const std::string file_;  // "": in memory only
  std::string host_;
  const std::shared_ptr<Revoked> revoked_ = std::make_shared<Revoked>();
  std::shared_ptr<tls::Context> context_;
  std::shared_ptr<tls::Context> door_context_;
  std::mutex mutex_;
  std::condition_variable wake_;
  tls::Credentials credentials_;
  tls::Validity validity_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace drover::agent
