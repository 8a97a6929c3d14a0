#include "native/server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <string>
#include <utility>

#include "base/overload.h"
#include "base/text.h"
#include "native/ask.h"
#include "native/query_params.h"

namespace drover::native {
namespace {

constexpr std::size_t kMaxKey = 128;

// The wish in a request: body, key and caller.
Result<api::Execute> wish_of(const Ask& ask) {
  Wish wish = TRY(read_body<Wish>(ask.request));
  const std::string_view key = ask.request.header("Idempotency-Key");
  if (!key.empty() && !wish.key.empty() && key != wish.key) {
    return Error{Errc::invalid, "Idempotency-Key and the body's key differ"};
  }
  if (!key.empty()) wish.key = key;
  const bool clean = std::ranges::all_of(wish.key, [](char c) { return c > ' ' && c < 0x7f; });
  if (wish.key.size() > kMaxKey || !clean) {
    return Error{Errc::invalid, "the key is longer than 128 characters or has others than letters, digits and signs"};
  }
  if (std::holds_alternative<Submit>(wish.command) && !wish.spec) {
    return Error{Errc::invalid, "spec: a submit needs the job's spec"};
  }
  return api::Execute{ask.caller,           std::move(wish.key),         std::move(wish.command),
                      std::move(wish.spec), std::move(wish.script),      std::move(wish.environment),
                      std::move(wish.step_spec)};
}

}  // namespace

class Server::Routes : public std::enable_shared_from_this<Server::Routes> {
 public:
  Routes(api::Service& service, Identify identify, ServerLimits limits)
      : service_(service), identify_(std::move(identify)), limits_(limits) {}

  void handle(wire::Request&& request, const wire::Responder& responder) {
    const bool proto = wants_proto(request);
    if (const Status status = serve(std::move(request), responder); !status) {
      answer_error(responder, proto, status.error());
    }
  }

 private:
  struct Route {
    std::string_view method;
    std::string_view path;  // "*" matches one segment
    Status (Routes::*serve)(Ask& ask);
  };
  static const std::array<Route, 17> kRoutes;

  Status serve(wire::Request&& request, const wire::Responder& responder) {
    Ask ask{std::move(request), {}, responder, {}, false};
    ask.proto = wants_proto(ask.request);
    ask.target = TRY(wire::parse_target(ask.request.target));
    ask.caller = TRY(identify_(ask.request.peer));
    bool other_method = false;
    for (const Route& route : kRoutes) {
      if (!matches(route.path, ask.target.path)) continue;
      const bool head = ask.request.method == "HEAD" && route.method == "GET";
      if (route.method == ask.request.method || head) return (this->*route.serve)(ask);
      other_method = true;
    }
    if (other_method) {
      responder.answer(wire::text_answer(405, "this address does not take that method\n"));
      return Done{};
    }
    return Error{Errc::not_found, "there is no " + printable(ask.request.target)};
  }

  static bool matches(std::string_view pattern, const std::vector<std::string>& path) {
    const auto parts = split(pattern, '/');
    return std::ranges::equal(parts, path, [](std::string_view part, const std::string& segment) {
      return part == "*" || part == segment;
    });
  }

  Status ping(Ask& ask) {
    answer_bytes(ask.responder, 200, kJsonType, wire::bytes("{\"status\":\"ok\"}\n"));
    return Done{};
  }

  Status status(Ask& ask) {
    answer_value(ask.responder, ask.proto, service_.overview());
    return Done{};
  }

  Status command(Ask& ask) {
    service_.execute(TRY(wish_of(ask)), [responder = ask.responder, proto = ask.proto](const api::Answer& answer) {
      std::visit(Overload{[&](const Reply& reply) {
                            AnswerBody body;
                            body.reply = reply;
                            answer_value(responder, proto, body);
                          },
                          [&](const Refusal& refusal) { answer_refusal(responder, proto, refusal); }},
                 answer);
    });
    return Done{};
  }

  Status plan(Ask& ask) {
    const auto found = service_.would_start(TRY(wish_of(ask)));
    std::visit(Overload{[&](const api::WouldStart& start) {
                          AnswerBody body;
                          body.would_start = start;
                          answer_value(ask.responder, ask.proto, body);
                        },
                        [&](const Refusal& refusal) { answer_refusal(ask.responder, ask.proto, refusal); }},
               found);
    return Done{};
  }

