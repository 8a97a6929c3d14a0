#include <algorithm>
#include <set>

#include "base/text.h"
#include "domain/decide.h"
#include "domain/dependency.h"
#include "domain/may.h"
#include "domain/steps.h"

namespace drover {
namespace {

constexpr std::size_t kMaxName = 1024;
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxTerms = 1024;
constexpr Duration kMaxTime = std::chrono::hours(24 * 365 * 10);

Refusal invalid(std::string subject) {
  return {.code = RefusalCode::invalid_request, .subject = std::move(subject)};
}

// Task numbers as rising, disjoint ranges, however they were written.
std::optional<Refusal> normalise(ArrayPending& array, const Settings& settings) {
  const auto bad = [](std::string subject, std::int64_t have, std::int64_t want) {
    return Refusal{.code = RefusalCode::invalid_array, .subject = std::move(subject),
                   .amounts = {{.name = "array_size", .have = have, .want = want}}};
  };
  std::set<std::uint32_t> tasks;
  for (const TaskRange& range : array.tasks) {
    if (range.step == 0 || range.last < range.first) return bad(array.text, 0, 0);
    if (range.last >= settings.max_array_size) return bad(array.text, settings.max_array_size, range.last);
    for (std::uint32_t task = range.first; task <= range.last; task += range.step) tasks.insert(task);
  }
  if (tasks.empty()) return bad(array.text, 0, 0);
  array.tasks.clear();
  for (auto at = tasks.begin(); at != tasks.end();) {
    TaskRange range{.first = *at, .last = *at, .step = 1};
    if (++at != tasks.end()) range.step = *at - range.first;
    while (at != tasks.end() && *at == range.last + range.step) range.last = *at++;
    if (range.first == range.last) range.step = 1;
    array.tasks.push_back(range);
  }
  array.total = static_cast<std::uint32_t>(tasks.size());
  array.min = *tasks.begin();
  array.max = *tasks.rbegin();
  array.step = std::max(1U, array.step);
  return std::nullopt;
}

std::optional<Refusal> check_texts(const Submit& s) {
  if (s.name.size() > kMaxName) return invalid("name");
  if (s.account.size() > kMaxName) return invalid("account");
  if (s.qos.size() > kMaxName) return invalid("qos");
  if (s.partitions.size() > kMaxText) return invalid("partition");
  if (s.request.features.size() > kMaxText) return invalid("features");
  if (s.request.gpu_condition.size() > kMaxText) return invalid("gpu_condition");
  if (s.dependency.terms.size() > kMaxTerms) return invalid("dependency");
  return std::nullopt;
}

std::optional<Refusal> check_times(const Submit& s, Instant now) {
  const auto bad = [](const char* what) { return Refusal{.code = RefusalCode::invalid_limit, .subject = what}; };
  const Duration limit = s.limit.value_or(Duration{0});
  if (limit < Duration{0} || limit > kMaxTime) return bad("time limit");
  if (s.min_limit < Duration{0} || (limit > Duration{0} && s.min_limit > limit)) return bad("minimum time");
  if (s.deadline != Instant{}) {
    const Duration least = s.min_limit > Duration{0} ? s.min_limit : limit;
    if (std::max(now, s.begin) + least > s.deadline) return bad("deadline");
  }
  return std::nullopt;
}

// A pod waits for nodes that are still to come, but not for those that can't exist.
bool is_nonsense(RefusalCode code) {
  return code == RefusalCode::invalid_request || code == RefusalCode::invalid_condition ||
         code == RefusalCode::unknown_partition;
}

}  // namespace

std::optional<Refusal> check_request(const Cluster& cluster, const std::string& partitions, const Request& request,
                                     const Feasible& feasible) {
  std::optional<Refusal> first;
  bool one = false;
  for (const std::string_view name : split(partitions, ',')) {
    const Partition* partition = cluster.partition(name);
    if (partition == nullptr) {
      return Refusal{.code = RefusalCode::unknown_partition, .subject = printable(name)};
    }
    const auto refusal = feasible(cluster, *partition, request);
    one = one || !refusal;
    if (!first) first = refusal;
  }
  return one ? std::nullopt : first;
}

std::variant<JobSubmitted, Refusal> validate_submit(const Cluster& cluster, const Caller& caller, const Submit& wish,
                                                    const Feasible& feasible, Instant now) {
  const Settings& settings = cluster.config().settings;
  JobSubmitted fact{.job = cluster.next_job(), .owner = wish.as.value_or(caller), .submit = wish, .at = now};
  Submit& s = fact.submit;
  s.as.reset();
  const auto denied = [](const char* what) { return Refusal{.code = RefusalCode::not_permitted, .subject = what}; };
  if (!may(cluster, caller, Verb::submit, caller.uid)) return denied("submit");
  if (wish.as && !may(cluster, caller, Verb::submit_as, wish.as->uid)) return denied("submit for another user");
  const bool raise = may(cluster, caller, Verb::raise_priority, caller.uid);
  if (s.priority && !raise) return denied("priority");
  if (s.nice < 0 && !raise) return denied("nice");
  if (auto refusal = check_texts(s)) return *refusal;
  if (cluster.jobs().size() >= settings.max_jobs) {
    return Refusal{.code = RefusalCode::too_many_jobs,
                   .amounts = {{.name = "jobs", .have = settings.max_jobs, .want = settings.max_jobs + 1}}};
  }
  if (s.partitions.empty()) {
    const Partition* standard = cluster.default_partition();
    if (standard == nullptr) return Refusal{.code = RefusalCode::no_default_partition};
    s.partitions = standard->name;
  }
  const std::string first = s.partitions.substr(0, s.partitions.find(','));
  const Partition* partition = cluster.partition(first);
  if (partition == nullptr) return Refusal{.code = RefusalCode::unknown_partition, .subject = printable(first)};
  if (!s.limit) {
    s.limit = partition->default_time > Duration{0} && !s.pod ? partition->default_time : partition->max_time;
  }
  if (auto refusal = check_times(s, now)) return *refusal;
  if (s.request.memory_rule == MemoryRule::proportional) {
    s.request.memory_rule = partition->memory_rule;
    s.request.memory = partition->memory;
  }
  if (s.array) {
    if (auto refusal = normalise(*s.array, settings)) return *refusal;
  }
  if (s.allocation || s.pod) s.requeue = false;
  if (!s.pod && s.request.cpus_per_task == 0) return invalid("cpus");
  if (auto refusal = check_first_step(s)) return *refusal;
  if (auto refusal = check_dependency(cluster, s.dependency, JobId{})) return *refusal;
  if (auto refusal = check_request(cluster, s.partitions, s.request, feasible)) {
    if (!s.pod || is_nonsense(refusal->code)) return *refusal;
  }
  const bool held = s.hold || s.priority == 0;
  s.hold = held;
  fact.priority = held ? 0 : s.priority.value_or(priority_for(s.nice));
  return fact;
}

Answer decide_submit(Facts& facts, const Asked& asked, const Submit& wish, const Feasible& feasible, Instant now) {
  const std::uint32_t owner = wish.as ? wish.as->uid : asked.caller.uid;
  if (!asked.key.empty()) {
    const JobId known = facts.cluster().job_of_key(owner, asked.key);
    if (known) return Reply{.job = known, .jobs = {known}};
  }
  if (wish.pod) return invalid("pod: it comes with its document");
  auto valid = validate_submit(facts.cluster(), asked.caller, wish, feasible, now);
  if (auto* refusal = std::get_if<Refusal>(&valid)) return std::move(*refusal);
  JobSubmitted fact = std::move(*std::get_if<JobSubmitted>(&valid));
  fact.key = asked.key;
  const JobId job = fact.job;
  facts.add(std::move(fact));
  return Reply{.job = job, .jobs = {job}};
}

}  // namespace drover
