#include "control/keepalive.h"

#include "base/overload.h"

namespace drover::control {

void Keepalive::begin(const Cluster& cluster, Duration now) {
  const std::lock_guard lock(mutex_);
  cluster.jobs().each([&](const Job& job) {
    if (job.allocation && job.phase == Phase::running) heard_[job.id] = now;
  });
}

void Keepalive::follow(const Cluster& after, const Event& fact, Duration now) {
  const auto over = [this](JobId job) {
    const std::lock_guard lock(mutex_);
    heard_.erase(job);
  };
  std::visit(Overload{
                 [&](const JobStarted& e) {
                   const Job* job = after.job(e.job);
                   if (job == nullptr || !job->allocation || job->phase != Phase::running) return;
                   const std::lock_guard lock(mutex_);
                   heard_[e.job] = now;
                 },
                 [&](const JobEnding& e) { over(e.job); },
                 [&](const JobEnded& e) { over(e.job); },
                 [](const auto&) {},
             },
             fact);
}

void Keepalive::heard(JobId job, Duration now) {
  const std::lock_guard lock(mutex_);
  const auto found = heard_.find(job);
  if (found != heard_.end()) found->second = now;
}

std::vector<JobId> Keepalive::silent(Duration now) {
  const std::lock_guard lock(mutex_);
  std::vector<JobId> jobs;
  for (auto& [job, heard] : heard_) {
    if (now - heard < kSilence) continue;
    jobs.push_back(job);
    heard = now;
  }
  return jobs;
}

}  // namespace drover::control
