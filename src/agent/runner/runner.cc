#include "agent/runner/runner.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "agent/runner/environment.h"
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

std::int64_t Runner::held_milli(const std::string& device) const {
  std::int64_t sum = 0;
  for (const auto& [key, grants] : held_) {
    for (const DeviceGrant& grant : grants) {
      if (grant.device == device) sum += grant.milli;
    }
  }
  return sum;
}

Status Runner::check_grants(const std::vector<DeviceGrant>& grants) const {
  std::set<std::string> seen;
  for (const DeviceGrant& grant : grants) {
    if (find(grant.device) == nullptr) return Error{Errc::not_found, "no device " + printable(grant.device) + " here"};
    if (grant.milli < 1 || grant.milli > kWhole || !seen.insert(grant.device).second) {
      return Error{Errc::invalid, "bad share of device " + grant.device};
    }
    const std::int64_t held = held_milli(grant.device);
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
  if (::geteuid() != 0 && spec.uid != ::geteuid()) {
    return Error{Errc::denied, "without root, only jobs of user id " + std::to_string(::geteuid()) + " run here"};
  }
  TRY(check_grants(spec.devices));
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
