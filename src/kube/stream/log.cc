#include "kube/stream/log.h"

#include "kube/stream/refusal.h"

namespace drover::kube {
namespace {

struct Log {
  wire::Responder responder;
  StreamGate::Pass pass;
  std::weak_ptr<NodeStream> node;
  wire::Stream stream{};

  void attached(const PodAttached& answer) {
    if (!answer.error.empty()) {
      responder.answer(answer_of(refusal_of(answer)));
      return;
    }
    stream = responder.stream(200, "text/plain");
    stream.when_gone([leave = node] { close(leave); });
  }
  void output(const PodOutput& output) {
    stream.write(wire::bytes(output.bytes));
    if (stream.waiting() <= kStreamHigh) return;
    const auto from = node.lock();
    if (from) from->hold(true);
    stream.when_drained(kStreamLow, [weak = node] {
      if (const auto held = weak.lock()) held->hold(false);
    });
  }
  void ended(const PodStreamEnded& ended) const {
    if (ended.failure.empty())
      stream.finish();
    else
      stream.abort();  // the reader sees that something is missing
  }
  static void close(const std::weak_ptr<NodeStream>& node) {
    if (const auto open = node.lock()) open->close();
  }
};

}  // namespace

void serve_log(const wire::Responder& responder, Fd node, StreamGate::Pass pass) {
  const auto log =
      std::make_shared<Log>(Log{.responder = responder, .pass = std::move(pass), .node = {}});
  const auto stream =
      NodeStream::open(responder.lane(), std::move(node), false,
                       {.attached = [log](const PodAttached& answer) { log->attached(answer); },
                        .output = [log](const PodOutput& output) { log->output(output); },
                        .ended = [log](const PodStreamEnded& ended) { log->ended(ended); },
                        .drained = nullptr});
  log->node = stream;
  responder.when_gone([weak = log->node] { Log::close(weak); });
}

}  // namespace drover::kube
