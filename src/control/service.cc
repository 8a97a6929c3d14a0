#include "control/service.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/proto.h"
#include "control/accounts.h"
#include "control/past.h"
#include "domain/may.h"
#include "domain/select.h"
#include "engine/explain.h"
#include "engine/what_if.h"

namespace drover::control {
namespace {

constexpr std::size_t kRowsALock = 512;  // of a list, between two chances for the follower
constexpr std::uint32_t kSpecField = 41;
constexpr std::size_t kFactsReplayed = 20'000;  // as many changes as the Kubernetes door keeps of a resource

api::Answer answered(const StepAnswer& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return *refusal;
  if (const auto* reply = std::get_if<Reply>(&answer)) return *reply;
  return Reply{};
}

// The step that a wish makes; nullptr: none.
StepWish* step_in(Command& command) {
  if (auto* create = std::get_if<CreateStep>(&command)) return &create->step;
  auto* submit = std::get_if<Submit>(&command);
  return submit != nullptr && submit->first_step ? &*submit->first_step : nullptr;
}

// The job that a wish makes; nullptr: none.
Submit* submit_in(Command& command) {
  if (auto* put = std::get_if<PutDocument>(&command)) return put->job ? &*put->job : nullptr;
  return std::get_if<Submit>(&command);
}

// Hashes the bodies of a wish, names them in it, and hands them over to be stored with its fact.
void attach(api::Execute& wish, std::vector<store::Payload>& payloads, Payloads& cache) {
  const auto add = [&](std::string bytes) {
    const PayloadHash hash = hash_of(bytes);
    cache.remember(hash, bytes);
    payloads.push_back({.hash = to_store(hash), .bytes = std::move(bytes)});
    return hash;
  };
  if (StepWish* step = step_in(wish.command)) step->spec = add(encode(*wish.step_spec));
  Submit* submit = submit_in(wish.command);
  if (auto* put = std::get_if<PutDocument>(&wish.command)) put->body = add(std::move(wish.document));
  if (submit == nullptr) return;
  wish.spec->script = add(std::move(wish.script));
  wish.spec->environment = add(std::move(wish.environment));
  submit->spec = add(encode(*wish.spec));
}

}  // namespace

void LiveService::execute(api::Execute wish, std::function<void(api::Answer)> done) {
  const bool submits = submit_in(wish.command) != nullptr;
  const bool makes_step = step_in(wish.command) != nullptr;
  const bool stores = std::holds_alternative<PutDocument>(wish.command);
  if ((submits || makes_step || stores) && log_.space().low) {
    done(Refusal{.code = RefusalCode::no_space, .subject = options_.state_dir});
    return;
  }
  if ((submits && !wish.spec) || (makes_step && !wish.step_spec)) {
    done(Refusal{.code = RefusalCode::invalid_request, .subject = makes_step && wish.spec ? "step_spec" : "spec"});
    return;
  }
  Work work;
  attach(wish, work.payloads, payloads_);
  work.input = Asked{.caller = std::move(wish.caller), .key = std::move(wish.key), .command = std::move(wish.command)};
  work.done = [done](const StepAnswer& answer) { done(answered(answer)); };
  if (!driver_.push(std::move(work))) done(Refusal{.code = RefusalCode::overloaded});
}

api::ListHeader LiveService::jobs(const api::JobQuery& query, const std::function<void(const api::JobView&)>& visit) {
  const api::Fields fields(query.fields);
  const bool with_spec = !query.fields.empty() && fields.has(kSpecField);
  api::ListHeader header;
  std::vector<JobId> named;
  follower_.read([&](const Cluster& cluster, Instant now, std::uint64_t position) {
    header.now = now;
    header.position = position;
    std::set<JobId> ids;
    for (const JobRef& ref : query.select.jobs) {
      const std::vector<JobId> records = records_of(cluster, ref);
      if (records.empty()) header.unknown.push_back(ref);
      ids.insert(records.begin(), records.end());
    }
    named.assign(ids.begin(), ids.end());
  });
  std::vector<api::JobView> views;
  std::uint32_t count = 0;
  JobId from;
  std::size_t next = 0;
  const bool all = query.select.jobs.empty();
  for (bool more = true; more;) {
    views.clear();
    more = follower_.read([&](const Cluster& cluster, Instant, std::uint64_t) {
      for (std::size_t i = 0; i < kRowsALock; ++i) {
        const Job* job = nullptr;
        if (all) {
          job = cluster.jobs().first_from(from);
          if (job == nullptr) return false;
          from = JobId(job->id.value() + 1);
        } else {
          if (next == named.size()) return false;
          job = cluster.job(named[next++]);
        }
        if (job == nullptr || !drover::passes(cluster, *job, query.select)) continue;
        if (query.limit != 0 && count == query.limit) return false;
        ++count;
        views.push_back(api::job_view(cluster, *job, fields));
      }
      return true;
    });
    for (api::JobView& view : views) {
      if (with_spec) {
        if (auto spec = payloads_.spec(view.spec_hash)) view.spec = *std::move(spec);
      }
      visit(view);
    }
  }
  return header;
}

api::ListHeader LiveService::steps(const api::StepQuery& query,
                                   const std::function<void(const api::StepView&)>& visit) {
  return follower_.read([&](const Cluster& cluster, Instant now, std::uint64_t position) {
    api::ListHeader header{.now = now, .position = position};
    std::set<JobId> named;
    for (const JobRef& ref : query.jobs) {
      const std::vector<JobId> records = records_of(cluster, ref);
      if (records.empty()) header.unknown.push_back(ref);
      named.insert(records.begin(), records.end());
    }
    const auto list = [&](const Job& job, const JobSteps& of) {
      const auto& users = query.users;
      if (!users.empty() && std::ranges::find(users, cluster.text(job.user)) == users.end()) return;
      for (const auto& [number, step] : of.steps) {
        if (!query.step || *query.step == number) visit(api::step_view(cluster, job, step));
      }
    };
    if (!query.jobs.empty()) {
      for (const JobId id : named) list(cluster.jobs().at(id), cluster.steps(id));
      return header;
    }
    for (const auto& [id, of] : cluster.all_steps()) {
      const Job& job = cluster.jobs().at(id);
      if (job.active()) list(job, of);
    }
    return header;
  });
}

api::ListHeader LiveService::nodes(const std::function<void(const api::NodeView&)>& visit) {
  const std::map<NodeId, api::NodePulse> pulses = options_.pulses();
  return follower_.read([&](const Cluster& cluster, Instant now, std::uint64_t position) {
    for (const Node& node : cluster.nodes()) {
      const auto pulse = pulses.find(node.id);
      visit(api::node_view(cluster, node, pulse == pulses.end() ? api::NodePulse{} : pulse->second));
    }
    return api::ListHeader{.now = now, .position = position};
  });
}

api::ListHeader LiveService::partitions(const std::function<void(const api::PartitionView&)>& visit) {
  return follower_.read([&](const Cluster& cluster, Instant now, std::uint64_t position) {
    for (const Partition& partition : cluster.config().partitions) visit(api::partition_view(cluster, partition));
    return api::ListHeader{.now = now, .position = position};
  });
}

// The accounts' file knows ended attempts; what waits or runs comes from the cluster.
Result<std::vector<HistoryRow>> LiveService::history(const HistoryQuery& query) {
  std::vector<HistoryRow> rows = TRY(ledger_.query(query));
  TRY(add_live_rows(query, rows));
  return rows;
}

Status LiveService::add_live_rows(const HistoryQuery& query, std::vector<HistoryRow>& rows) {
  std::vector<HistoryRow> live;
  std::set<JobId> going_on;
  follower_.read([&](const Cluster& cluster, Instant, std::uint64_t) {
    cluster.jobs().each([&](const Job& job) {
      if (job.phase == Phase::ended) return;
      going_on.insert(job.id);
      HistoryRow row = history_row(cluster, job, payloads_);
      if (!drover::passes(row, query)) return;
      for (const auto& [number, step] : cluster.steps(job.id).steps) {
        if (query.steps && job.active()) row.steps.push_back(step_row(cluster, job, step));
      }
      live.push_back(std::move(row));
    });
  });
  // Of a job that goes on, most steps that are over stand in the file alone.
  for (HistoryRow& row : live) {
    if (!query.steps || row.phase == Phase::waiting) continue;
    std::map<std::uint32_t, StepRow> steps;
    for (StepRow& step : TRY(ledger_.steps(row.job, row.restarts))) {
      const std::uint32_t number = step.number;
      steps.insert_or_assign(number, std::move(step));
    }
    for (StepRow& step : row.steps) steps.insert_or_assign(step.number, std::move(step));
    row.steps.clear();
    for (auto& [number, step] : steps) row.steps.push_back(std::move(step));
  }
  if (!query.all_attempts) std::erase_if(rows, [&](const HistoryRow& row) { return going_on.contains(row.job); });
  std::ranges::move(live, std::back_inserter(rows));
  std::ranges::stable_sort(rows, {}, [](const HistoryRow& row) { return std::pair(row.job, row.restarts); });
  if (query.limit != 0 && rows.size() > query.limit) rows.resize(query.limit);
  return Done{};
}

api::Overview LiveService::overview() {
  api::Overview o{.cluster_id = options_.cluster_id,
                  .version = options_.version,
                  .started = options_.started,
                  .epoch = options_.epoch,
                  .host = options_.host,
                  .state_dir = options_.state_dir,
                  .low_space = log_.space().low};
  follower_.read([&](const Cluster& cluster, Instant now, std::uint64_t position) {
    o.config = cluster.config();
    o.now = now;
    o.position = position;
    o.nodes = static_cast<std::uint32_t>(cluster.nodes().size());
    for (const Node& node : cluster.nodes()) o.nodes_up += node.contact == Contact::up ? 1 : 0;
    cluster.jobs().each([&](const Job& job) {
      if (job.phase == Phase::waiting) o.jobs_waiting += job.pending ? job.pending->count() : 1;
      if (job.active()) ++o.jobs_active;
    });
  });
  return o;
}

Result<std::string> LiveService::payload(const PayloadHash& hash) { return *TRY(payloads_.get(hash)); }

std::variant<api::WouldStart, Refusal> LiveService::would_start(const api::Execute& wish) {
  const auto* submit = std::get_if<Submit>(&wish.command);
  if (submit == nullptr) return Refusal{.code = RefusalCode::invalid_request, .subject = "command"};
  using Answer = std::variant<api::WouldStart, Refusal>;
  return follower_.read([&](const Cluster& cluster, Instant now, std::uint64_t) -> Answer {
    const auto would = engine::what_if_submitted(cluster, wish.caller, *submit, now);
    if (const auto* refusal = std::get_if<Refusal>(&would)) return *refusal;
    const auto& start = std::get<engine::WouldStart>(would);
    api::WouldStart view{.at = start.at, .partition = start.partition};
    for (const NodeShare& share : start.placement.shares) {
      view.nodes.push_back(cluster.node(share.node).name());
      view.cpus += share.cpus.count();
    }
    return view;
  });
}

void LiveService::wait_ended(JobId job, Duration patience, std::function<void(std::vector<api::JobView>)> done) {
  follower_.wait(job, Follower::Until::ended, patience, std::move(done));
}

void LiveService::wait_started(JobId job, Duration patience, std::function<void(std::vector<api::JobView>)> done) {
  follower_.wait(job, Follower::Until::started, patience, std::move(done));
}

void LiveService::observe(api::Observer& observer, const std::function<void(const Cluster&, Instant)>& begin) {
  follower_.observe(observer, [&](const Cluster& cluster, Instant now, std::uint64_t position) {
    auto past = past_of(log_, position, kFactsReplayed);
    if (!past) {  // readers from before the start are told what is left of it
      options_.say("what happened lately can't be told again: " + past.error().message);
      return begin(cluster, now);
    }
    begin(past->cluster, past->at);
    for (const Past::Group& group : past->groups) {
      for (const Event& fact : group.facts) past->cluster.apply(fact);
      if (!group.facts.empty()) observer.changed(past->cluster, group.at, group.facts);
    }
  });
}

api::Waits LiveService::why_waiting(const Cluster& cluster, JobId id) {
  api::Waits waits;
  const Job* job = cluster.job(id);
  if (job == nullptr || job->phase != Phase::waiting) return waits;
  engine::Obstacles all = engine::obstacles_of(cluster, *job);
  waits.nodes = all.nodes;
  waits.fitting = all.fitting;
  for (engine::Obstacle& one : all.list) {
    waits.obstacles.push_back({.refusal = std::move(one.refusal), .nodes = one.nodes});
  }
  return waits;
}

void LiveService::read(const std::function<void(const Cluster&, Instant)>& visit) {
  follower_.read([&](const Cluster& cluster, Instant now, std::uint64_t) { visit(cluster, now); });
}

std::optional<Refusal> LiveService::keep(const Caller& caller, JobId id) {
  const auto refused = follower_.read([&](const Cluster& cluster, Instant, std::uint64_t) -> std::optional<Refusal> {
    const Job* job = cluster.job(id);
    if (job == nullptr) return Refusal{.code = RefusalCode::unknown_job, .subject = std::to_string(id.value())};
    if (!may(cluster, caller, Verb::change_job, job->uid)) return Refusal{.code = RefusalCode::not_permitted};
    if (job->phase == Phase::ended) return Refusal{.code = RefusalCode::already_ended};
    if (job->allocation) return std::nullopt;
    return Refusal{.code = RefusalCode::invalid_request, .subject = "the job is no allocation"};
  });
  if (!refused) options_.heard(id);
  return refused;
}

}  // namespace drover::control
