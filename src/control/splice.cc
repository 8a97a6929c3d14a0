#include "control/splice.h"

#include <memory>
#include <utility>

namespace drover::control {
namespace {

constexpr std::size_t kMost = std::size_t{256} << 10U;  // on its way each way

// On the connection's lane, as all that follows.
struct Joint {
  wire::ByteStreamPtr caller;  // null before it is open and after it is closed
  wire::ByteStreamPtr socket;
};
using JointPtr = std::shared_ptr<Joint>;
using End = wire::ByteStreamPtr Joint::*;

// Closes the socket when the caller's handlers go, also when he left before he was switched over.
struct Leash {
  explicit Leash(JointPtr of) : joint(std::move(of)) {}
  Leash(const Leash&) = delete;
  Leash& operator=(const Leash&) = delete;
  ~Leash() {
    if (const auto socket = joint->socket) socket->close();
  }
  const JointPtr joint;
};

wire::ByteHandlers handlers_of(const JointPtr& joint, End mine, End other) {
  return {.on_open = [joint, mine](const wire::ByteStreamPtr& stream) { (*joint).*mine = stream; },
          .on_bytes =
              [joint, mine, other](std::string_view bytes) {
                const auto to = (*joint).*other;
                if (!to) return;
                to->send(wire::bytes(std::string(bytes)));
                if (const auto from = (*joint).*mine; from && to->waiting() > kMost)
                  from->hold(true);
              },
          .on_drained =
              [joint, other] {
                if (const auto from = (*joint).*other) from->hold(false);
              },
          .on_tick = nullptr,
          .on_close =
              [joint, mine, other](const std::string&) {
                (*joint).*mine = nullptr;
                if (const auto to = std::exchange((*joint).*other, nullptr)) to->close();
              }};
}

void begin(const wire::Responder& responder, std::string protocol, Fd socket) {
  const auto joint = std::make_shared<Joint>();
  if (!responder.lane().open(std::move(socket), {},
                             handlers_of(joint, &Joint::socket, &Joint::caller)))
    return;
  if (joint->socket) joint->socket->hold(true);  // until there is somebody to hear it
  wire::ByteHandlers caller = handlers_of(joint, &Joint::caller, &Joint::socket);
  caller.on_open = [joint,
                    leash = std::make_shared<Leash>(joint)](const wire::ByteStreamPtr& stream) {
    joint->caller = stream;
    if (joint->socket) {
      joint->socket->hold(false);
    } else {
      stream->close();
    }
  };
  responder.switch_protocols({.protocol = std::move(protocol),
                              .headers = {},
                              .limits = {},
                              .handlers = std::move(caller)});
}

}  // namespace

void splice(const wire::Responder& responder, std::string protocol, Fd socket) {
  const auto fd = std::make_shared<Fd>(std::move(socket));
  responder.lane().post([responder, protocol = std::move(protocol), fd] {
    begin(responder, protocol, std::move(*fd));
  });
}

}  // namespace drover::control
