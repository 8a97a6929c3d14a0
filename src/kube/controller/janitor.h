// Finishes what deletions began: ends the jobs of deleted pods, empties deleted namespaces, removes what
// nobody owns any more. Level-triggered: it acts on what is there, so nothing is lost by a restart.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kube/rest/ask.h"

namespace drover::kube {

class Janitor {
 public:
  explicit Janitor(const Context& context);
  ~Janitor();
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;
  void start();
  void stop();

 private:
  struct Place {
    std::string table;
    ObjectName name;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  void run();
  void look(bool at_everything);
  void note(const std::string& table, const Change& change);
  void tend(const std::string& table, const Entry& entry);
  void tend_pod(const Entry& pod);
  void tend_namespace(const Entry& space);
  void tend_owner(const std::string& table, const Entry& entry);
  void tend_dependent(const std::string& table, const Entry& entry);
  // The uids of its owners until now.
  std::vector<std::string> forget_owners(const Place& place);
  [[nodiscard]] bool owner_is_there(const std::string& space, const Value& reference) const;
  void remove(const std::string& table, const Entry& entry);
  void ask(api::Execute wish);

  static constexpr std::chrono::milliseconds kEvery{50};
  static constexpr Duration kAllEvery = seconds(20);

  const Context& context_;
  std::map<std::string, Cursor> cursors_;
  std::map<std::string, std::set<Place>> owned_by_;   // by uid of the owner
  std::map<Place, std::vector<std::string>> owners_;  // uids, of those that have any
  std::map<std::string, Place> places_;               // by uid, of all objects that are there
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace drover::kube
