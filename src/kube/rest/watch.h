// Watches: each is told of changes in order, at its own pace, by one thread. A frame is encoded once for
// all who watch the same resource in the same form. Whoever is too slow is cut, never waited for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "kube/rest/filter.h"
#include "kube/rest/render.h"
#include "kube/store/store.h"
#include "wire/http_server.h"

namespace drover::kube {

struct WatchAsk {
  const Resource* resource = nullptr;
  Filter filter;
  Form form = Form::object;
  Include include = Include::metadata;
  std::optional<std::uint64_t> version;  // none: begin with everything that is there
  bool bookmarks = false;
  bool end_of_start = false;  // say where the initial objects end (sendInitialEvents)
  Duration timeout{0};
};

class Watches {
 public:
  // `follow`: told when somebody begins (1) or ends (-1) to watch the pods of Slurm's jobs.
  Watches(Store& store, std::function<void(int)> follow);
  ~Watches();
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  // Answers the request. A version that is too old is said in the stream: an ERROR frame with a 410.
  void begin(WatchAsk ask, const wire::Responder& responder);
  void stop();
  [[nodiscard]] std::size_t count() const;

 private:
  struct Watcher {
    WatchAsk ask;
    std::string table;  // of the store
    Cursor cursor;
    std::uint64_t version = 0;  // of what it was told last
    wire::Stream stream;
    Duration until{0};  // since boot
    Duration bookmark_at{0};
    std::uint64_t bookmarked = 0;
  };
  // Frames of one change: by kind of event, form and what a row includes.
  struct Key {
    const Change* change = nullptr;
    int kind = 0;
    Form form = Form::object;
    Include include = Include::metadata;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  using Frames = std::map<Key, wire::Bytes>;

  void run();
  void leave(const Watcher& watcher);
  // False: it is over.
  bool serve(Watcher& watcher, Frames& frames, Duration now);
  bool tell(Watcher& watcher, const ChangePtr& change, Frames& frames);
  bool mark(Watcher& watcher, Duration now);

  static constexpr Duration kBookmarkEvery = seconds(55);
  static constexpr std::size_t kAtOnce = 1000;  // changes for one watcher, before the next one has his turn

  Store& store_;
  const std::function<void(int)> follow_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;
  bool stopping_ = false;
  std::vector<std::unique_ptr<Watcher>> arriving_;
  std::atomic<std::size_t> count_{0};
  std::list<std::unique_ptr<Watcher>> watchers_;  // of the thread alone
  std::thread thread_;
};

}  // namespace drover::kube
