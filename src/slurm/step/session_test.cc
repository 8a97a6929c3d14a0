// A session against a node of the tests' own: a process that listens and speaks the step's stream.
#include "slurm/step/session.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/proto.h"
#include "os/temp_folder.h"

namespace drover::slurm {
namespace {

using testing::HasSubstr;

// The node's side, blocking, in a process of its own.
class Node {
 public:
  explicit Node(int listening) : listening_(listening) {}
  // Takes a connection, and answers it; with `hand_over` by a descriptor of another one.
  StepAttach admit(bool hand_over = false, const std::string& refusal = "") {
    socket_ = Fd(::accept(listening_, nullptr, nullptr));
    std::string bytes;
    std::string_view rest;
    bool whole = false;
    StepAttach attach;
    while (!whole) {
      char buffer[4096];
      const ssize_t size = ::read(socket_.get(), buffer, sizeof buffer);
      if (size <= 0) ::_exit(3);
      bytes.append(buffer, static_cast<std::size_t>(size));
      rest = bytes;
      attach = decode<StepAttach>(take_frame(rest, whole).value()).value();
    }
    const std::string answer = frame(encode(StepAttached{.error = refusal, .received = stream_.received()}));
    if (hand_over) {
      give_descriptor(answer);
    } else if (::write(socket_.get(), answer.data(), answer.size()) < 0) {
      ::_exit(4);
    }
    if (!stream_.connected(attach.received)) ::_exit(5);
    return attach;
  }
  void say(const StepDown& message) {
    stream_.send(encode(message));
    write_all();
  }
  // The next message of the client.
  StepUp hear() {
    while (heard_.empty()) {
      char buffer[4096];
      const ssize_t size = ::read(socket_.get(), buffer, sizeof buffer);
      if (size <= 0) ::_exit(6);
      static_cast<void>(
          stream_
              .feed({buffer, static_cast<std::size_t>(size)},
                    [this](std::string_view m) { heard_.push_back(decode<StepUp>(m).value()); })
              .has_value());
      write_all();
    }
    StepUp message = heard_.front();
    heard_.erase(heard_.begin());
    return message;
  }
  void cut() {
    socket_.reset();
    stream_.lost();
  }
  void end(Cause cause = Cause::completed) {
    say(PartEnded{.cause = cause});
    while (!stream_.all_confirmed()) {
      char buffer[4096];
      const ssize_t size = ::read(socket_.get(), buffer, sizeof buffer);
      if (size <= 0) return;
      static_cast<void>(
          stream_.feed({buffer, static_cast<std::size_t>(size)}, [](std::string_view) {})
              .has_value());
    }
  }

 private:
  void write_all() {
    while (!stream_.pending().empty()) {
      const ssize_t size =
          ::write(socket_.get(), stream_.pending().data(), stream_.pending().size());
      if (size <= 0) ::_exit(7);
      stream_.wrote(static_cast<std::size_t>(size));
    }
  }
  void give_descriptor(std::string answer) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) ::_exit(8);
    iovec piece{.iov_base = answer.data(), .iov_len = answer.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &pair[1], sizeof(int));
    if (::sendmsg(socket_.get(), &message, 0) < 0) ::_exit(9);
    ::close(pair[1]);
    socket_ = Fd(pair[0]);
  }

  int listening_;
  Fd socket_;
  ResumableStream stream_;
  std::vector<StepUp> heard_;
};

class Sessions : public testing::Test {
 protected:
  TempFolder folder_;
  SessionPlan plan_{.job = JobId(17), .attempt = 1, .step = 0, .shown = "17.0", .ticket = "t"};
  std::vector<int> signals_;  // given one by one, each when the session looks
  bool together_ = false;     // or all at once
  int lasting_ = 0;           // how often the session said so
  std::string input_;
  std::string out_;
  std::string err_;

