// A command's streams as streams of a SPDY connection: each names its type as it is opened.
#include <array>

#include "kube/json/print.h"
#include "kube/spdy/session.h"
#include "kube/stream/channels.h"
#include "kube/stream/console.h"
#include "kube/stream/refusal.h"

namespace drover::kube {
namespace {

enum Role : std::size_t { kInput, kOutput, kErrors, kStatus, kResize, kRoles };
constexpr std::array<std::string_view, kRoles> kTypes{"stdin", "stdout", "stderr", "error",
                                                      "resize"};

class SpdyConsole : public Console {
 public:
  SpdyConsole(CommandAsk ask, std::shared_ptr<Junction> junction)
      : ask_(std::move(ask)),
        junction_(std::move(junction)),
        spdy_(
            kRoles,
            {.opened = [this](std::uint32_t id,
                              const SpdyHeaders& headers) { return opened(id, headers); },
             .data = [this](std::uint32_t id, std::string_view bytes) { data(id, bytes); },
             .fin =
                 [this](std::uint32_t id) {
                   if (id == ids_[kInput]) junction_->end_input();
                 },
             .reset =
                 [this](std::uint32_t id) {
                   if (id == ids_[kInput]) junction_->end_input();
                 },
             .send = [this](std::string bytes) { client_->send(wire::bytes(std::move(bytes))); }}) {
    junction_->join(this);
  }

  void open(const wire::ByteStreamPtr& client) { client_ = client; }
  void take(std::string_view bytes) {
    heard_ = 0;
    if (!spdy_.feed(bytes)) return client_->close();
    if (connected_ || !complete()) return;
    connected_ = true;
    junction_->start();
  }
  void drained() { junction_->client_drained(); }
  void tick() {
    ++heard_;
    if (!connected_ && ++waited_ >= kCreateTicks) return client_->close();
    if (heard_ >= kDeadTicks && client_->waiting() == 0) return client_->close();
    spdy_.ping();
  }

  void output(bool error, std::string_view bytes) override {
    if (const std::uint32_t id = ids_[error ? kErrors : kOutput]; id != 0) spdy_.data(id, bytes);
  }
  void finish(const PodStreamEnded& ended) override {
    const Value end = ask_.attach ? end_of_attach(ended) : end_of_command(ended);
    const bool structured = ask_.protocol.starts_with("v4.");
    if (structured)
      spdy_.data(ids_[kStatus], print(end));
    else if (text_at(end, "status") != "Success")
      spdy_.data(ids_[kStatus], text_at(end, "message"));
    for (const Role role : {kOutput, kErrors, kStatus, kInput, kResize}) spdy_.fin(ids_[role]);
    spdy_.go_away();
    client_->close();
  }
  [[nodiscard]] std::size_t waiting() const override { return client_->waiting(); }
  void hold(bool hold) override { client_->hold(hold); }

 private:
  Status opened(std::uint32_t id, const SpdyHeaders& headers) {
    const std::string_view type = find(headers, "streamtype");
    for (std::size_t role = 0; role < kRoles; ++role) {
      if (kTypes[role] != type) continue;
      if (ids_[role] != 0) return Error{Errc::conflict, "there is one already"};
      ids_[role] = id;
      return Done{};
    }
    return Error{Errc::invalid, "unknown type"};
  }
  void data(std::uint32_t id, std::string_view bytes) {
    if (id == ids_[kInput]) return junction_->input(bytes);
    if (id != ids_[kResize]) return;
    const auto sizes = resizes_.feed(bytes);
    if (!sizes) return spdy_.reset(id, SpdyCode::protocol_error);
    for (const PodResize& size : *sizes) junction_->resize(size);
  }
  [[nodiscard]] bool complete() const {
    const CommandQuery& query = ask_.query;
    const bool resizes =
        query.terminal && (ask_.protocol.starts_with("v4.") || ask_.protocol.starts_with("v3."));
    return ids_[kStatus] != 0 && (!query.input || ids_[kInput] != 0) &&
           (!query.output || ids_[kOutput] != 0) && (!query.errors || ids_[kErrors] != 0) &&
           (!resizes || ids_[kResize] != 0);
  }
  const CommandAsk ask_;
  const std::shared_ptr<Junction> junction_;
  SpdySession spdy_;
  wire::ByteStreamPtr client_;
  std::array<std::uint32_t, kRoles> ids_{};  // 0: not there
  ResizeReader resizes_;
  bool connected_ = false;
  int heard_ = 0;   // ticks since the last byte
  int waited_ = 0;  // ticks for the streams
};

}  // namespace

void serve_spdy_command(const wire::Responder& responder, const CommandAsk& ask,
                        std::shared_ptr<Junction> junction) {
  const auto console = std::make_shared<SpdyConsole>(ask, std::move(junction));
  wire::Headers headers;
  if (!ask.protocol.empty()) headers.push_back({"X-Stream-Protocol-Version", ask.protocol});
  responder.switch_protocols(
      {.protocol = "SPDY/3.1",
       .headers = headers,
       .limits = kClientLimits,
       .handlers = {.on_open = [console](const wire::ByteStreamPtr& s) { console->open(s); },
                    .on_bytes = [console](std::string_view bytes) { console->take(bytes); },
                    .on_drained = [console] { console->drained(); },
                    .on_tick = [console] { console->tick(); },
                    .on_close = [console](const std::string&) {}}});
}

}  // namespace drover::kube
