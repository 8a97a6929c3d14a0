// A node's jobs: turns what a controller grants (device ids, a user id) into what a driver runs
// (device files to deny, groups, environment), and keeps the node's own ledger of devices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/driver/driver.h"
#include "agent/probe/device.h"
#include "base/result.h"
#include "os/user.h"

namespace drover::agent {

struct RunnerOptions {
  std::vector<DeviceInfo> devices;
  bool devices_confined = true;  // whether the driver's cgroups can deny devices
  std::vector<std::string> environment = {};  // "NAME=value", in every job's
};

class Runner {
 public:
  Runner(Driver& driver, RunnerOptions options);

  // `spec` names devices by uuid; denied devices, groups (unless given) and the node's part of the
  // environment are filled in here. conflict: a device would be given away twice, whoever holds it;
  // not_found: there is no such device here; denied: without root, another user's job.
  [[nodiscard]] Status start(const std::string& key, StartSpec spec);
  // The same for a part of a step. Its devices are its job's too, so that the two don't stand in each
  // other's way; each task is told which of them are its own.
  [[nodiscard]] Status start_part(const std::string& key, PartSpec spec);
  [[nodiscard]] Status tell(const std::string& key, const Command& command) { return driver_.tell(key, command); }
  // Once the report of an attempt's end has been taken by those who have to know.
  [[nodiscard]] Status forget(const std::string& key);

  // The devices of a pod, whose containers others start. The same errors.
  [[nodiscard]] Status claim(const std::string& key, const std::vector<std::string>& uuids);
  void release(const std::string& key) { held_.erase(key); }
  // By index on the node.
  [[nodiscard]] std::vector<DeviceInfo> infos(const std::vector<std::string>& uuids) const;
  // What a holder of these must not open.
  [[nodiscard]] Result<std::vector<DeviceNode>> denied_to(const std::vector<DeviceInfo>& granted) const;

  // What has changed; looks at the whole driver anew every ten seconds. `now` is time since boot.
  [[nodiscard]] std::vector<Attempt> poll(Duration now);
  [[nodiscard]] std::vector<Attempt> list() { return driver_.list(); }
  // Whether the processes of a job's steps are found through their job.
  [[nodiscard]] bool keeps_together() const { return options_.devices_confined; }
  [[nodiscard]] int wake_fd() const { return driver_.wake_fd(); }

  // Thousandths of a device that attempts hold. An attempt holds them until it has ended.
  [[nodiscard]] std::int64_t held_milli(const std::string& device) const;
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const { return options_.devices; }

 private:
  [[nodiscard]] const DeviceInfo* find(const std::string& device) const;
  [[nodiscard]] Status check_grants(const std::string& key, const std::vector<DeviceGrant>& grants) const;
  [[nodiscard]] Status check_user(std::uint32_t uid) const;
  // What jobs hold of a device, without the job that `key` belongs to.
  [[nodiscard]] std::int64_t held_by_others(const std::string& device, const std::string& job) const;
  [[nodiscard]] const User& user_of(std::uint32_t uid, std::uint32_t gid);
  void learn(const Attempt& attempt);

  Driver& driver_;
  RunnerOptions options_;
  std::map<std::string, std::vector<DeviceGrant>> held_;  // by attempt
  struct KnownUser {
    User user;
    std::vector<gid_t> groups;
    Duration until{};
  };
  std::map<std::uint32_t, KnownUser> users_;
  Duration next_look_{};
};

}  // namespace drover::agent
