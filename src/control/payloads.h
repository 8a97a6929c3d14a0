// Bodies by hash, as the domain names them, over the store: with a bounded cache, because a job's
// body is read back within moments of being stored.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/job.h"
#include "store/log.h"

namespace drover::control {

[[nodiscard]] PayloadHash to_domain(const store::Hash& hash);
[[nodiscard]] store::Hash to_store(const PayloadHash& hash);
[[nodiscard]] PayloadHash hash_of(std::string_view bytes);

class Payloads {
 public:
  explicit Payloads(store::Log& log) : log_(log) {}

  // Any thread. Shared, so that a body of a megabyte isn't copied for each reader.
  [[nodiscard]] Result<std::shared_ptr<const std::string>> get(const PayloadHash& hash);
  [[nodiscard]] Result<JobSpec> spec(const PayloadHash& hash);
  void remember(const PayloadHash& hash, std::string bytes);

 private:
  static constexpr std::size_t kCacheBytes = 64U << 20U;
  void keep(const PayloadHash& hash, std::shared_ptr<const std::string> bytes);

  store::Log& log_;
  std::mutex mutex_;
  std::map<PayloadHash, std::shared_ptr<const std::string>> cache_;
  std::deque<PayloadHash> order_;  // oldest first
  std::size_t bytes_ = 0;
};

}  // namespace drover::control
