// drover-connect: the TLS side of a person's login, started by his commands, one for each
// connection (docs/adr/0038).
//   drover-connect FOLDER api      standard input is a socket that speaks HTTP after one line
//   (native/login.h)
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "base/proto.h"
#include "base/text.h"
#include "member/conduit.h"
#include "member/login.h"
#include "native/login.h"
#include "native/messages.h"
#include "native/rows.h"
#include "os/clock.h"
#include "relay/dial.h"
#include "tls/channel.h"

namespace {

using namespace drover;  // NOLINT(google-build-using-namespace): an application file, included
                         // nowhere

constexpr std::chrono::milliseconds kPatience{10'000};

void say(const Fd& to, std::string_view text) {
  [[maybe_unused]] const auto sent = ::send(to.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

Result<tls::Channel> connect(const member::Login& login) {
  TRY(login.check(wall_now()));
  const auto context = TRY(tls::Context::make(tls::Context::Side::client, login.credentials,
                                              {.cluster = login.info.identity.cluster}));
  Fd fd = TRY(wire::connect_to(login.controller, kPatience));
  relay::keep_alive(fd.get());
  tls::Channel channel(*context, std::move(fd), tls::expect_controller());
  TRY(channel.handshake_within(kPatience));
  return channel;
}

// An answer to the question that came to nothing: the controller looks at our certificate after we
// look at its.
std::string http_answer(const Error& error) {
  native::AnswerBody body;
  body.error = native::ErrorBody{std::string(native::errc_word(error.code)), error.message};
  const std::string bytes = encode(body);
  return "HTTP/1.1 " +
         std::string(error.code == Errc::denied ? "403 Forbidden" : "503 Service Unavailable") +
         "\r\nContent-Type: " + std::string(native::kProtoType) +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" +
         bytes;
}

int serve_api(const Fd& plain, const std::string& folder) {
  const auto login = member::open_login(folder);
  auto channel = login ? connect(*login) : Result<tls::Channel>(login.error());
  if (!channel) {
    const std::string word(native::errc_word(channel.error().code));
    say(plain, word + " " + printable(channel.error().message, native::kLongestWord / 2) + "\n");
    return 1;
  }
  say(plain, std::string(native::kReady) + "\n");
  const Status carried = member::carry(plain, *channel);
  if (carried) return 0;
  say(plain,
      http_answer(Error{carried.error()}.under("your login to " + login->controller.text())));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[2] : "";
  if (what != "api") {
    std::fputs(
        "drover-connect is started by other commands of drover's; see `drover login --help`\n",
        stderr);
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  return serve_api(Fd(STDIN_FILENO), argv[1]);
}
