// A person's way to a controller elsewhere: a folder with a login in it, which is a state folder to
// his commands. TLS is the business of a program of its own, `drover-connect`, so that no command
// carries OpenSSL along (docs/adr/0038); what is spoken to it is what is spoken to a socket.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"

namespace drover::native {

// The file: key and certificates, behind lines "controller: HOST:PORT" and "user: UID:NAME"; its
// owner's alone.
[[nodiscard]] inline std::string login_in(const std::string& folder) { return folder + "/login"; }
[[nodiscard]] bool is_login(const std::string& folder);

// As whom; nothing without a login that this user may read.
struct LoggedIn {
  std::uint32_t uid = 0;
  std::string user;
};
[[nodiscard]] std::optional<LoggedIn> logged_in(const std::string& folder);

// A connection to the controller that takes HTTP. Denied: with this login there is none.
[[nodiscard]] Result<Fd> dial_api(const std::string& folder, Duration patience);
// One that takes a StepAttach, as a node's `stream` socket does. Never waits: why there is none is
// said on it.
[[nodiscard]] Result<Fd> dial_stream(const std::string& folder);

// How a stream to a step begins at the controller: a StepAttach is posted there, a 101 answers, and what follows is as
// on a node's socket.
inline constexpr std::string_view kStreamTarget = "/v1/stream";
inline constexpr std::string_view kStreamProtocol = "drover-step";

// The first line of drover-connect to a caller of its API: kReady, or a word of an error and its
// text.
inline constexpr std::string_view kReady = "ready";
inline constexpr std::size_t kLongestWord = 4096;

}  // namespace drover::native
