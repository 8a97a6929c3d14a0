#include "bench/bare.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "agent/cgroup/cgroup.h"
#include "bench/bench.h"
#include "os/fd.h"
#include "os/file.h"

namespace drover::bench {
namespace {

constexpr double kSeconds = 1;
constexpr std::size_t kStack = 64 << 10;

void put(const std::string& file, const char* value) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  [[maybe_unused]] const ssize_t n = ::write(fd.get(), value, std::char_traits<char>::length(value));
}

// What an agent makes for a job with a memory limit: memory and processes, and the v2 tree where there is one.
class Places {
 public:
  Places() {
    const auto table = read_file("/proc/self/mounts");
    if (::geteuid() != 0 || !table) return;
    const auto mounts = agent::CgroupTree::Mounts::read(*table);
    for (const char* controller : {"memory", "pids"}) {
      const auto found = mounts.legacy.find(controller);
      if (found != mounts.legacy.end()) legacy_.emplace_back(controller, make_root(found->second));
    }
    if (!mounts.unified.empty()) unified_ = make_root(mounts.unified);
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  ~Places() {
    for (const auto& [controller, root] : legacy_) ::rmdir(root.c_str());
    if (!unified_.empty()) ::rmdir(unified_.c_str());
  }
  [[nodiscard]] bool any() const { return !legacy_.empty() || !unified_.empty(); }

  void start_one(const std::string& name) const {
    std::vector<Fd> entries;
    for (const auto& [controller, root] : legacy_) {
      const std::string at = root + name;
      ::mkdir(at.c_str(), 0755);
      controller == "memory" ? put(at + "/memory.limit_in_bytes", "16777216") : put(at + "/pids.max", "16384");
      if (controller == "memory") put(at + "/memory.memsw.limit_in_bytes", "16777216");
      entries.emplace_back(::open((at + "/tasks").c_str(), O_WRONLY | O_CLOEXEC));
    }
    if (!unified_.empty()) {
      ::mkdir((unified_ + name).c_str(), 0755);
      entries.emplace_back(::open((unified_ + name + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    }
    // The way of vfork: the cheapest there is, and no dearer for a large process than for a small one.
    std::vector<char> stack(kStack);
    const pid_t pid = ::clone(become_true, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &entries);
    ::waitpid(pid, nullptr, 0);
    for (const auto& [controller, root] : legacy_) remove(root + name);
    if (!unified_.empty()) remove(unified_ + name);
  }

 private:
  static std::string make_root(const std::string& mount) {
    std::string root = mount + "/drover-bench-" + std::to_string(::getpid());
    ::mkdir(root.c_str(), 0755);
    return root;
  }
  static void remove(const std::string& path) {
    while (::rmdir(path.c_str()) != 0 && errno == EBUSY) ::usleep(100);
  }
  static int become_true(void* argument) {
    for (const Fd& entry : *static_cast<const std::vector<Fd>*>(argument)) {
      if (::write(entry.get(), "0", 1) != 1) ::_exit(1);
    }
    ::dup2(::open("/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), STDOUT_FILENO);
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }

  std::vector<std::pair<std::string, std::string>> legacy_;  // controller, our root in it
  std::string unified_;
};

int work(const Places& places, int worker, double until) {
  int count = 0;
  for (; now_seconds() < until; ++count) places.start_one("/" + std::to_string(worker) + "." + std::to_string(count));
  return count;
}

}  // namespace

double bare_starts_a_second() {
  const Places places;
  int ends[2];
  if (!places.any() || ::pipe2(ends, O_CLOEXEC) != 0) return 0;
  const Fd reader(ends[0]);
  const Fd writer(ends[1]);
  const auto workers = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const double begin = now_seconds();
  for (int worker = 0; worker < workers; ++worker) {
    if (::fork() != 0) continue;
    const int count = work(places, worker, begin + kSeconds);
    [[maybe_unused]] const ssize_t n = ::write(writer.get(), &count, sizeof count);
    ::_exit(0);
  }
  int sum = 0;
  for (int worker = 0; worker < workers; ++worker) {
    int count = 0;
    if (::read(reader.get(), &count, sizeof count) == static_cast<ssize_t>(sizeof count)) sum += count;
    ::wait(nullptr);
  }
  return sum / (now_seconds() - begin);
}

}  // namespace drover::bench
