#include "slurm/script/signal.h"

#include <array>
#include <csignal>
#include <cstring>

#include "base/text.h"

namespace drover::slurm {
namespace {

struct Named {
  std::string_view name;
  int number;
};
constexpr std::array kSignals{
    Named{"HUP", SIGHUP},       Named{"INT", SIGINT},   Named{"QUIT", SIGQUIT},   Named{"ILL", SIGILL},
    Named{"TRAP", SIGTRAP},     Named{"ABRT", SIGABRT}, Named{"BUS", SIGBUS},     Named{"FPE", SIGFPE},
    Named{"KILL", SIGKILL},     Named{"USR1", SIGUSR1}, Named{"SEGV", SIGSEGV},   Named{"USR2", SIGUSR2},
    Named{"PIPE", SIGPIPE},     Named{"ALRM", SIGALRM}, Named{"TERM", SIGTERM},   Named{"CHLD", SIGCHLD},
    Named{"CONT", SIGCONT},     Named{"STOP", SIGSTOP}, Named{"TSTP", SIGTSTP},   Named{"TTIN", SIGTTIN},
    Named{"TTOU", SIGTTOU},     Named{"URG", SIGURG},   Named{"XCPU", SIGXCPU},   Named{"XFSZ", SIGXFSZ},
    Named{"VTALRM", SIGVTALRM}, Named{"PROF", SIGPROF}, Named{"WINCH", SIGWINCH}, Named{"IO", SIGIO},
    Named{"PWR", SIGPWR},       Named{"SYS", SIGSYS}};
constexpr std::uint64_t kLast = 64;
constexpr std::uint64_t kLongest = 65535;

}  // namespace

std::optional<int> signal_number(std::string_view text) {
  if (const auto number = parse_uint(text)) {
    if (*number == 0 || *number > kLast) return std::nullopt;
    return static_cast<int>(*number);
  }
  if (text.size() > 3 && iequals(text.substr(0, 3), "SIG")) text.remove_prefix(3);
  for (const Named& signal : kSignals) {
    if (iequals(signal.name, text)) return signal.number;
  }
  return std::nullopt;
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? "" : name;
}

std::string signal_title(int number) {
  const char* title = sigdescr_np(number);
  return title == nullptr ? "Unknown signal " + std::to_string(number) : title;
}

Result<SignalSpec> parse_signal(std::string_view text) {
  SignalSpec spec;
  const Error malformed{Errc::invalid,
                        "'" + printable(text) + "' is not [R][B:]SIGNAL[@SECONDS], for example B:USR1@90"};
  std::string_view rest = text;
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    if (colon == 0) return malformed;
    for (const char c : rest.substr(0, colon)) {
      if (c == 'B' || c == 'b') {
        spec.batch_shell_only = true;
      } else if (c == 'R' || c == 'r') {
        spec.with_reservation = true;
      } else {
        return malformed;
      }
    }
    rest.remove_prefix(colon + 1);
  }
  const std::size_t at = rest.find('@');
  const auto number = signal_number(rest.substr(0, at));
  if (!number) return malformed;
  spec.number = *number;
  if (at != std::string_view::npos) {
    const auto time = parse_uint(rest.substr(at + 1));
    if (!time || *time > kLongest) return malformed;
    spec.before_end_s = static_cast<std::int32_t>(*time);
  }
  return spec;
}

}  // namespace drover::slurm
