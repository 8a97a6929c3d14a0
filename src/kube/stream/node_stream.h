// The node's end of a pod's stream: frames of domain/pod_stream.h on a connection to its agent. On
// its lane's thread; holds itself until it has ended.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "domain/pod_stream.h"
#include "wire/byte_stream.h"

namespace drover::kube {

class NodeStream : public std::enable_shared_from_this<NodeStream> {
 public:
  struct Ears {
    std::function<void(const PodAttached&)> attached;  // without an error: it may be said and heard
    std::function<void(const PodOutput&)> output;
    std::function<void(const PodStreamEnded&)> ended;  // once and last, however it ended
    std::function<void()> drained;                     // little waits for the node any more
  };
  // `node` is connected, and has been asked; `idle`: whether 4 hours without a byte end it.
  static std::shared_ptr<NodeStream> open(const wire::Lane& lane, Fd node, bool idle, Ears ears);

  // What is said before the node has answered is kept until then.
  void input(std::string_view bytes);
  void end_input();
  void resize(const PodResize& size);
  [[nodiscard]] std::size_t waiting() const;
  void hold(bool hold);
  // Nothing is heard any more.
  void close();

 private:
  NodeStream(bool idle, Ears ears)
      : idle_(idle), ears_(std::make_shared<const Ears>(std::move(ears))) {}
  void say(const PodUp& up);
  void take();
  [[nodiscard]] bool take_message(std::string_view message);
  void tick();
  void end(const PodStreamEnded& ended);

  const bool idle_;
  std::shared_ptr<const Ears> ears_;  // null: nobody listens any more
  wire::ByteStreamPtr stream_;
  std::string partial_;
  std::string early_;  // frames for a node that hasn't answered yet
  bool attached_ = false;
  bool over_ = false;
  bool held_ = false;
  bool taking_ = false;
  bool lost_ = false;  // there is no connection any more, but perhaps something in `partial_`
  int ticks_ = 0;      // since the last byte
};

// Ends a node's stream when it goes: for whoever holds the client's end.
struct NodeLeash {
  std::shared_ptr<NodeStream> node;
  explicit NodeLeash(std::shared_ptr<NodeStream> of) : node(std::move(of)) {}
  NodeLeash(const NodeLeash&) = delete;
  NodeLeash& operator=(const NodeLeash&) = delete;
  ~NodeLeash() { node->close(); }
};

}  // namespace drover::kube
