// The native API over a real Unix socket: server, client, and plain HTTP as a person would send it.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "native/client.h"
#include "native/discovery.h"
#include "native/fake_service.h"
#include "native/query_params.h"
#include "native/rows.h"
#include "native/server.h"
#include "os/temp_folder.h"
#include "wire/http_server.h"

namespace drover::native {
namespace {

struct Cluster {
  Cluster() { begin(); }
  void begin(wire::Handler in_front = nullptr) {
    wire::ServerOptions options;
    options.at = wire::Endpoint::unix_socket(folder.path(std::string(kSocketName)));
    wire::Handler handler = [this](wire::Request&& request, const wire::Responder& responder) {
      api.handle(std::move(request), responder);
    };
    if (in_front) handler = std::move(in_front);
    auto started = wire::Server::start(options, handler);
    EXPECT_TRUE(started.has_value()) << started.error().message;
    server = std::move(started).value();
  }
  [[nodiscard]] Client client() const { return Client(folder.path(), {milliseconds(1000), seconds(5), seconds(10)}); }
  [[nodiscard]] wire::Response http(const wire::ClientRequest& request) const {
    wire::HttpClient plain(wire::Endpoint::unix_socket(folder.path(std::string(kSocketName))));
    return plain.call(request).value();
  }

  TempFolder folder;
  FakeService service;
  Server api{service, identify_local()};
  std::unique_ptr<wire::Server> server;
};

Wish a_submit() {
  Wish wish;
  Submit submit;
  submit.name = "train";
  wish.command = submit;
  wish.spec = JobSpec{};
  wish.script = "#!/bin/sh\n";
  wish.environment = std::string("A=\xff\0B=2", 8);
  return wish;
}

api::JobView a_view(std::uint64_t id) {
  api::JobView view;
  view.id = JobId(id);
  view.uid = ::getuid();
  view.name = "job" + std::to_string(id);
  view.phase = Phase::ended;
  view.request.gpus_per_node = {{"a100", 2}};
  return view;
}

TEST(Native, ASubmitArrivesWholeWithTheCallersName) {
  Cluster cluster;
  const auto answer = cluster.client().execute(a_submit());
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(std::get<Reply>(*answer).job, JobId(1));
  const api::Execute& wish = cluster.service.wishes.at(0);
  EXPECT_EQ(wish.caller.uid, ::getuid());
  EXPECT_FALSE(wish.caller.user.empty());
  EXPECT_EQ(wish.script, "#!/bin/sh\n");
  EXPECT_EQ(wish.environment, std::string("A=\xff\0B=2", 8)) << "bytes that JSON could not carry";
  EXPECT_EQ(std::get<Submit>(wish.command).name, "train");
  EXPECT_EQ(wish.key.size(), 32U);
}

TEST(Native, ASubmitInJsonWorksToo) {
  Cluster cluster;
  const auto response = cluster.http({"POST", "/v1/commands", {{"Idempotency-Key", "k1"}}, "application/json",
                                      R"({"command":{"submit":{"name":"x"}},"spec":{},"script":"#!/bin/sh\n"})"});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"reply":{"job":1,"jobs":[],"refusals":[],"version":0}})");
  EXPECT_EQ(cluster.service.wishes.at(0).key, "k1");
}

TEST(Native, MistakesGetAStatusAndOneLine) {
  Cluster cluster;
  const auto error = [&](const wire::ClientRequest& request) {
    const auto response = cluster.http(request);
    return std::to_string(response.status) + " " + response.body;
  };
  const std::string json = "application/json";
  EXPECT_EQ(error({"POST", "/v1/commands", {}, json, R"({"command":{"submit":{"nam":1}}})"}),
            "400 {\"error\":{\"code\":\"invalid\",\"message\":\"command.submit: unknown field 'nam'; "
            "did you mean 'name'?\"}}\n");
  EXPECT_EQ(error({"POST", "/v1/commands", {}, json, R"({"command":{"submit":{}}})"}).substr(0, 4), "400 ");
  EXPECT_EQ(error({"POST", "/v1/commands", {}, "text/plain", "{}"}).substr(0, 4), "400 ");
  EXPECT_EQ(error({"POST", "/v1/commands", {{"Idempotency-Key", "a"}}, json,
                   R"({"key":"b","command":{"cancel":{}}})"}).substr(0, 4), "400 ");
  EXPECT_EQ(error({"POST", "/v1/commands", {}, std::string(kProtoType), "\xff\xff"}).substr(0, 4), "400 ");
  EXPECT_EQ(error({"GET", "/v1/nothing"}).substr(0, 4), "404 ");
  EXPECT_EQ(error({"GET", "/v1/jobs/../x"}).substr(0, 4), "400 ");
  EXPECT_EQ(error({"DELETE", "/v1/jobs"}).substr(0, 4), "405 ");
  EXPECT_EQ(error({"GET", "/v1/jobs?usr=ann"}),
            "400 {\"error\":{\"code\":\"invalid\",\"message\":\"unknown parameter 'usr'; did you mean 'user'?\"}}\n");
  EXPECT_EQ(error({"GET", "/v1/jobs?fields=id,nam"}),
            "400 {\"error\":{\"code\":\"invalid\",\"message\":\"fields: unknown field 'nam'; "
            "did you mean 'name'?\"}}\n");
  EXPECT_EQ(error({"GET", "/v1/jobs/99"}).substr(0, 4), "404 ");
  EXPECT_TRUE(cluster.service.wishes.empty());
}

TEST(Native, ARefusalComesBackAsAValueAndAsAStatus) {
  Cluster cluster;
  const Refusal refusal{RefusalCode::too_many_gpus, "a100", {{"gpus", 8, 9}}, "8 x a100 per node"};
  cluster.service.refuse = refusal;
  EXPECT_EQ(std::get<Refusal>(cluster.client().execute(a_submit()).value()), refusal);
  cluster.service.refuse = refusal;
  const auto response = cluster.http({"POST", "/v1/commands", {}, "application/json",
                                      R"({"command":{"submit":{}},"spec":{}})"});
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("no node has so many such GPUs (a100); gpus: 8, asked 9; nearest that fits: 8 x a100"),
            std::string::npos) << response.body;
}

TEST(Native, ABusyControllerSaysWhenToComeBackAndTheClientDoes) {
  Cluster cluster;
  cluster.service.refuse = Refusal{RefusalCode::overloaded, {}, {}, {}};
  const auto response = cluster.http({"POST", "/v1/commands", {}, "application/json",
                                      R"({"command":{"submit":{}},"spec":{}})"});
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.header("Retry-After"), "1");
  cluster.service.refuse = Refusal{RefusalCode::overloaded, {}, {}, {}};
  EXPECT_TRUE(std::holds_alternative<Reply>(cluster.client().execute(a_submit()).value()));
}

TEST(Native, ABrokenConnectionUnderASubmitMakesOneJob) {
  Cluster cluster;
  cluster.server->stop();
  std::atomic<int> cut{2};
  // Takes the wish, then dies without a word, twice; the third time it answers.
  cluster.begin([&](wire::Request&& request, const wire::Responder& responder) {
    if (cut-- > 0) {
      wire::Responder(responder).stream(200, "text/plain").abort();
      Wish wish = decode<Wish>(request.body).value();
      cluster.service.execute({{}, wish.key, wish.command, wish.spec, {}, {}}, [](const api::Answer&) {});
      return;
    }
    cluster.api.handle(std::move(request), responder);
  });
  const auto answer = cluster.client().execute(a_submit());
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(std::get<Reply>(*answer).job, JobId(1));
  EXPECT_EQ(cluster.service.keys.size(), 1U);
  EXPECT_EQ(cluster.service.wishes.size(), 3U);
}

TEST(Native, ACancelThatMayHaveArrivedIsNotSentAgain) {
  Cluster cluster;
  cluster.server->stop();
  std::atomic<int> calls{0};
  cluster.begin([&](wire::Request&&, const wire::Responder& responder) {
    ++calls;
    responder.stream(200, "text/plain").abort();
  });
  Wish wish;
  wish.command = Cancel{};
  EXPECT_FALSE(cluster.client().execute(wish).has_value());
  EXPECT_EQ(calls, 1);
}

TEST(Native, AControllerThatIsBeingStartedAgainIsWaitedFor) {
  Cluster cluster;
  cluster.server->stop();
  std::thread later([&] {
    ::usleep(200'000);
    cluster.begin();
  });
  EXPECT_TRUE(cluster.client().execute(a_submit()).has_value());
  later.join();
  cluster.server->stop();
  const auto nobody = Client(cluster.folder.path(), {milliseconds(100), seconds(1), seconds(1)}).ping();
  ASSERT_FALSE(nobody.has_value());
  EXPECT_EQ(nobody.error().code, Errc::unavailable);
  EXPECT_EQ(nobody.error().message.substr(0, 24), "no controller answers: u");
}

TEST(Native, ListsCarryTheFieldsThatWereAskedFor) {
  Cluster cluster;
  for (std::uint64_t id = 1; id <= 3000; ++id) cluster.service.views.push_back(a_view(id));
  api::JobQuery query;
  query.fields = {1, 35};
  query.select.users = {"ann"};
  query.limit = 7;
  std::vector<api::JobView> seen;
  const auto header = cluster.client().jobs(query, [&](api::JobView& view) { seen.push_back(view); });
  ASSERT_TRUE(header.has_value()) << header.error().message;
  EXPECT_EQ(header->position, 42U);
  ASSERT_EQ(seen.size(), 3000U);
  EXPECT_EQ(seen[2999].id, JobId(3000));
  EXPECT_EQ(seen[2999].request.gpus_per_node.at(0).model, "a100");
  EXPECT_EQ(seen[2999].name, "");
  EXPECT_EQ(cluster.service.last_query.select.users, query.select.users);
  EXPECT_EQ(cluster.service.last_query.limit, 7U);
}

TEST(Native, ListsInJsonAreForPeople) {
  Cluster cluster;
  cluster.service.views = {a_view(1), a_view(2)};
  EXPECT_EQ(cluster.http({"GET", "/v1/jobs?fields=id,name&user=ann,bob&phase=running&id=1_3,2"}).body,
            "{\"jobs\":[{\"id\":1,\"name\":\"job1\"},{\"id\":2,\"name\":\"job2\"}],"
            "\"header\":{\"now\":1000,\"position\":42,\"unknown\":[]}}\n");
  EXPECT_EQ(cluster.service.last_query.select.users, (std::vector<std::string>{"ann", "bob"}));
  EXPECT_EQ(cluster.service.last_query.select.jobs.at(0).tasks.at(0).first, 3U);
  EXPECT_EQ(cluster.service.last_query.select.phases.at(0), Phase::running);
  EXPECT_EQ(cluster.http({"GET", "/v1/jobs/2?fields=id"}).body.substr(0, 18), "{\"jobs\":[{\"id\":2}]");
}

TEST(Native, NodesPartitionsHistoryStatusAndPlanComeThrough) {
  Cluster cluster;
  Client client = cluster.client();
  std::string names;
  ASSERT_TRUE(client.nodes([&](api::NodeView& view) { names += view.node.inventory.name; }).has_value());
  ASSERT_TRUE(client.partitions([&](api::PartitionView& view) { names += view.partition.name; }).has_value());
  EXPECT_EQ(names, "n1main");
  HistoryRow row;
  row.job = JobId(9);
  row.exit.code = 42;
  cluster.service.rows = {row};
  HistoryQuery query;
  query.users = {"ann"};
  query.ended_as = {Cause::failed};
  query.since = Instant(Duration(5));
  EXPECT_EQ(client.history(query).value().at(0), row);
  EXPECT_EQ(cluster.service.last_history.ended_as, query.ended_as);
  EXPECT_EQ(cluster.http({"GET", "/v1/history?ended_as=failed&since_ms=5&all_attempts=true"}).status, 200);
  EXPECT_TRUE(cluster.service.last_history.all_attempts);
  EXPECT_EQ(client.overview().value().cluster_id, "c1");
  EXPECT_TRUE(client.ping().has_value());
  EXPECT_EQ(std::get<api::WouldStart>(client.would_start(a_submit()).value()).nodes.at(0), "n1");
  EXPECT_NE(cluster.http({"GET", "/v1/status"}).body.find("\"cluster_id\":\"c1\""), std::string::npos);
}

TEST(Native, AWaitEndsWhenTheJobDoesAndGoesOnUntilThen) {
  Cluster cluster;
  std::atomic<bool> ready{false};
  std::thread waiter([&] {
    const auto views = cluster.client().wait_ended(JobId(1));
    ASSERT_TRUE(views.has_value()) << views.error().message;
    EXPECT_EQ(views->at(0).id, JobId(1));
    ready = true;
  });
  const auto next = [&](std::size_t count) {
    for (int i = 0; i < 1000 && cluster.service.waiting.size() < count; ++i) ::usleep(5'000);
    return cluster.service.waiting.at(count - 1);
  };
  api::JobView running = a_view(1);
  running.phase = Phase::running;
  next(1)({running});  // patience is over
  next(2)({a_view(1)});
  waiter.join();
  EXPECT_TRUE(ready);
  std::thread unknown([&] { EXPECT_EQ(cluster.client().wait_ended(JobId(2)).error().code, Errc::not_found); });
  next(3)({});
  unknown.join();
}

TEST(Native, ScriptsAreForTheirOwnerAlone) {
  Cluster cluster;
  PayloadHash hash;
  hash.words = {1, 2, 3, 4};
  cluster.service.payloads[hash] = "#!/bin/sh\nsecret\n";
  api::JobView view = a_view(1);
  view.spec = JobSpec{};
  view.spec->script = hash;
  cluster.service.views = {view};
  Client client = cluster.client();
  EXPECT_EQ(client.script(JobId(1)).value(), "#!/bin/sh\nsecret\n");
  EXPECT_EQ(client.environment(JobId(1)).error().code, Errc::not_found);
  EXPECT_EQ(client.script(JobId(2)).error().code, Errc::not_found);

  // The same, as somebody else sees it.
  const auto nobody = [](const wire::Peer&) -> Result<Caller> { return Caller{65534, 65534, "x", "x"}; };
  const Server stranger(cluster.service, nobody);
  cluster.server->stop();
  cluster.begin([&](wire::Request&& request, const wire::Responder& responder) {
    stranger.handle(std::move(request), responder);
  });
  EXPECT_EQ(cluster.client().script(JobId(1)).error().code, Errc::denied);
}

TEST(Native, NobodyIsKnownOverTcp) {
  wire::Peer peer;
  peer.address = "127.0.0.1:1";
  EXPECT_EQ(identify_local()(peer).error().code, Errc::denied);
}

TEST(RowCutter, GivesTheSameRowsHoweverTheStreamIsCut) {
  std::string list;
  for (std::uint64_t id = 1; id <= 50; ++id) append_row(list, a_view(id));
  for (const std::size_t step : {1U, 2U, 7U, 1000U, 100'000U}) {
    RowCutter cutter;
    std::uint64_t next = 1;
    for (std::size_t i = 0; i < list.size(); i += step) {
      ASSERT_TRUE(cutter.feed(std::string_view(list).substr(i, step), [&](std::string_view bytes) -> Status {
        EXPECT_EQ(decode<api::JobView>(bytes).value().id, JobId(next++));
        return Done{};
      }).has_value());
    }
    EXPECT_EQ(next, 51U);
    EXPECT_TRUE(cutter.at_border());
  }
  RowCutter small(10);
  EXPECT_FALSE(small.feed(list, [](std::string_view) -> Status { return Done{}; }).has_value());
  RowCutter broken;
  EXPECT_FALSE(broken.feed("\xff\xff\xff\xff\xff\xff", [](std::string_view) -> Status { return Done{}; }).has_value());
}

TEST(Native, TheStateFolderOfTheEnvironmentIsTheCluster) {
  ::setenv("DROVER_STATE", "/x/y", 1);
  EXPECT_EQ(Client::connect().value().state_folder(), "/x/y");
  ::unsetenv("DROVER_STATE");
}

TEST(Native, StepsAreListedAndAskedForByJobStepAndUser) {
  Cluster cluster;
  api::StepView view{.job = JobId(17), .number = 1, .name = "train", .phase = StepPhase::running};
  view.shares.push_back({.share = {.node = "n1"}, .tasks = {{.first = 0, .last = 3}}, .stream_path = "/run/x"});
  cluster.service.step_views = {view};
  std::vector<api::StepView> found;
  const api::StepQuery query{.jobs = {{.job = JobId(17)}}, .step = 0, .users = {"ada"}};
  const auto header = cluster.client().steps(query, [&](api::StepView& v) { found.push_back(v); });
  ASSERT_TRUE(header.has_value()) << header.error().message;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].shares.at(0).stream_path, "/run/x");
  EXPECT_EQ(cluster.service.last_steps.step, 0U);

  const auto text = cluster.http({"GET", "/v1/steps?job=17,18&step=0&user=ada", {}, {}, {}});
  EXPECT_EQ(text.status, 200);
  EXPECT_NE(text.body.find("\"name\":\"train\""), std::string::npos) << text.body;
  EXPECT_EQ(cluster.service.last_steps.jobs.size(), 2U);
  EXPECT_EQ(cluster.service.last_steps.step, 0U);
  EXPECT_EQ(cluster.service.last_steps.users, (std::vector<std::string>{"ada"}));
  EXPECT_EQ(cluster.http({"GET", "/v1/steps?jobs=17", {}, {}, {}}).status, 400);
}

TEST(Native, AStepIsSentAgainWithItsKeyAndItsSpec) {
  Cluster cluster;
  Wish wish;
  wish.command = CreateStep{.job = JobId(17), .step = {.name = "train"}};
  wish.step_spec = StepSpec{.door = "slurm"};
  ASSERT_TRUE(cluster.client().execute(wish).has_value());
  EXPECT_FALSE(cluster.service.wishes.at(0).key.empty());
  EXPECT_EQ(cluster.service.wishes.at(0).step_spec->door, "slurm");
}

TEST(Native, WaitsForAStartAndKeepsAnAllocation) {
  Cluster cluster;
  std::thread waiter([&] {
    const auto views = cluster.client().wait_started(JobId(1), seconds(30));
    ASSERT_TRUE(views.has_value()) << views.error().message;
    EXPECT_EQ(views->at(0).phase, Phase::running);
  });
  const auto asked = [&](std::size_t count) {
    for (int i = 0; i < 1000 && cluster.service.waiting_for_start.size() < count; ++i) ::usleep(5'000);
    return cluster.service.waiting_for_start.at(count - 1);
  };
  api::JobView view = a_view(1);
  view.phase = Phase::placed;
  asked(1)({view});
  view.phase = Phase::running;
  asked(2)({view});
  waiter.join();
  EXPECT_LE(cluster.service.last_patience, milliseconds(2500));
  EXPECT_EQ(cluster.http({"GET", "/v1/jobs/1/wait?for=lunch", {}, {}, {}}).status, 400);

  const auto kept = cluster.client().keep(JobId(1));
  ASSERT_TRUE(kept.has_value()) << kept.error().message;
  EXPECT_EQ(std::get<Reply>(*kept).job, JobId(1));
  cluster.service.refuse = Refusal{.code = RefusalCode::already_ended};
  const auto refused = cluster.client().keep(JobId(1));
  ASSERT_TRUE(refused.has_value()) << refused.error().message;
  EXPECT_EQ(std::get<Refusal>(*refused).code, RefusalCode::already_ended);
  EXPECT_EQ(cluster.service.kept.size(), 2U);
}

}  // namespace
}  // namespace drover::native
