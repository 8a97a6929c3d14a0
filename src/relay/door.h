// Where streams from other machines come in: mutual TLS for nodes and the controller of this
// cluster, and one frame that says what kind of stream it is (opening.h). Who serves that kind
// takes the connection.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"
#include "relay/opening.h"
#include "relay/pump.h"
#include "tls/channel.h"
#include "tls/context.h"
#include "wire/socket.h"

namespace drover::relay {

// Somebody with a certificate and a wish.
struct Arrival {
  tls::Identity who;  // a node or the controller
  Opening opening;
  tls::Channel channel;
  std::string rest;  // what came behind the opening already

  // For whom it asks: what the controller says counts, what a node says doesn't.
  [[nodiscard]] std::uint32_t uid() const {
    return who.kind == tls::Identity::Kind::controller ? opening.uid : kNobody;
  }
};

// Says yes: `plain`'s bytes go to and fro from now on, after `first` from here.
void join(Pump& pump, Arrival arrival, Fd plain, const std::string& first);
// Says no in the stream's own words: the opening was all right.
void answer(Pump& pump, Arrival arrival, const std::string& last);
// Says no.
void refuse(Pump& pump, Arrival arrival, const Opened& why);

struct DoorOptions {
  wire::Endpoint at;                            // port 0: any that is free
  std::shared_ptr<tls::Context> context;        // a server's
  std::function<void(const std::string&)> say;  // of those who aren't let in, on the door's thread
};

class Door {
 public:
  // On the door's thread; must not wait.
  using Take = std::function<void(Arrival)>;

  [[nodiscard]] static Result<std::unique_ptr<Door>> open(DoorOptions options, Pump& pump);
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  [[nodiscard]] std::uint16_t port() const { return wire::local_port(listening_.get()); }
  // From any thread. Null: that kind is served no more, and the last call of its Take is over.
  void serve(std::string_view kind, Take take);

 private:
  struct Guest {
    tls::Channel channel;
    std::string address;
    Duration until;
    bool proven = false;
    std::string bytes;
    tls::Channel::Step waits = tls::Channel::Step::wants_read;
    bool gone = false;
  };
  Door(DoorOptions options, Pump& pump, Fd listening, Fd stop);
  void run();
  void admit(Duration now);
  void turn(Guest& guest);
  void dispatch(Guest& guest, std::size_t length, const Opening& opening);
  void turn_away(Guest& guest, const std::string& why);

  const DoorOptions options_;
  Pump& pump_;
  Fd listening_;
  Fd stop_;
  std::list<Guest> guests_;  // the thread's own; the oldest first
  Duration said_{0};         // when a word was last lost on somebody who wasn't let in
  std::mutex mutex_;
  std::map<std::string, Take, std::less<>> takes_;
  std::thread thread_;
};

}  // namespace drover::relay
