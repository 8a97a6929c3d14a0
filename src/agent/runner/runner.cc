#include "agent/runner/runner.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "agent/runner/environment.h"
#include "agent/shim/key.h"
#include "base/text.h"
#include "os/clock.h"

namespace drover::agent {
namespace {

constexpr std::int64_t kWhole = 1000;
constexpr Duration kLookEvery = seconds(10);
constexpr Duration kUserKept = seconds(60);  // user databases are slow, and change seldom

}  // namespace

Runner::Runner(Driver& driver, RunnerOptions options) : driver_(driver), options_(std::move(options)) {
  for (const Attempt& attempt : driver_.list()) learn(attempt);
}

const DeviceInfo* Runner::find(const std::string& device) const {
  const auto it = std::find_if(options_.devices.begin(), options_.devices.end(),
                               [&](const DeviceInfo& one) { return one.uuid == device; });
  return it == options_.devices.end() ? nullptr : &*it;
}

std::int64_t Runner::held_milli(const std::string& device) const { return held_by_others(device, ""); }

// A job and its steps hold a device together, each as much of it as it needs.
std::int64_t Runner::held_by_others(const std::string& device, const std::string& job) const {
  std::map<std::string, std::int64_t> most;
  for (const auto& [key, grants] : held_) {
    for (const DeviceGrant& grant : grants) {
      if (grant.device != device) continue;
      std::int64_t& milli = most[job_of(key)];
      milli = std::max(milli, grant.milli);
    }
  }
  std::int64_t sum = 0;
  for (const auto& [holder, milli] : most) sum += holder == job ? 0 : milli;
  return sum;
}

Status Runner::check_user(std::uint32_t uid) const {
  if (::geteuid() == 0 || uid == ::geteuid()) return Done{};
  return Error{Errc::denied, "without root, only jobs of user id " + std::to_string(::geteuid()) + " run here"};
}

std::vector<DeviceInfo> Runner::infos(const std::vector<std::string>& uuids) const {
  std::vector<DeviceInfo> found;
  for (const DeviceInfo& device : options_.devices) {
    if (std::find(uuids.begin(), uuids.end(), device.uuid) != uuids.end()) found.push_back(device);
  }
  std::sort(found.begin(), found.end(), [](const DeviceInfo& a, const DeviceInfo& b) { return a.index < b.index; });
  return found;
}

Status Runner::check_grants(const std::string& key, const std::vector<DeviceGrant>& grants) const {
  std::set<std::string> seen;
  for (const DeviceGrant& grant : grants) {
    if (find(grant.device) == nullptr) return Error{Errc::not_found, "no device " + printable(grant.device) + " here"};
    if (grant.milli < 1 || grant.milli > kWhole || !seen.insert(grant.device).second) {
      return Error{Errc::invalid, "bad share of device " + grant.device};
    }
    const std::int64_t held = held_by_others(grant.device, job_of(key));
    if (held + grant.milli > kWhole) {
      return Error{Errc::conflict, "device " + grant.device + " is in use: " + std::to_string(held) + "/1000 of it"};
    }
  }
  return Done{};
}

Result<std::vector<DeviceNode>> Runner::denied_to(const std::vector<DeviceInfo>& granted) const {
  std::set<DeviceNode> denied;
  for (const DeviceInfo& device : options_.devices) {
    const auto nodes = device_nodes(device.files);
    // A card that fell off the bus takes its file along; nobody can open what isn't there.
    if (nodes) denied.insert(nodes->begin(), nodes->end());
  }
  for (const DeviceInfo& device : granted) {
    for (const DeviceNode& node : TRY(device_nodes(device.files))) denied.erase(node);
  }
  return std::vector<DeviceNode>(denied.begin(), denied.end());
}

const User& Runner::user_of(std::uint32_t uid, std::uint32_t gid) {
  const Duration now = since_boot();
  KnownUser& known = users_[uid];
  if (known.until <= now) {
    const auto user = user_by_id(uid);
    // A number without a name is still somebody.
    known.user = user ? *user : User{.uid = uid, .gid = gid, .home = "/", .shell = "/bin/sh"};
    const auto groups = user ? groups_of(*user) : Result<std::vector<gid_t>>(std::vector<gid_t>{gid});
    known.groups = groups ? *groups : std::vector<gid_t>{gid};
    known.until = now + kUserKept;
  }
  return known.user;
}

Status Runner::start(const std::string& key, StartSpec spec) {
  TRY(check_user(spec.uid));
  TRY(check_grants(key, spec.devices));
  GrantedDevices granted{.confined = options_.devices_confined};
  for (const DeviceGrant& grant : spec.devices) granted.devices.push_back(*find(grant.device));
  std::sort(granted.devices.begin(), granted.devices.end(),
            [](const DeviceInfo& a, const DeviceInfo& b) { return a.index < b.index; });
  if (options_.devices_confined) spec.limits.denied = TRY(denied_to(granted.devices));
  spec.environment = build_environment(spec.environment, granted, user_of(spec.uid, spec.gid));
  set_variables(spec.environment, options_.environment);
  if (spec.groups.empty()) {
    const auto& groups = users_[spec.uid].groups;
    spec.groups.assign(groups.begin(), groups.end());
  }
  TRY(driver_.start(key, spec));
  held_[key] = spec.devices;
  return Done{};
}

Status Runner::start_part(const std::string& key, PartSpec spec) {
  TRY(check_user(spec.uid));
  TRY(check_grants(key, spec.devices));
  std::vector<std::string> uuids;
  for (const DeviceGrant& grant : spec.devices) uuids.push_back(grant.device);
  const GrantedDevices granted{.devices = infos(uuids), .confined = options_.devices_confined};
  if (options_.devices_confined) {
    spec.limits.denied = TRY(denied_to(granted.devices));
    spec.job_limits.denied = TRY(denied_to(infos(spec.job_devices)));
  }
  spec.environment = build_environment(spec.environment, granted, user_of(spec.uid, spec.gid));
  set_variables(spec.environment, options_.environment);
  for (TaskSpec& task : spec.tasks) {
    if (task.devices.empty()) continue;
    const std::vector<std::string> own = device_variables(granted, task.devices);
    task.environment.insert(task.environment.end(), own.begin(), own.end());
  }
  if (spec.groups.empty()) {
    const auto& groups = users_[spec.uid].groups;
    spec.groups.assign(groups.begin(), groups.end());
  }
  TRY(driver_.start_part(key, spec));
  held_[key] = spec.devices;
  return Done{};
}

Status Runner::claim(const std::string& key, const std::vector<std::string>& uuids) {
  std::vector<DeviceGrant> grants;
  for (const std::string& uuid : uuids) grants.push_back({.device = uuid});
  TRY(check_grants(key, grants));
  held_[key] = std::move(grants);
  return Done{};
}

Status Runner::forget(const std::string& key) {
  TRY(driver_.forget(key));
  held_.erase(key);
  return Done{};
}

void Runner::learn(const Attempt& attempt) {
  if (attempt.state == AttemptState::ended && !(attempt.ended && attempt.ended->leftover)) {
    held_.erase(attempt.key);
  } else if (attempt.claim) {
    held_[attempt.key] = attempt.claim->devices;
  }
}

std::vector<Attempt> Runner::poll(Duration now) {
  if (now >= next_look_) {
    [[maybe_unused]] const auto all = driver_.list();
    next_look_ = now + kLookEvery;
  }
  std::vector<Attempt> changes = driver_.changes();
  for (const Attempt& attempt : changes) learn(attempt);
  return changes;
}

}  // namespace drover::agent
