#include "control/payloads.h"

#include <cstring>
#include <utility>

#include "base/proto.h"
#include "store/chain.h"

namespace drover::control {

PayloadHash to_domain(const store::Hash& hash) {
  PayloadHash result;
  CHECK(hash.size() == sizeof result.words);
  std::memcpy(result.words.data(), hash.data(), hash.size());
  return result;
}

store::Hash to_store(const PayloadHash& hash) {
  store::Hash result(sizeof hash.words, '\0');
  std::memcpy(result.data(), hash.words.data(), result.size());
  return result;
}

PayloadHash hash_of(std::string_view bytes) { return to_domain(store::sha256(bytes)); }

Result<std::shared_ptr<const std::string>> Payloads::get(const PayloadHash& hash) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = cache_.find(hash);
    if (found != cache_.end()) return found->second;
  }
  auto bytes = std::make_shared<const std::string>(TRY(log_.payload(to_store(hash))));
  keep(hash, bytes);
  return bytes;
}

Result<JobSpec> Payloads::spec(const PayloadHash& hash) { return decode<JobSpec>(*TRY(get(hash))); }

void Payloads::remember(const PayloadHash& hash, std::string bytes) {
  keep(hash, std::make_shared<const std::string>(std::move(bytes)));
}

void Payloads::keep(const PayloadHash& hash, std::shared_ptr<const std::string> bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t size = bytes->size() + 128;
  if (!cache_.emplace(hash, std::move(bytes)).second) return;
  order_.push_back(hash);
  bytes_ += size;
  while (bytes_ > kCacheBytes && order_.size() > 1) {
    const auto oldest = cache_.find(order_.front());
    bytes_ -= oldest->second->size() + 128;
    cache_.erase(oldest);
    order_.pop_front();
  }
}

}  // namespace drover::control
