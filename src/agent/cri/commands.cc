#include "agent/cri/commands.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "agent/cri/attach.h"
#include "os/file.h"
#include "os/random.h"

namespace drover::agent::cri {
namespace {

std::string random_name() {
  std::string name;
  for (const char byte : random_bytes(16)) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    name += text;
  }
  return name;
}

// A command's ends as containerd takes them: files with names.
class Fifos {
 public:
  static Result<Fifos> make(const std::string& folder, const PodAttach& wish) {
    Fifos fifos(folder);
    TRY(make_folders(folder, 0700));
    if (wish.input) fifos.in = TRY(fifos.add("in", O_RDWR));  // so that it waits for nobody
    fifos.out = TRY(fifos.add("out", O_RDONLY));
    if (!wish.terminal) fifos.err = TRY(fifos.add("err", O_RDONLY));
    return fifos;
  }
  Fifos(Fifos&& other) noexcept
      : in(std::move(other.in)), out(std::move(other.out)), err(std::move(other.err)),
        folder_(std::exchange(other.folder_, {})) {}
  Fifos& operator=(Fifos&&) = delete;
  ~Fifos() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] Client::Ends names() const {
    const auto name = [&](const Fd& end, const char* what) { return end ? folder_ + "/" + what : std::string{}; };
    return {.in = name(in, "in"), .out = name(out, "out"), .err = name(err, "err")};
  }

  Fd in, out, err;

 private:
  explicit Fifos(std::string folder) : folder_(std::move(folder)) {}
  Result<Fd> add(const std::string& name, int flags) {
    const std::string path = folder_ + "/" + name;
    if (::mkfifo(path.c_str(), 0600) != 0) return system_error(errno, path);
    return open_file(path, flags | O_NONBLOCK);
  }
  std::string folder_;
};

}  // namespace

void CriCommands::exec(const PodTarget& target, const PodAttach& wish, Conversation& with) {
  const Client::Process process{.container = target.id, .id = random_name()};
  auto fifos = Fifos::make(folder_ + "/" + process.id, wish);
  const Status begun = fifos ? client_->exec_process(process, wish.command, wish.terminal, fifos->names())
                             : Status(fifos.error());
  if (!with.send(PodAttached{})) {
    if (begun) client_->kill_process(process);
    return;
  }
  if (!begun) {
    with.end({.exit = {.code = 126}, .failure = begun.error().message});
    return;
  }
  const bool whole = with.carry({.in = fifos->in.get(), .out = fifos->out.get(), .err = fifos->err.get()},
                                {.resize = [&](auto rows, auto columns) {
                                   client_->resize_process(process, rows, columns);
                                 },
                                 .input_ended = [&] {
                                   fifos->in.reset();
                                   client_->close_input(process);
                                 }});
  if (!whole) client_->kill_process(process);
  const auto code = client_->wait_process(process);
  client_->forget_process(process);
  if (code) with.end({.exit = {.code = static_cast<std::int32_t>(*code)}});
  else with.end({.exit = {.code = 1}, .failure = code.error().message});
}

void CriCommands::attach(const PodTarget& target, const PodAttach& wish, Conversation& with) {
  const auto url = client_->attach_url(target.id, wish.input && target.input, target.terminal);
  auto stream = url ? AttachStream::connect(*url) : Result<AttachStream>(url.error());
  if (!stream) {
    with.send(PodAttached{.error = stream.error().message});
    return;
  }
  if (!with.send(PodAttached{})) return;
  stream->carry(with);
  with.end({});
}

}  // namespace drover::agent::cri
