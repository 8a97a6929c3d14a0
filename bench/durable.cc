// Whole lives through driver, store and follower: every fact on disk before anybody hears of it. The
// agents are played: they acknowledge a start and an end at once.
#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "bench/bench.h"
#include "bench/cluster.h"
#include "control/driver.h"
#include "control/follower.h"
#include "control/ledger.h"
#include "os/clock.h"
#include "store/history/history.h"
#include "store/sqlite/sqlite_log.h"

namespace drover::bench {
namespace {

using namespace control;  // NOLINT(google-build-using-namespace): one file of a benchmark

template <class T>
T must(Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

class Played final : public Follower::Listener {
 public:
  Played(const std::string& folder, std::size_t jobs)
      : log_(must(store::SqliteLog::open({.folder = folder}))),
        history_(must(store::History::open(folder + "/history.db", log_->cluster()))),
        payloads_(*log_),
        ledger_(*history_, payloads_),
        follower_(Cluster{}, 0, wall_now(), ledger_),
        driver_({.epoch = 1}, engine::Core{}, *log_, ClusterTime(Instant{}, wall_now(), since_boot()),
                [this](Committed group) { follower_.push(std::move(group)); },
                [](const std::string& why) {
                  std::fprintf(stderr, "%s\n", why.c_str());
                  std::exit(1);
                }),
        jobs_(jobs) {
    follower_.start(*this);
  }
  ~Played() override {
    driver_.stop();
    follower_.stop();
  }

  double lives_a_second() {
    push(configure());
    for (std::uint32_t n = 1; n <= 100; ++n) push(node(n, 64, 8));
    const double begin = now_seconds();
    for (std::size_t i = 0; i < jobs_; ++i) push(submit_small(i));
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return ended_ == jobs_; });
    return static_cast<double>(jobs_) / (now_seconds() - begin);
  }

 private:
  void push(Input input) {
    for (Work work{.input = std::move(input)}; !driver_.push(std::move(work));) ::usleep(200);
  }
  void changed(const Cluster&, const Committed& group) override {
    for (const Event& fact : group.facts) {
      if (const auto* placed = std::get_if<JobPlaced>(&fact)) {
        const NodeId node = placed->placement.shares.front().node;
        push(ReportStarted{.node = node, .job = placed->job, .attempt = placed->attempt});
        push(ReportEnded{.node = node, .job = placed->job, .attempt = placed->attempt});
      } else if (std::holds_alternative<JobEnded>(fact)) {
        const std::lock_guard lock(mutex_);
        if (++ended_ == jobs_) done_.notify_all();
      }
    }
  }
  void tick(const Cluster&) override {}

  std::unique_ptr<store::SqliteLog> log_;
  std::unique_ptr<store::History> history_;
  Payloads payloads_;
  Ledger ledger_;
  Follower follower_;
  Driver driver_;
  std::size_t jobs_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::size_t ended_ = 0;
};

}  // namespace

void bench_durable(const Options& options, const Calibration& calibration, Rows& rows) {
  int run = 0;
  const auto jobs = static_cast<std::size_t>(20'000 * options.scale);
  const double rate = median_of(3, [&] {
    const std::string folder = options.folder + "/durable-" + std::to_string(++run);
    ::mkdir(folder.c_str(), 0700);
    const double lives = Played(folder, jobs).lives_a_second();
    std::filesystem::remove_all(folder);
    return lives;
  });
  rows.push_back({.id = "life.durable", .value = rate, .unit = "jobs/s", .calibration = "fdatasync/s",
                  .ratio = rate / calibration.syncs, .goal = ">= 10000"});
}

}  // namespace drover::bench
