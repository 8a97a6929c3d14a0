#include "wire/server_state.h"

#include <unistd.h>

namespace drover::wire {
namespace {

constexpr std::size_t kMaxRefused = 64;

bool is_limited(const Peer& peer) { return peer.local && peer.local->uid != 0 && peer.local->uid != ::geteuid(); }

}  // namespace

int ServerState::enter(const Peer& peer) {
  const std::lock_guard lock(mutex_);
  if (connections_ >= options_.max_connections) return 503;
  if (is_limited(peer)) {
    std::size_t& mine = by_user_[peer.local->uid];
    if (mine >= options_.max_connections_per_user) return 429;
    ++mine;
  }
  ++connections_;
  return 0;
}

void ServerState::leave(const Peer& peer) {
  const std::lock_guard lock(mutex_);
  --connections_;
  if (is_limited(peer)) {
    const auto it = by_user_.find(peer.local->uid);
    if (--it->second == 0) by_user_.erase(it);
  }
  if (connections_ == 0) left_.notify_all();
}

bool ServerState::enter_refused() {
  const std::lock_guard lock(mutex_);
  if (refused_ >= kMaxRefused) return false;
  ++refused_;
  return true;
}

void ServerState::leave_refused() {
  const std::lock_guard lock(mutex_);
  --refused_;
}

std::size_t ServerState::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

bool ServerState::wait_until_empty(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return left_.wait_for(lock, limit, [&] { return connections_ == 0; });
}

}  // namespace drover::wire
