// Who asks, and what he may do. Default deny.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/command.h"
#include "kube/object/pod/slurm_pod.h"
#include "kube/rest/resource.h"
#include "kube/store/store.h"
#include "wire/http.h"

namespace drover::kube {

struct User {
  std::string name;  // his Unix name, which is also his Slurm user
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string group;
  std::vector<std::uint32_t> groups;
  bool admin = false;
  bool anonymous = false;
  struct Account {
    std::string space;
    std::string name;
    std::string uid;
    std::string pod;  // whose token it is; "": nobody's in particular
  };
  std::optional<Account> account;  // a service account; what it starts runs as nobody
  [[nodiscard]] Caller caller() const {
    return {.uid = uid, .gid = gid, .user = account ? "nobody" : name, .group = group};
  }
};

inline constexpr std::uint32_t kNobody = 65'534;

// Who a request comes from, by a user's certificate. Nothing: it says who it is, and isn't believed (401). Without
// any such word he is anonymous, unless he shows a token (accounts.h).
using Identify = std::function<std::optional<User>(const wire::Request&)>;

enum class Verb : std::uint8_t { get, list, watch, create, update, patch, remove, remove_all };
[[nodiscard]] constexpr std::string_view word(Verb verb) {
  switch (verb) {
    case Verb::get:
      return "get";
    case Verb::list:
      return "list";
    case Verb::watch:
      return "watch";
    case Verb::create:
      return "create";
    case Verb::update:
      return "update";
    case Verb::patch:
      return "patch";
    case Verb::remove:
      return "delete";
    case Verb::remove_all:
      return "deletecollection";
  }
  return "";
}

struct Access {
  Verb verb = Verb::get;
  std::string_view group;
  std::string_view resource;
  std::string_view subresource;
  std::string_view space;  // "" of the cluster, or of all namespaces
  std::string_view name;
};

// The rules (docs/kubernetes.md): administrators may do everything. A user may do everything in the
// namespaces that are his: the one of his own name, and those whose annotation drover.dev/members names
// him. Everybody may read nodes, namespaces and priority classes, and may see the pods of Slurm jobs;
// of his own Slurm jobs he may delete the pods (scancel). A service account may what its role says, and a user's
// things in namespaces whose drover.dev/members names it. All else is denied.
[[nodiscard]] bool may(const Store& store, const User& user, const Access& access);
[[nodiscard]] bool is_member(const Store& store, const User& user, std::string_view space);

// `User "ann" cannot list resource "pods" in API group "" in the namespace "x"`.
[[nodiscard]] std::string denial(const User& user, const Access& access);

// Those that every cluster has, and the one in which Slurm's jobs appear. None is a user's own, whatever his name.
inline constexpr std::string_view kFixedSpaces[] = {"default", "kube-system", "kube-public", "kube-node-lease",
                                                    kSlurmSpace};
inline constexpr std::string_view kMembers = "drover.dev/members";
inline constexpr std::string_view kUsualAccount = "default";  // that every namespace has
inline constexpr std::string_view kRootCertificate = "kube-root-ca.crt";  // a config map that pods may mount
// Of a service account, in its namespace: "edit" is everything, "view" is reading all but secrets.
inline constexpr std::string_view kRole = "drover.dev/role";

}  // namespace drover::kube
