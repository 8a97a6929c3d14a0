#include "domain/session.h"

#include "base/hash.h"

namespace drover {

std::uint64_t digest_of(JobId job, std::uint32_t attempt, std::uint32_t step, bool end) {
  return fnv1a(end ? 1U : 0U, fnv1a(step, fnv1a(attempt, fnv1a(job.value()))));
}

std::uint64_t digest_of(const HostAddress& host) { return fnv1a(host.address, fnv1a("=", fnv1a(host.name))); }

}  // namespace drover
