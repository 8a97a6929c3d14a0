// The client's side of one node's part of a step: a stream to it that is taken up again whenever
// its connection breaks. Never blocks; the owner polls.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "base/resume.h"
#include "base/time.h"
#include "domain/step_launch.h"
#include "os/fd.h"

namespace drover::slurm {

class Link {
 public:
  // `path`: the socket of an agent of this machine, which answers for hello.node or knows the way
  // there; or the folder of a login (native/login.h).
  Link(StepAttach hello, std::string path, Duration now);

  // Connects, or tries again when it is time to. Times are since boot.
  void advance(Duration now);
  [[nodiscard]] int fd() const { return socket_.get(); }  // -1 between connections
  [[nodiscard]] short events(bool want_input) const;
  // What poll saw.
  void ready(short seen, Duration now, const std::function<void(StepDown&)>& on_message);

  // Where the node is reached by now, from other machines.
  void moved(std::string address) { hello_.address = std::move(address); }

  void send(const StepUp& message);
  // More than should be on its way: hold input back.
  [[nodiscard]] bool full() const { return stream_.full(); }

  [[nodiscard]] const std::string& node() const { return hello_.node; }
  // The part has said its last, and that was confirmed.
  [[nodiscard]] bool over() const { return over_ && socket_.get() < 0; }
  // The agent won't have us, or sends what is no stream of ours: nothing more comes. "": no.
  [[nodiscard]] const std::string& refused() const { return refused_; }
  [[nodiscard]] bool finished() const { return over() || !refused_.empty(); }
  // Since when there is no connection; Duration{-1}: there is one.
  [[nodiscard]] Duration broken_since() const { return broken_since_; }
  [[nodiscard]] const std::string& why_broken() const { return why_; }
  // When advance() wants to be called next; Duration{-1}: not by itself.
  [[nodiscard]] Duration due() const {
    return socket_.get() < 0 && !finished() ? retry_at_ : Duration(-1);
  }

 private:
  void read_some(Duration now, const std::function<void(StepDown&)>& on_message);
  void write_some(Duration now);
  void greeted(Duration now, const std::function<void(StepDown&)>& on_message);
  void feed(std::string_view bytes, const std::function<void(StepDown&)>& on_message);
  void broken(std::string why, Duration now);
  void give_up(std::string why);

  StepAttach hello_;
  std::string path_;
  ResumableStream stream_;
  Fd socket_;
  Fd handed_;  // came with the answer: the part's own process
  bool greeting_ = false;
  std::string out_;  // of the greeting, yet to be written
  std::string in_;   // of the answer
  bool over_ = false;
  std::string refused_;
  std::string why_;
  Duration broken_since_;
  Duration retry_at_;
  Duration pause_;
};

}  // namespace drover::slurm
