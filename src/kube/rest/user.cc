#include "kube/rest/user.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace drover::kube {
namespace {

bool reads(Verb verb) { return verb == Verb::get || verb == Verb::list || verb == Verb::watch; }

// What of the whole cluster everybody may look at.
bool is_open(std::string_view resource) {
  return resource == "nodes" || resource == "namespaces" || resource == "priorityclasses";
}

// Questions about oneself.
bool is_own_review(const Access& access) {
  return access.verb == Verb::create && access.resource.starts_with("selfsubject");
}

enum class Role : std::uint8_t { none, view, edit };

Role role_of(const Store& store, const User& user, std::string_view space) {
  if (is_member(store, user, space)) return Role::edit;
  if (space != user.account->space) return Role::none;
  const EntryPtr account = store.get("serviceaccounts", {.space = user.account->space, .name = user.account->name});
  const std::string word = account ? account->look().at("metadata.annotations").member(kRole).text() : "";
  return word == "edit" ? Role::edit : word == "view" ? Role::view : Role::none;
}

bool account_may(const Store& store, const User& user, const Access& access) {
  if (is_own_review(access)) return true;
  if (is_open(access.resource)) return reads(access.verb) && role_of(store, user, user.account->space) != Role::none;
  if (access.space.empty() || access.space == kSlurmSpace) return false;
  switch (role_of(store, user, access.space)) {
    case Role::none:
      return false;
    case Role::edit:
      return true;
    case Role::view:
      break;
  }
  const bool plain = access.subresource.empty() || access.subresource == "log" || access.subresource == "status";
  return reads(access.verb) && plain && access.resource != "secrets";
}

bool owns_slurm_job(const Store& store, const User& user, std::string_view name) {
  const EntryPtr pod = store.get("pods", {.space = std::string(kSlurmSpace), .name = std::string(name)});
  return pod && pod->look().at("metadata.labels").member("drover.dev/user").text() == user.name;
}

}  // namespace

bool is_member(const Store& store, const User& user, std::string_view space) {
  if (space == user.name && std::ranges::find(kFixedSpaces, space) == std::end(kFixedSpaces)) return true;
  const EntryPtr entry = store.get("namespaces", {.space = "", .name = std::string(space)});
  if (!entry) return false;
  const std::string members = entry->look().at("metadata.annotations").member(kMembers).text();
  return std::ranges::any_of(split(members, ','), [&](std::string_view one) { return trim(one) == user.name; });
}

bool may(const Store& store, const User& user, const Access& access) {
  if (user.anonymous) return false;
  if (user.account) return account_may(store, user, access);
  if (user.admin || is_own_review(access)) return true;
  if (reads(access.verb) && is_open(access.resource)) return true;
  if (access.resource == "nodes" || access.resource == "priorityclasses") return false;
  if (access.resource == "namespaces") return false;
  if (access.resource == "leases" && access.space == "kube-node-lease") return reads(access.verb);
  if (access.space == kSlurmSpace) {
    if (access.resource != "pods") return reads(access.verb) && access.resource == "events";
    if (reads(access.verb) && access.subresource.empty()) return true;
    return owns_slurm_job(store, user, access.name);
  }
  return !access.space.empty() && is_member(store, user, access.space);
}

std::string denial(const User& user, const Access& access) {
  std::string text = "User \"" + user.name + "\" cannot " + std::string(word(access.verb)) + " resource \"" +
                     std::string(access.resource);
  if (!access.subresource.empty()) text += "/" + std::string(access.subresource);
  text += "\" in API group \"" + std::string(access.group) + "\" ";
  if (access.space.empty()) return text + "at the cluster scope";
  return text + "in the namespace \"" + std::string(access.space) + "\"";
}

}  // namespace drover::kube