  // Runs a session with one node, n1, with `tasks` tasks, which does as `script` says.
  int run(std::uint32_t tasks, const std::function<void(Node&)>& script) {
    const std::string path = folder_.path() + "/agent";
    const Fd listening = listen_at(path);
    const pid_t node = ::fork();
    if (node == 0) {
      Node side(listening.get());
      script(side);
      ::_exit(0);
    }
    PartPlace part{.node = "n1", .tasks = {}, .path = path};
    for (std::uint32_t task = 0; task < tasks; ++task) part.tasks.push_back(task);
    plan_.parts = {part};
    Pipe in;
    Pipe out;
    Pipe err;
    Pipe bell;
    EXPECT_EQ(::write(in.write.get(), input_.data(), input_.size()),
              static_cast<ssize_t>(input_.size()));
    in.write.reset();
    if (!signals_.empty()) {
      EXPECT_EQ(::write(bell.write.get(), "x", 1), 1);
    }
    const int status = Session(plan_, {.in = in.read.get(),
                                       .out = out.write.get(),
                                       .err = err.write.get(),
                                       .say = err.write.get(),
                                       .signals = bell.read.get(),
                                       .take_signals = [&] { return next_signal(bell); },
                                       .clock = [] { return std::string("2026-11-30T18:27:42"); },
                                       .ask = [] { return std::optional<api::StepView>(); },
                                       .lasting = [this] { ++lasting_; }})
                           .run();
    out_ = rest_of(out);
    err_ = rest_of(err);
    int how = 0;
    ::waitpid(node, &how, 0);
    EXPECT_EQ(how, 0);
    ::unlink(path.c_str());
    return status;
  }

