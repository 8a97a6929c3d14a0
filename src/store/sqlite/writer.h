// The one thread that touches log.db. It commits whatever queued while the last commit ran, and runs
// short tasks (reads, trims) between commits.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "store/log.h"
#include "store/sqlite/head_file.h"
#include "store/sqlite/reserve.h"
#include "store/sqlite/tables.h"

namespace drover::store {

class Writer {
 public:
  struct Parts {
    std::unique_ptr<Tables> tables;
    HeadFile evidence;
    std::unique_ptr<Reserve> reserve;
    Head head;
    std::uint64_t first = 1;
    int checkpoint_pages = 512;
  };
  explicit Writer(Parts parts);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  // What was appended is still stored and answered.
  ~Writer();

  void append(Batch batch, Log::OnAppended done);
  // Runs task(Tables&) between commits and waits for it. Within a `done` it runs at once.
  template <class Task>
  auto run(Task task) -> std::invoke_result_t<Task, Tables&> {
    if (std::this_thread::get_id() == thread_.get_id()) return task(*parts_.tables);
    std::packaged_task<std::invoke_result_t<Task, Tables&>(Tables&)> packaged(std::move(task));
    auto result = packaged.get_future();
    post([&packaged](Tables& tables) { packaged(tables); });
    return result.get();
  }
  // A transaction of its own beside the appends. A full disk undoes it; any other failure breaks the log.
  Status write(const std::function<Status(Tables&)>& task);
  // Drops records before `below` in slices.
  Status trim(std::uint64_t below);

  [[nodiscard]] Head head() const;
  [[nodiscard]] std::uint64_t first() const;
  [[nodiscard]] Space space() const { return parts_.reserve->space(); }

 private:
  struct Pending {
    Batch batch;
    Log::OnAppended done;
  };
  struct Group;  // what goes into one commit

  void post(std::function<void(Tables&)> task);
  void loop();
  void commit(std::vector<Pending> pending);
  Status store(const Group& group);
  Status transaction(const std::function<Status(Tables&)>& task);
  void checkpoint_if_due(bool idle);
  void break_log(const std::string& why);

  Parts parts_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Pending> queue_;
  std::deque<std::function<void(Tables&)>> tasks_;
  Head head_;
  std::uint64_t first_;
  bool stopping_ = false;
  std::string broken_;  // why, once it is; of the thread alone
  std::thread thread_;  // last: it uses all above
};

}  // namespace drover::store
