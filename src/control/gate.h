// The controller's door to other machines (docs/adr/0029): which address somebody may use, by his
// certificate, and the administrators' addresses for nodes' membership on the local socket.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "api/service.h"
#include "control/authority.h"
#include "control/controller.h"
#include "domain/step_launch.h"
#include "native/server.h"
#include "os/fd.h"
#include "wire/http_server.h"

namespace drover::control {

struct GateOptions {
  std::string address;  // "host:port" at which nodes reach the controller; "": not at all
  std::set<std::string> submit_nodes;  // where any user may ask, also without a job there
  std::function<void(const std::string&)> say;
  std::function<std::string()> kubernetes = nullptr;  // "host:port" of that door; null or "": it is shut
};

class Gate {
 public:
  Gate(GateOptions options, Authority& authority, Controller& controller);

  // Where the Kubernetes door is, once it is open.
  void set_kubernetes(std::function<std::string()> where) { options_.kubernetes = std::move(where); }
  // How a person elsewhere reaches a step; none before.
  using Reach = std::function<Result<Fd>(const StepAttach&, std::uint32_t uid)>;
  void set_steps(Reach reach);
  // A request over TLS. From any thread.
  void handle(wire::Request&& request, const wire::Responder& responder) const;
  // A request on the controller's own socket; false: not one of ours.
  [[nodiscard]] bool manage(const wire::Request& request, const wire::Responder& responder) const;

 private:
  void member(const tls::Identity& who, wire::Request&& request,
              const wire::Responder& responder) const;
  [[nodiscard]] Result<native::JoinAnswer> join(const wire::Request& request) const;
  [[nodiscard]] Result<Fd> step_stream(const wire::Request& request) const;
  [[nodiscard]] Result<native::JoinAnswer> login(const wire::Request& request) const;
  [[nodiscard]] Result<native::JoinAnswer> renew(const tls::Identity& who,
                                                 const wire::Request& request) const;
  [[nodiscard]] Status vouch(const tls::Identity& who, const wire::Request& request,
                             const wire::Responder& responder) const;
  [[nodiscard]] bool has_job(const std::string& node, std::uint32_t uid) const;
  [[nodiscard]] bool is_administrator(const Caller& caller) const;
  [[nodiscard]] Status administrator(const wire::Request& request) const;
  void manage_nodes(const wire::Request& request, const wire::Responder& responder) const;
  void manage_users(const wire::Request& request, const wire::Responder& responder) const;
  [[nodiscard]] Status check_open() const;
  [[nodiscard]] Result<native::TokenAnswer> token(const wire::Request& request) const;
  [[nodiscard]] Result<native::HereAnswer> here(const wire::Request& request) const;
  [[nodiscard]] Status revoke(const wire::Request& request) const;
  [[nodiscard]] Result<native::TokenAnswer> user_token(const wire::Request& request) const;
  [[nodiscard]] Result<native::MemberList> users(const wire::Request& request) const;
  [[nodiscard]] Status revoke_user(const wire::Request& request) const;
  [[nodiscard]] Result<native::UserAnswer> credentials(const wire::Request& request) const;

  GateOptions options_;
  Authority& authority_;
  Controller& controller_;
  mutable std::mutex mutex_;
  Reach reach_;
  const native::Identify identify_;
  const native::Server native_;
};

}  // namespace drover::control
