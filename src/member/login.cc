#include "member/login.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/proto.h"
#include "base/text.h"
#include "member/controller.h"
#include "native/login.h"
#include "native/membership.h"
#include "os/file.h"

namespace drover::member {
namespace {

constexpr std::string_view kController = "controller: ";

Result<Login> make(const wire::Endpoint& controller, tls::Credentials credentials) {
  tls::CertificateInfo info = TRY(tls::read_certificate(credentials.certificate));
  if (info.identity.kind != tls::Identity::Kind::user) {
    return Error{Errc::invalid, "it is of " + info.identity.text() + ", no person's"};
  }
  return Login{
      .controller = controller, .credentials = std::move(credentials), .info = std::move(info)};
}

Status check_owner(const std::string& file) {
  struct stat info {};
  if (::lstat(file.c_str(), &info) != 0) return system_error(errno, file);
  if (S_ISREG(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & 077U) == 0)
    return Done{};
  return Error{Errc::denied, file + ": it must be yours and yours alone (chmod 600)"};
}

}  // namespace

Status Login::check(Instant now) const {
  const Status good = tls::check_time(info, now);
  if (good) return good;
  return Error{Errc::denied,
               "your login to " + controller.text() + " can't be used: " + good.error().message +
                   "; to log in again, run `drover user token` on the controller's machine"};
}

Result<Login> log_in(const wire::Endpoint& controller, const std::string& token,
                     const std::string& folder) {
  auto parsed = parse_token(token);
  if (!parsed) return std::move(parsed).error().under("--token");
  const auto ask = [&](const std::string& request) {
    return encode(native::LoginAsk{.secret = parsed->secret, .request = request});
  };
  TRY(make_folders(folder, 0700));
  auto redeemed = redeem(controller, parsed->fingerprint, "/v1/login", ask);
  if (!redeemed) return std::move(redeemed).error().under("the controller refuses the login");
  Login login = TRY(make(controller, *std::move(redeemed)));
  const std::string head = std::string(kController) + controller.text() +
                           "\nuser: " + std::to_string(login.info.identity.uid) + ":" +
                           login.info.identity.name + "\n";
  TRY(write_file_durably(native::login_in(folder), head + tls::to_text(login.credentials), 0600));
  return login;
}

Result<Login> open_login(const std::string& folder) {
  const std::string file = native::login_in(folder);
  TRY(check_owner(file));
  const std::string text = TRY(read_file(file));
  auto credentials = tls::parse_credentials(text);
  if (!credentials) return std::move(credentials).error().under(file);
  if (!text.starts_with(kController))
    return Error{Errc::invalid, file + ": it names no controller"};
  const auto to = wire::Endpoint::parse(trim(
      std::string_view(text).substr(kController.size(), text.find('\n') - kController.size())));
  if (!to) return Error{to.error()}.under(file);
  auto login = make(*to, *std::move(credentials));
  if (!login) return std::move(login).error().under(file);
  return login;
}

}  // namespace drover::member