 private:
  struct Pipe {
    Fd read;
    Fd write;
    Pipe() {
      int ends[2];
      EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
      read = Fd(ends[0]);
      write = Fd(ends[1]);
    }
  };
  static std::string rest_of(Pipe& pipe) {
    pipe.write.reset();
    std::string text;
    char buffer[4096];
    for (ssize_t size = 0; (size = ::read(pipe.read.get(), buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(size));
    }
    return text;
  }
  std::vector<int> next_signal(Pipe& bell) {
    const std::size_t count = together_ ? signals_.size() : 1;
    const std::vector<int> numbers(signals_.begin(), signals_.begin() + static_cast<std::ptrdiff_t>(count));
    signals_.erase(signals_.begin(), signals_.begin() + static_cast<std::ptrdiff_t>(count));
    char c = 0;
    if (signals_.empty()) {
      EXPECT_EQ(::read(bell.read.get(), &c, 1), 1);
    }
    return numbers;
  }
  static Fd listen_at(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const void* raw = &address;
    EXPECT_EQ(::bind(fd.get(), static_cast<const sockaddr*>(raw), sizeof address), 0);
    EXPECT_EQ(::listen(fd.get(), 4), 0);
    return fd;
  }
};

TEST_F(Sessions, ShowWhatTasksSayAndHowTheyEnd) {
  plan_.label = true;
  EXPECT_EQ(run(3,
                [](Node& node) {
                  if (node.admit(true).ticket != "t") ::_exit(20);
                  node.say(StepOutput{.task = 1, .channel = StepChannel::out, .bytes = "one\n"});
                  node.say(StepOutput{.task = 0, .channel = StepChannel::err, .bytes = "oops\n"});
                  node.say(TaskEnded{.task = 0, .exit = {.code = 7}});
                  node.say(TaskEnded{.task = 1, .exit = {.code = 7}});
                  node.say(TaskEnded{.task = 2});
                  node.end();
                }),
            7);
  EXPECT_EQ(out_, "1: one\n");
  EXPECT_EQ(err_, "0: oops\nsrun: error: n1: tasks 0-1: Exited with exit code 7\n");
}

TEST_F(Sessions, OneThatLastsIsToldSoOnceAndAShortOneNever) {
  const auto last = [](useconds_t pause) {
    return [pause](Node& node) {
      node.admit(true);
      ::usleep(pause);
      node.say(TaskEnded{.task = 0});
      ::usleep(pause);
      node.end();
    };
  };
  run(1, last(1'000));
  EXPECT_EQ(lasting_, 0);
  run(1, last(1'100'000));
  EXPECT_EQ(lasting_, 1);
}

TEST_F(Sessions, ARefusalIsSaidAndIsNoSuccess) {
  EXPECT_EQ(run(1, [](Node& node) { node.admit(false, "not you"); }), 1);
  EXPECT_EQ(err_, "srun: error: n1: not you\nsrun: error: n1: task 0: lost\n");
}

TEST_F(Sessions, AKilledTaskIsSaidAsSlurmDoes) {
  EXPECT_EQ(run(1,
                [](Node& node) {
                  node.admit();
                  node.say(TaskEnded{.task = 0, .exit = {.signal = SIGKILL}});
                  node.end();
                }),
            137);
  EXPECT_EQ(err_, "srun: error: n1: task 0: Killed\nsrun: Force Terminated StepId=17.0\n");
}

TEST_F(Sessions, InputReachesTheTasks) {
  input_ = "hello";
  EXPECT_EQ(run(1,
                [](Node& node) {
                  node.admit();
                  if (std::get<StepInput>(node.hear()).bytes != "hello") ::_exit(20);
                  if (!std::get<StepInput>(node.hear()).last) ::_exit(21);
                  node.say(TaskEnded{.task = 0});
                  node.end();
                }),
            0);
}

TEST_F(Sessions, ABrokenConnectionIsTakenUpAgainWithNothingLostOrTwice) {
  EXPECT_EQ(run(1,
                [](Node& node) {
                  node.admit();
                  node.say(StepOutput{.task = 0, .channel = StepChannel::out, .bytes = "before "});
                  node.cut();
                  node.admit();
                  node.say(StepOutput{.task = 0, .channel = StepChannel::out, .bytes = "after\n"});
                  node.say(TaskEnded{.task = 0});
                  node.end();
                }),
            0);
  EXPECT_EQ(out_, "before after\n");
  EXPECT_EQ(err_, "");
}

TEST_F(Sessions, TheFirstBadExitEndsTheStepIfAsked) {
  plan_.kill_on_bad_exit = true;
  EXPECT_EQ(run(2,
                [](Node& node) {
                  node.admit();
                  node.hear();  // the end of input
                  node.say(TaskEnded{.task = 1, .exit = {.code = 3}});
                  if (!std::holds_alternative<StepEnd>(node.hear())) ::_exit(20);
                  node.say(TaskEnded{.task = 0, .exit = {.signal = SIGTERM}});
                  node.end(Cause::cancelled);
                }),
            3);
  EXPECT_EQ(err_,
            "srun: error: n1: task 1: Exited with exit code 3\n"
            "srun: Terminating StepId=17.0\n"
            "slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2026-11-30T18:27:42 ***\n"
            "srun: error: n1: task 0: Terminated\n"
            "srun: Force Terminated StepId=17.0\n");
}

TEST_F(Sessions, WaitsOnlySoLongForTheOthers) {
  plan_.wait_s = 1;
  EXPECT_EQ(run(2,
                [](Node& node) {
                  node.admit();
                  node.hear();
                  node.say(TaskStarted{.task = 1});
                  node.say(TaskEnded{.task = 0});
                  if (!std::holds_alternative<StepEnd>(node.hear())) ::_exit(20);
                  node.say(TaskEnded{.task = 1, .exit = {.signal = SIGKILL}});
                  node.end();
                }),
            137);
  EXPECT_THAT(err_, testing::StartsWith(
                        "srun: First task exited 1s ago\nsrun: StepId=17.0 task 1: running\n"
                        "srun: StepId=17.0 task 0: exited\nsrun: Terminating StepId=17.0\n"));
}

TEST_F(Sessions, AWatcherLeavesThoughAnotherSignalComesBehind) {
  plan_.as = AttachAs::watcher;
  signals_ = {SIGTERM, SIGCONT};
  together_ = true;
  EXPECT_EQ(run(1, [](Node&) {}), 0);
}

TEST_F(Sessions, InterruptsTellAndThenEnd) {
  signals_ = {SIGUSR1, SIGINT, SIGINT};
  EXPECT_EQ(run(1,
                [](Node& node) {
                  node.admit();
                  std::vector<std::uint32_t> got;
                  for (;;) {
                    const StepUp up = node.hear();
                    if (const auto* signal = std::get_if<StepSignal>(&up))
                      got.push_back(signal->signal);
                    if (std::holds_alternative<StepEnd>(up)) break;
                  }
                  if (got != std::vector<std::uint32_t>{SIGUSR1, SIGINT}) ::_exit(20);
                  node.say(TaskEnded{.task = 0, .exit = {.signal = SIGINT}});
                  node.end();
                }),
            130);
  EXPECT_THAT(err_, HasSubstr("srun: interrupt (one more within 1 sec to abort)\n"));
  EXPECT_THAT(err_, HasSubstr("srun: sending Ctrl-C to StepId=17.0\n"));
  EXPECT_THAT(err_, HasSubstr("srun: error: n1: task 0: Interrupt\n"));
}

}  // namespace
}  // namespace drover::slurm
