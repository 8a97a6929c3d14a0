// A command's or a container's input and output, between a client and a node: who is slow holds up
// the other, and the end of either ends both. The kinds of client differ in how they frame it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kube/stream/limits.h"
#include "kube/stream/node_stream.h"
#include "kube/stream/query.h"
#include "wire/http_server.h"

namespace drover::kube {

// The client's end. On the lane's thread.
class Console {
 public:
  virtual ~Console() = default;
  virtual void output(bool error, std::string_view bytes) = 0;
  // The last words; then the client is left.
  virtual void finish(const PodStreamEnded& ended) = 0;
  [[nodiscard]] virtual std::size_t waiting() const = 0;
  // While held, no more input is taken from the client.
  virtual void hold(bool hold) = 0;
};

// Joins both ends. The client's handlers own it; it ends the node's stream when they go.
class Junction {
 public:
  Junction(std::shared_ptr<NodeStream> node, StreamGate::Pass pass)
      : leash_(std::move(node)), pass_(std::move(pass)) {}

  void join(Console* console) { console_ = console; }
  void pause() { leash_.node->hold(true); }
  // The client is ready: the node may speak.
  void start() { leash_.node->hold(false); }
  void input(std::string_view bytes);
  void end_input() { leash_.node->end_input(); }
  void resize(const PodResize& size) { leash_.node->resize(size); }
  void client_drained() { leash_.node->hold(false); }

  // What the node says.
  void output(const PodOutput& output);
  void ended(const PodStreamEnded& ended) { console_->finish(ended); }
  void node_drained();

 private:
  NodeLeash leash_;
  const StreamGate::Pass pass_;
  Console* console_ = nullptr;  // ours is among what it owns
  bool held_ = false;
};

// How a client is served once the node has agreed; both answer the request.
struct CommandAsk {
  CommandQuery query;
  bool attach = false;   // and not a command
  std::string protocol;  // "v5.channel.k8s.io"
};
void serve_channels(const wire::Responder& responder, const CommandAsk& ask,
                    std::shared_ptr<Junction> junction);
void serve_spdy_command(const wire::Responder& responder, const CommandAsk& ask,
                        std::shared_ptr<Junction> junction);

}  // namespace drover::kube