  Status jobs(Ask& ask) { return list_jobs(ask, TRY(job_query(ask.target))); }
  Status jobs_of_body(Ask& ask) { return list_jobs(ask, TRY(read_body<api::JobQuery>(ask.request))); }

  Status list_jobs(Ask& ask, const api::JobQuery& query) {
    ListBuilder list(ask.proto, "jobs", query.fields);
    const api::ListHeader header = service_.jobs(query, [&](const api::JobView& view) { list.add(view); });
    return send_list(ask, list.finish(header));
  }

  Status job(Ask& ask) {
    api::JobQuery query = TRY(job_query(ask.target));
    query.select.jobs = {TRY(job_ref(ask.target.path[2]))};
    ListBuilder list(ask.proto, "jobs", query.fields);
    const api::ListHeader header = service_.jobs(query, [&](const api::JobView& view) { list.add(view); });
    if (!header.unknown.empty()) return no_job(ask);
    return send_list(ask, list.finish(header));
  }

  static Error no_job(const Ask& ask) { return {Errc::not_found, "there is no job " + printable(ask.target.path[2])}; }

  Status wait(Ask& ask) {
    const JobRef ref = TRY(job_ref(ask.target.path[2]));
    if (!ref.tasks.empty()) return Error{Errc::invalid, "wait for a job, not for one task of it"};
    const WaitQuery query = TRY(wait_query(ask.target));
    const Duration patience = std::min<Duration>(limits_.max_patience, query.patience.value_or(limits_.max_patience));
    const Error unknown = no_job(ask);
    const auto answer = [self = shared_from_this(), responder = ask.responder, proto = ask.proto,
                         unknown](const std::vector<api::JobView>& views) {
      if (views.empty()) {
        answer_error(responder, proto, unknown);
        return;
      }
      ListBuilder list(proto, "jobs", {});
      for (const api::JobView& view : views) list.add(view);
      self->send_list(responder, proto, list.finish({}));
    };
    if (query.for_start) service_.wait_started(ref.job, patience, answer);
    else service_.wait_ended(ref.job, patience, answer);
    return Done{};
  }

  Status keep(Ask& ask) {
    const JobRef ref = TRY(job_ref(ask.target.path[2]));
    if (!ref.tasks.empty()) return Error{Errc::invalid, "keep a job, not one task of it"};
    if (const auto refusal = service_.keep(ask.caller, ref.job)) {
      answer_refusal(ask.responder, ask.proto, *refusal);
      return Done{};
    }
    AnswerBody body;
    body.reply = Reply{.job = ref.job, .jobs = {ref.job}};
    answer_value(ask.responder, ask.proto, body);
    return Done{};
  }

  Status steps(Ask& ask) { return list_steps(ask, TRY(step_query(ask.target))); }
  Status steps_of_body(Ask& ask) { return list_steps(ask, TRY(read_body<api::StepQuery>(ask.request))); }

  Status list_steps(Ask& ask, const api::StepQuery& query) {
    ListBuilder list(ask.proto, "steps", {});
    const api::ListHeader header = service_.steps(query, [&](const api::StepView& view) { list.add(view); });
    return send_list(ask, list.finish(header));
  }

  Status script(Ask& ask) { return payload(ask, &JobSpec::script); }
  Status environment(Ask& ask) { return payload(ask, &JobSpec::environment); }

  // Scripts and environments hold secrets: only the owner and administrators may read them.
  Status payload(Ask& ask, PayloadHash JobSpec::*which) {
    api::JobQuery query;
    query.select.jobs = {TRY(job_ref(ask.target.path[2]))};
    query.fields = {1, 7, 41};
    query.limit = 1;
    std::optional<api::JobView> found;
    static_cast<void>(service_.jobs(query, [&](const api::JobView& view) { found = view; }));
    if (!found) return no_job(ask);
    if (found->uid != ask.caller.uid && !is_administrator(ask.caller)) {
      return Error{Errc::denied, "the job is somebody else's"};
    }
    const PayloadHash hash = found->spec ? (*found->spec).*which : PayloadHash{};
    if (!hash) return Error{Errc::not_found, "the job has none"};
    answer_bytes(ask.responder, 200, "application/octet-stream", wire::bytes(TRY(service_.payload(hash))));
    return Done{};
  }

