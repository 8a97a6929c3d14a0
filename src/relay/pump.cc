#include "relay/pump.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "os/clock.h"
#include "os/file.h"
#include "relay/pair.h"

namespace drover::relay {
namespace {

constexpr int kLookMs = 1000;

}  // namespace

Pump::Pump(Fd bell) : bell_(std::move(bell)) {}

Result<std::unique_ptr<Pump>> Pump::start() {
  Fd bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell) return system_error(errno, "eventfd");
  std::unique_ptr<Pump> pump(new Pump(std::move(bell)));
  pump->thread_ = std::thread([p = pump.get()] { p->run(); });
  return pump;
}

Pump::~Pump() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto rung = ::write(bell_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

void Pump::carry(Load load) {
  {
    const std::lock_guard lock(mutex_);
    fresh_.push_back(std::move(load));
    ++count_;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto rung = ::write(bell_.get(), &one, sizeof one);
}

std::size_t Pump::pairs() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

void Pump::take_new() {
  const Duration now = since_boot();
  const std::lock_guard lock(mutex_);
  for (Load& load : fresh_) pairs_.emplace_back(std::move(load), now);
  fresh_.clear();
  count_ = pairs_.size();
}

void Pump::run() {
  Duration looked = since_boot();
  for (;;) {
    take_new();
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    wait();
    const Duration now = since_boot();
    if (now - looked < milliseconds(kLookMs)) continue;
    looked = now;
    for (Pair& pair : pairs_) {
      pair.look(now);
      pair.turn();
    }
    pairs_.remove_if([](const Pair& pair) { return pair.over(); });
  }
}

// Turns those that something happened to; the others cost nothing but their place in the poll.
void Pump::wait() {
  std::vector<pollfd> watched{{bell_.get(), POLLIN, 0}};
  bool busy = false;
  for (Pair& pair : pairs_) {
    busy |= pair.busy();
    watched.push_back(pair.plain_poll());
    watched.push_back(pair.channel_poll());
  }
  ::poll(watched.data(), watched.size(), busy ? 0 : pairs_.empty() ? -1 : kLookMs);
  std::uint64_t rung = 0;
  [[maybe_unused]] const auto read = ::read(bell_.get(), &rung, sizeof rung);
  std::size_t at = 1;
  for (auto pair = pairs_.begin(); pair != pairs_.end(); at += 2) {
    const short plain = watched[at].revents;
    const short channel = watched[at + 1].revents;
    pair->saw(plain, channel);
    if (plain != 0 || channel != 0 || pair->busy()) pair->turn();
    pair = pair->over() ? pairs_.erase(pair) : std::next(pair);
  }
}

}  // namespace drover::relay
