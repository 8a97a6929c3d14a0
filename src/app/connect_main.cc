// drover-connect: the TLS side of a person's login, started by his commands, one for each
// connection (docs/adr/0038).
//   drover-connect FOLDER api      standard input is a socket that speaks HTTP after one line
//   (native/login.h)
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/proto.h"
#include "base/text.h"
#include "member/conduit.h"
#include "member/login.h"
#include "member/speech.h"
#include "native/login.h"
#include "native/messages.h"
#include "native/rows.h"
#include "os/clock.h"
#include "relay/attach.h"
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

// The first that a client of a step says: what he wants.
Result<StepAttach> read_wish(const Fd& plain) {
  std::string bytes;
  for (;;) {
    std::array<char, 4096> piece{};
    pollfd watched{plain.get(), POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(kPatience.count())) <= 0) break;
    const ssize_t n = ::recv(plain.get(), piece.data(), piece.size(), 0);
    if (n <= 0) break;
    bytes.append(piece.data(), static_cast<std::size_t>(n));
    if (auto wish = TRY(relay::parse_attach(bytes))) return *std::move(wish);
  }
  return Error{Errc::unavailable, "nothing was asked"};
}

// A stream to a step at the controller; `early`: what has come of it already.
Result<tls::Channel> open_stream(const StepAttach& wish, const member::Login& login,
                                 std::string& early) {
  tls::Channel channel = TRY(connect(login));
  const Duration end = since_boot() + kPatience;
  const std::string upgrade =
      "Connection: Upgrade\r\nUpgrade: " + std::string(native::kStreamProtocol) + "\r\n";
  TRY(member::say(channel, member::post_text(native::kStreamTarget, encode(wish), upgrade), end));
  auto answer = TRY(member::hear(channel, end));
  early = std::move(answer.rest);
  if (answer.status == 101) return channel;
  if (const auto body = decode<native::AnswerBody>(answer.body); body && body->error) {
    return Error{native::errc_from_word(body->error->code), body->error->message};
  }
  return Error{Errc::unavailable, "the controller answered " + std::to_string(answer.status)};
}

int serve_stream(const Fd& plain, const std::string& folder) {
  const auto wish = read_wish(plain);
  if (!wish) return 1;
  const auto login = member::open_login(folder);
  std::string early;
  auto channel = login ? open_stream(*wish, *login, early) : Result<tls::Channel>(login.error());
  if (!channel) {
    say(plain, relay::relay_failed(channel.error()));
    return 1;
  }
  say(plain, early);
  static_cast<void>(
      member::carry(plain, *channel));  // a client of a step sees that it broke, and tries again
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[2] : "";
  if (what != "api" && what != "stream") {
    std::fputs(
        "drover-connect is started by other commands of drover's; see `drover login --help`\n",
        stderr);
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  const Fd plain(STDIN_FILENO);
  return what == "api" ? serve_api(plain, argv[1]) : serve_stream(plain, argv[1]);
}