  [[nodiscard]] bool is_administrator(const Caller& caller) const {
    if (caller.uid == 0) return true;
    const auto admins = service_.overview().config.settings.admins;
    return std::ranges::find(admins, caller.uid) != admins.end();
  }

  Status nodes(Ask& ask) {
    ListBuilder list(ask.proto, "nodes", {});
    const api::ListHeader header = service_.nodes([&](const api::NodeView& view) { list.add(view); });
    return send_list(ask, list.finish(header));
  }

  Status partitions(Ask& ask) {
    ListBuilder list(ask.proto, "partitions", {});
    const api::ListHeader header = service_.partitions([&](const api::PartitionView& view) { list.add(view); });
    return send_list(ask, list.finish(header));
  }

  Status history(Ask& ask) { return list_history(ask, TRY(history_query(ask.target))); }
  Status history_of_body(Ask& ask) { return list_history(ask, TRY(read_body<HistoryQuery>(ask.request))); }

  Status list_history(Ask& ask, const HistoryQuery& query) {
    ListBuilder list(ask.proto, "history", {});
    for (const HistoryRow& row : TRY(service_.history(query))) list.add(row);
    return send_list(ask, list.finish({}));
  }

  Status send_list(const Ask& ask, std::string body) {
    send_list(ask.responder, ask.proto, std::move(body));
    return Done{};
  }

  // Lists on their way to slow readers are counted until the last byte has left.
  void send_list(const wire::Responder& responder, bool proto, std::string body) {
    const std::size_t size = body.size();
    if (lists_.fetch_add(size) + size > limits_.max_lists) {
      lists_.fetch_sub(size);
      answer_error(responder, proto, {Errc::unavailable, "too many large lists at once; try again in a moment"});
      return;
    }
    auto* text = new std::string(std::move(body));
    const wire::Bytes counted(text, [self = shared_from_this(), size](const std::string* gone) {
      delete gone;
      self->lists_.fetch_sub(size);
    });
    answer_bytes(responder, 200, proto ? kRowsType : kJsonType, counted);
  }

  api::Service& service_;
  const Identify identify_;
  const ServerLimits limits_;
  std::atomic<std::size_t> lists_{0};
};

const std::array<Server::Routes::Route, 17> Server::Routes::kRoutes{{
    {"GET", "v1/ping", &Routes::ping},
    {"GET", "v1/status", &Routes::status},
    {"POST", "v1/commands", &Routes::command},
    {"POST", "v1/plan", &Routes::plan},
    {"GET", "v1/jobs", &Routes::jobs},
    {"POST", "v1/jobs/list", &Routes::jobs_of_body},
    {"GET", "v1/jobs/*", &Routes::job},
    {"GET", "v1/jobs/*/wait", &Routes::wait},
    {"POST", "v1/jobs/*/keep", &Routes::keep},
    {"GET", "v1/steps", &Routes::steps},
    {"POST", "v1/steps/list", &Routes::steps_of_body},
    {"GET", "v1/jobs/*/script", &Routes::script},
    {"GET", "v1/jobs/*/environment", &Routes::environment},
    {"GET", "v1/nodes", &Routes::nodes},
    {"GET", "v1/partitions", &Routes::partitions},
    {"GET", "v1/history", &Routes::history},
    {"POST", "v1/history/list", &Routes::history_of_body},
}};

Server::Server(api::Service& service, Identify identify, ServerLimits limits)
    : routes_(std::make_shared<Routes>(service, std::move(identify), limits)) {}
Server::~Server() = default;

bool Server::serves(const wire::Request& request) {
  return request.target.starts_with("/v1/") && !request.target.starts_with("/v1/agent");
}

void Server::handle(wire::Request&& request, const wire::Responder& responder) const {
  routes_->handle(std::move(request), responder);
}

}  // namespace drover::native
