#include "cli/login.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "cli/amounts.h"
#include "cli/place.h"
#include "member/login.h"
#include "native/discovery.h"
#include "native/login.h"
#include "native/membership.h"
#include "os/file.h"

namespace drover::cli {
namespace {

int told(const Status& status) {
  if (status) return 0;
  std::fprintf(stderr, "drover: %s\n", status.error().message.c_str());
  return 1;
}

std::string folder_of(const LoginOptions& options) {
  const auto at = native::Surroundings::here();
  return !options.state.empty() ? options.state
         : !at.chosen.empty()   ? at.chosen
                                : native::login_folder(at);
}

Status make_login(const LoginOptions& options) {
  const auto to = wire::Endpoint::parse(options.to);
  if (!to || !to->path.empty()) return Error{Errc::invalid, "--to: is HOST:PORT"};
  const std::string folder = folder_of(options);
  if (file_exists(native::socket_in(folder))) {
    return Error{
        Errc::conflict,
        folder + " is the state folder of a cluster of this machine; name another in --state"};
  }
  const member::Login login = TRY(member::log_in(*to, options.token, folder));
  std::printf("You are %s (uid %u) to the cluster at %s until %s.\n",
              login.info.identity.name.c_str(), login.info.identity.uid,
              login.controller.text().c_str(), tls::time_text(login.info.validity.until).c_str());
  const auto found = native::find_state_folder();
  if (!found || *found != folder) {
    std::printf("Commands here look elsewhere unless you say DROVER_STATE=%s.\n", folder.c_str());
  }
  return Done{};
}

Status forget_login(const LoginOptions& options) {
  const std::string folder = folder_of(options);
  if (!native::is_login(folder)) return Error{Errc::not_found, "there is no login in " + folder};
  return remove_file(native::login_in(folder));
}

Status print_token(const UserOptions& options) {
  const Place place = TRY(place_of_running(options.state));
  auto life = parse_duration(options.ttl);
  if (!life) return std::move(life).error().under("--ttl");
  const auto made =
      TRY(native::make_user_token(place.state(), {.user = options.name, .life = *life}));
  std::printf("drover login --to %s --token %s\n", made.controller.c_str(), made.token.c_str());
  std::fprintf(
      stderr, "To be run on the other machine, once, before %s. Whoever runs it acts as %s.\n",
      tls::time_text(made.until).c_str(), options.name.empty() ? "you" : options.name.c_str());
  return Done{};
}

Status print_list(const UserOptions& options) {
  const Place place = TRY(place_of_running(options.state));
  native::MemberList list = TRY(native::list_users(place.state()));
  std::ranges::sort(list.members, [](const native::Member& a, const native::Member& b) {
    return std::tie(a.name, a.from) < std::tie(b.name, b.from);
  });
  std::printf("%-16s %-32s %-20s  %-20s  %s\n", "USER", "CERTIFICATE", "SINCE", "UNTIL", "STATE");
  for (const native::Member& member : list.members) {
    std::printf("%-16s %-32s %s  %s  %s\n", member.name.c_str(), member.serial.c_str(),
                tls::time_text(member.from).c_str(), tls::time_text(member.until).c_str(),
                member.revoked ? "revoked" : "valid");
  }
  return Done{};
}

}  // namespace

int login(const LoginOptions& options) { return told(make_login(options)); }
int logout(const LoginOptions& options) { return told(forget_login(options)); }
int user_token(const UserOptions& options) { return told(print_token(options)); }
int user_list(const UserOptions& options) { return told(print_list(options)); }

int user_revoke(const UserOptions& options) {
  const auto place = place_of_running(options.state);
  return told(place ? native::revoke_user(place->state(), options.name) : Status(place.error()));
}

}  // namespace drover::cli
