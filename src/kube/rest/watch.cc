#include "kube/rest/watch.h"

#include <algorithm>

#include "kube/json/print.h"
#include "kube/object/pod/slurm_pod.h"
#include "os/clock.h"
#include "os/random.h"

namespace drover::kube {
namespace {

constexpr std::string_view kWords[] = {"ADDED", "MODIFIED", "DELETED"};

std::string frame(std::string_view type, std::string_view object) {
  std::string text;
  text.reserve(object.size() + 32);
  text += R"({"type":")";
  text += type;
  text += R"(","object":)";
  text += object;
  text += "}\n";
  return text;
}

bool sees_slurm(const std::string& table, const Filter& filter) {
  return table == "pods" && (!filter.space || *filter.space == kSlurmSpace);
}

// Between half an hour and an hour, as an API server does when the client doesn't say.
Duration some_timeout() {
  const auto chance = static_cast<std::uint8_t>(random_bytes(1)[0]);
  return minutes(30) + minutes(30) * chance / 256;
}

// What a watcher with this filter is told of a change; nothing when it doesn't concern him.
std::optional<ChangeKind> seen_as(const Change& change, const Filter& filter) {
  if (filter.space && change.now->name.space != *filter.space) return std::nullopt;
  if (filter.everything()) return change.kind;
  const bool before = change.before && filter.wants(*change.before);
  const bool now = change.kind != ChangeKind::removed && filter.wants(*change.now);
  if (now) return before ? ChangeKind::modified : ChangeKind::added;
  return before ? std::optional(ChangeKind::removed) : std::nullopt;
}

}  // namespace

Watches::Watches(Store& store, std::function<void(int)> follow)
    : store_(store), follow_(std::move(follow)), thread_([this] { run(); }) {
  store_.set_wake([this] {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    wake_.notify_one();
  });
}

Watches::~Watches() { stop(); }

void Watches::stop() {
  store_.set_wake(nullptr);
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::size_t Watches::count() const { return count_; }

void Watches::begin(WatchAsk ask, const wire::Responder& responder) {
  auto watcher = std::make_unique<Watcher>();
  watcher->table = store_table(*ask.resource);
  const bool follows = sees_slurm(watcher->table, ask.filter);
  if (follows) follow_(1);  // before it is asked where it begins
  const auto resumed = store_.resume(watcher->table, ask.version);
  watcher->stream = responder.stream(200, "application/json");
  if (!resumed) {
    const Failure gone = expired("too old resource version: " + std::to_string(*ask.version) + " (" +
                                 std::to_string(store_.version(watcher->table)) + ")");
    watcher->stream.write(wire::bytes(frame("ERROR", print(gone.status()))));
    watcher->stream.finish();
    if (follows) follow_(-1);
    return;
  }
  const Duration now = since_boot();
  watcher->until = now + (ask.timeout > Duration{0} ? ask.timeout : some_timeout());
  watcher->bookmark_at =
      now + (ask.timeout > Duration{0} ? std::min(kBookmarkEvery, ask.timeout * 9 / 10) : kBookmarkEvery);
  watcher->cursor = resumed->cursor;
  watcher->version = ask.version.value_or(resumed->version);
  watcher->ask = std::move(ask);
  Frames frames;
  for (const ChangePtr& change : resumed->changes) {
    if (tell(*watcher, change, frames)) continue;
    if (follows) follow_(-1);
    return;
  }
  watcher->version = std::max(watcher->version, resumed->version);
  if (watcher->ask.end_of_start) {
    watcher->stream.write(wire::bytes(
        frame("BOOKMARK", render_bookmark(*watcher->ask.resource, watcher->version, watcher->ask.form, true))));
  }
  ++count_;
  {
    const std::lock_guard lock(mutex_);
    arriving_.push_back(std::move(watcher));
    woken_ = true;
  }
  wake_.notify_one();
}

void Watches::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, std::chrono::milliseconds(500), [&] { return woken_ || stopping_; });
      if (stopping_) break;
      woken_ = false;
      for (auto& watcher : arriving_) watchers_.push_back(std::move(watcher));
      arriving_.clear();
    }
    Frames frames;
    const Duration now = since_boot();
    for (auto at = watchers_.begin(); at != watchers_.end();) {
      if (serve(**at, frames, now)) {
        ++at;
        continue;
      }
      (*at)->stream.finish();
      leave(**at);
      at = watchers_.erase(at);
      --count_;
    }
  }
  for (const auto& watcher : watchers_) watcher->stream.finish();
  watchers_.clear();
}

void Watches::leave(const Watcher& watcher) {
  if (sees_slurm(watcher.table, watcher.ask.filter)) follow_(-1);
}

bool Watches::serve(Watcher& watcher, Frames& frames, Duration now) {
  if (watcher.stream.gone()) return false;
  std::vector<ChangePtr> changes;
  if (!store_.read(watcher.table, watcher.cursor, changes, kAtOnce)) {
    const Failure gone = expired("too old resource version: " + std::to_string(watcher.version));
    watcher.stream.write(wire::bytes(frame("ERROR", print(gone.status()))));
    return false;
  }
  for (const ChangePtr& change : changes) {
    if (!tell(watcher, change, frames)) return false;
  }
  if (changes.size() == kAtOnce) {
    const std::lock_guard lock(mutex_);
    woken_ = true;  // there is more for him
  }
  return mark(watcher, now);
}

// False: the watch is over.
bool Watches::mark(Watcher& watcher, Duration now) {
  const bool over = now >= watcher.until;
  if (watcher.ask.bookmarks && (over || now >= watcher.bookmark_at)) {
    watcher.bookmark_at = now + kBookmarkEvery;
    const std::string object = render_bookmark(*watcher.ask.resource, watcher.version, watcher.ask.form, false);
    if (!watcher.stream.write(wire::bytes(frame("BOOKMARK", object)))) return false;
  }
  return !over;
}

bool Watches::tell(Watcher& watcher, const ChangePtr& change, Frames& frames) {
  watcher.version = std::max(watcher.version, change->version);
  const auto kind = seen_as(*change, watcher.ask.filter);
  if (!kind) return true;
  wire::Bytes& bytes = frames[{.change = change.get(),
                               .kind = static_cast<int>(*kind),
                               .form = watcher.ask.form,
                               .include = watcher.ask.include}];
  if (!bytes) {
    bytes = wire::bytes(
        frame(kWords[static_cast<int>(*kind)],
              render(*watcher.ask.resource, *change->now, watcher.ask.form, watcher.ask.include, wall_now())));
  }
  return watcher.stream.write(bytes);
}

}  // namespace drover::kube
