// The state folder (on tmpfs): one folder an attempt with what its shim noted. It is all that an
// agent or a keeper that starts anew needs to know.
//   DIR/notify             where shims tell the keeper of the day
//   DIR/hosts              what jobs see as /etc/hosts
//   DIR/jobs/KEY/ctl       the living shim's socket for commands
//   DIR/jobs/KEY/script    the user's
//   DIR/jobs/KEY/stream    of a step: where agents bring clients
//   DIR/jobs/KEY/tasks     of a step: how each task ended
//   DIR/jobs/KEY/{claim,started,status}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/shim/spec.h"
#include "agent/step/spec.h"
#include "base/result.h"
#include "os/fd.h"

namespace drover::agent {

class Records {
 public:
  explicit Records(std::string folder) : folder_(std::move(folder)) {}

  // The folder itself. Users may pass through to their scripts, and list nothing.
  [[nodiscard]] Status create() const;
  [[nodiscard]] std::string notify_path() const { return folder_ + "/notify"; }
  [[nodiscard]] std::string hosts_path() const { return folder_ + "/hosts"; }
  [[nodiscard]] std::string lock_path() const { return folder_ + "/lock"; }
  [[nodiscard]] std::string control_path(const std::string& key) const { return path(key, "ctl"); }
  [[nodiscard]] std::string script_path(const std::string& key) const { return path(key, "script"); }

  [[nodiscard]] std::string stream_path(const std::string& key) const { return path(key, "stream"); }

  // conflict when the attempt exists. Takes the room for its status, so that a full disk can't
  // swallow an exit code later.
  [[nodiscard]] Status add(const std::string& key) const;
  [[nodiscard]] Status put(const std::string& key, const Claim& claim) const;
  [[nodiscard]] Status put(const std::string& key, const Started& started) const;
  [[nodiscard]] Status put(const std::string& key, const Ended& ended) const;
  // A step's tasks get room for their ends before they start, for the same reason.
  [[nodiscard]] Status add_tasks(const std::string& key, std::size_t count) const;
  [[nodiscard]] Status put(const std::string& key, std::size_t index, const TaskEnd& end) const;
  [[nodiscard]] std::vector<TaskEnd> task_ends(const std::string& key) const;
  [[nodiscard]] Status put_script(const std::string& key, std::string_view text, uid_t uid, gid_t gid) const;

  [[nodiscard]] bool has(const std::string& key) const;
  [[nodiscard]] bool has_ended(const std::string& key) const;
  [[nodiscard]] bool shim_lives(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] Attempt attempt(const std::string& key) const;
  // Removes an attempt's folder, whatever its state.
  [[nodiscard]] Status forget(const std::string& key) const;

 private:
  [[nodiscard]] std::string jobs() const { return folder_ + "/jobs"; }
  [[nodiscard]] std::string path(const std::string& key, const char* name) const;
  [[nodiscard]] Status put_bytes(const std::string& key, const char* name, std::string_view bytes) const;

  std::string folder_;
};

}  // namespace drover::agent
