// A service without a cluster, for tests of the native API: answers from tables, counts wishes.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/service.h"

namespace drover::native {

class FakeService : public api::Service {
 public:
  std::vector<api::Execute> wishes;
  std::map<std::string, JobId> keys;  // of submits, as the core remembers them
  std::vector<api::JobView> views;
  std::vector<HistoryRow> rows;
  std::map<PayloadHash, std::string> payloads;
  std::optional<Refusal> refuse;
  std::vector<std::function<void(std::vector<api::JobView>)>> waiting;
  std::vector<std::function<void(std::vector<api::JobView>)>> waiting_for_start;
  std::vector<api::StepView> step_views;
  std::vector<JobId> kept;
  Duration last_patience{0};
  api::StepQuery last_steps;
  api::JobQuery last_query;
  HistoryQuery last_history;

  void execute(api::Execute wish, std::function<void(api::Answer)> done) override {
    wishes.push_back(wish);
    if (refuse) {
      done(*std::exchange(refuse, std::nullopt));
      return;
    }
    Reply reply;
    const auto it = keys.find(wish.key);
    reply.job = it != keys.end() ? it->second : JobId(keys.size() + 1);
    keys[wish.key] = reply.job;
    done(reply);
  }
  api::ListHeader jobs(const api::JobQuery& query, const std::function<void(const api::JobView&)>& visit) override {
    last_query = query;
    api::ListHeader header{Instant(Duration(1000)), 42, {}};
    for (const JobRef& ref : query.select.jobs) {
      const bool known = std::ranges::any_of(views, [&](const api::JobView& view) { return view.id == ref.job; });
      if (!known) header.unknown.push_back(ref);
    }
    for (const api::JobView& view : views) {
      const auto& asked = query.select.jobs;
      const bool named =
          asked.empty() || std::ranges::any_of(asked, [&](const JobRef& ref) { return ref.job == view.id; });
      if (named) visit(view);
    }
    return header;
  }
  api::ListHeader nodes(const std::function<void(const api::NodeView&)>& visit) override {
    api::NodeView view;
    view.node.inventory.name = "n1";
    visit(view);
    return {};
  }
  api::ListHeader partitions(const std::function<void(const api::PartitionView&)>& visit) override {
    api::PartitionView view;
    view.partition.name = "main";
    visit(view);
    return {};
  }
  Result<std::vector<HistoryRow>> history(const HistoryQuery& query) override {
    last_history = query;
    return rows;
  }
  api::Overview overview() override {
    api::Overview overview;
    overview.cluster_id = "c1";
    overview.position = 42;
    return overview;
  }
  Result<std::string> payload(const PayloadHash& hash) override {
    const auto it = payloads.find(hash);
    if (it == payloads.end()) return Error{Errc::not_found, "no such payload"};
    return it->second;
  }
  std::variant<api::WouldStart, Refusal> would_start(const api::Execute&) override {
    return api::WouldStart{Instant(Duration(5)), "main", {"n1"}, 4};
  }
  void wait_ended(JobId, Duration, std::function<void(std::vector<api::JobView>)> done) override {
    waiting.push_back(std::move(done));
  }
  void wait_started(JobId, Duration patience, std::function<void(std::vector<api::JobView>)> done) override {
    last_patience = patience;
    waiting_for_start.push_back(std::move(done));
  }
  api::ListHeader steps(const api::StepQuery& query, const std::function<void(const api::StepView&)>& visit) override {
    last_steps = query;
    for (const api::StepView& view : step_views) visit(view);
    return {};
  }
  void observe(api::Observer&, const std::function<void(const Cluster&, Instant)>& begin) override {
    begin(Cluster{}, Instant{});
  }
  [[nodiscard]] api::Waits why_waiting(const Cluster&, JobId) override { return {}; }
  void read(const std::function<void(const Cluster&, Instant)>& visit) override { visit(Cluster{}, Instant{}); }
  std::optional<Refusal> keep(const Caller&, JobId job) override {
    kept.push_back(job);
    return std::exchange(refuse, std::nullopt);
  }
};

}  // namespace drover::native
