#include "kube/rest/server.h"

#include "base/text.h"
#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/object/pod/launch.h"
#include "kube/rest/accounts.h"
#include "kube/rest/body.h"
#include "kube/rest/discovery.h"
#include "kube/rest/kept.h"
#include "kube/rest/kinds.h"
#include "kube/rest/metadata_fill.h"
#include "kube/rest/metrics.h"
#include "kube/rest/openapi.h"
#include "kube/rest/reviews.h"
#include "kube/rest/subresources.h"
#include "kube/rest/writer.h"
#include "kube/select/names.h"
#include "wire/socket.h"

namespace drover::kube {
namespace {

std::optional<Verb> verb_of(const Ask& ask) {
  const std::string_view method = ask.request.method;
  const bool one = !ask.route.name.empty();
  if (method == "GET" || method == "HEAD") {
    if (query_flag(ask.target, "watch")) return Verb::watch;
    return one ? Verb::get : Verb::list;
  }
  if (method == "POST") return one && ask.route.subresource.empty() ? std::nullopt : std::optional(Verb::create);
  if (method == "PUT") return one ? std::optional(Verb::update) : std::nullopt;
  if (method == "PATCH") return one ? std::optional(Verb::patch) : std::nullopt;
  if (method == "DELETE") return one ? Verb::remove : Verb::remove_all;
  return std::nullopt;
}

bool serves(const Ask& ask, Verb verb) {
  if (ask.route.subresource.empty()) return ask.resource().allows(word(verb));
  const Subresource* sub = ask.resource().subresource(ask.route.subresource);
  return sub != nullptr && std::ranges::find(sub->verbs, word(verb)) != sub->verbs.end();
}

}  // namespace

Server::Server(api::Service& service, ServerOptions options)
    : options_(std::move(options)),
      context_{.service = service,
               .store = store_,
               .self = {.uid = 0, .gid = 0, .user = "root", .group = "root"},
               .now = options_.now,
               .streams = {.reach = options_.reach, .now = options_.now, .gate = StreamGate()},
               .keys = options_.keys},
      ephemera_(store_),
      feed_(service, store_, [this](const Notice& notice) { ephemera_.tell(notice, context_.now()); },
            [this](const std::vector<std::string>& nodes) { hear(nodes); }),
      watches_(store_,
               [this](int by) {
                 feed_.follow(by);
                 if (by > 0) feed_.refresh();
               }),
      reader_(context_, watches_),
      janitor_(context_) {}

Server::~Server() { stop(); }

void Server::start() {
  feed_.begin();
  make_namespaces();
  janitor_.start();
}

void Server::hear(const std::vector<std::string>& nodes) {
  const Instant now = context_.now();
  for (const std::string& node : nodes) ephemera_.renew_lease(node, now);
  if (now - swept_ < kSweepEvery) return;
  swept_ = now;
  ephemera_.forget_old(now);
}

void Server::stop() {
  janitor_.stop();
  watches_.stop();
}

void Server::make_namespaces() {
  for (const std::string_view name : kFixedSpaces) {
    if (store_.get("namespaces", {.space = "", .name = std::string(name)})) continue;
    context_.service.execute(wish_for_namespace(context_, name), [](const api::Answer&) {});
  }
}

// What doesn't depend on who asks; nothing for other paths.
std::optional<Server::Fixed> Server::fixed(const wire::Target& target, Discovery discovery) const {
  std::vector<std::string> path = target.path;
  if (!path.empty() && path.back().empty()) path.pop_back();
  const std::string head = path.empty() ? "" : path[0];
  const auto list = [&](bool core, Value plain) {
    return discovery == Discovery::plain ? Fixed{.value = std::move(plain)}
                                         : Fixed{.value = aggregated(core, discovery), .aggregated = true};
  };
  if (path.empty()) {
    return Fixed{.value = Object{{"paths", Array{"/api", "/api/v1", "/apis", "/healthz", "/openapi/v2", "/openapi/v3",
                                                 "/version"}}}};
  }
  if (head == "version" && path.size() == 1) return Fixed{.value = version_info()};
  if (head == "api" && path.size() == 1) return list(true, legacy_versions(options_.address()));
  if (head == "api" && path.size() == 2) return Fixed{.value = resource_list("", path[1])};
  if (head != "apis" || path.size() > 3) return std::nullopt;
  if (path.size() == 1) return list(false, group_list());
  return Fixed{.value = path.size() == 2 ? group_of(path[1]) : resource_list(path[1], path[2])};
}

bool Server::serve_fixed(const wire::Request& request, const wire::Target& target,
                         const wire::Responder& responder) const {
  const std::string_view head = target.path.empty() ? std::string_view() : std::string_view(target.path[0]);
  const Discovery discovery = discovery_of(request.header("Accept"));
  if (head == "healthz" || head == "livez" || head == "readyz") {
    responder.answer(wire::text_answer(200, "ok"));
  } else if (head == "openapi") {
    serve_openapi(request, target.path, responder);
  } else {
    return serve_made(target, discovery, responder);
  }
  return true;
}

// Every client asks for the same few documents first, so their bytes are kept.
bool Server::serve_made(const wire::Target& target, Discovery discovery,
                        const wire::Responder& responder) const {
  std::string key = std::to_string(static_cast<int>(discovery));
  for (const std::string& part : target.path) key += "/" + part;
  {
    const std::lock_guard lock(made_mutex_);
    if (const auto known = made_.find(key); known != made_.end()) {
      responder.answer(known->second);
      return true;
    }
  }
  const auto found = fixed(target, discovery);
  if (!found) return false;
  if (!found->value) {
    responder.answer(wire::text_answer(404, "404 page not found\n"));
    return true;
  }
  wire::Answer answer{.content_type = found->aggregated ? discovery_type(discovery) : "application/json",
                      .body = wire::bytes(print(*found->value) + "\n")};
  const std::lock_guard lock(made_mutex_);
  made_.insert_or_assign(std::move(key), answer);
  responder.answer(std::move(answer));
  return true;
}

// A user's own namespace comes with his first question. Names that are no namespace's have none.
bool Server::lacks_namespace(const User& user) const {
  if (user.admin || user.anonymous || !dns1123_label(user.name).empty()) return false;
  return !store_.get("namespaces", {.space = "", .name = user.name});
}

void Server::handle(wire::Request&& request, const wire::Responder& responder) {
  const auto target = wire::parse_target(request.target);
  if (!target) return answer_failure(responder, bad_request(target.error().message));
  auto user = options_.identify(request);
  const std::string_view shown = request.header("Authorization");
  if (user && user->anonymous && !shown.empty()) {
    auto account = user_of_header(context_, shown);
    user = account ? std::optional(*std::move(account)) : std::nullopt;
  }
  if (!user) return answer_failure(responder, unauthorized());
  if (serve_fixed(request, *target, responder)) return;
  if (!lacks_namespace(*user)) return serve(std::move(request), *target, *user, responder);
  const auto kept = std::make_shared<wire::Request>(std::move(request));
  context_.service.execute(wish_for_namespace(context_, user->name),
                           [this, kept, target = *target, user = *user, responder](const api::Answer&) {
                             serve(std::move(*kept), target, user, responder);
                           });
}

void Server::serve(wire::Request&& request, const wire::Target& target, const User& user,
                   const wire::Responder& responder) {
  auto route = route_of(target);
  if (!route) {
    const bool known = !target.path.empty() && (target.path[0] == "api" || target.path[0] == "apis");
    if (known) return answer_failure(responder, no_such_path());
    responder.answer(wire::text_answer(404, "404 page not found\n"));
    return;
  }
  auto form = form_of(request.header("Accept"));
  const bool streams = !route->subresource.empty();  // a log is text, exec is no HTTP any more
  if (!form && !streams) return answer_failure(responder, form.error());
  dispatch({.request = std::move(request),
            .target = target,
            .route = std::move(*route),
            .user = user,
            .form = form ? *form : Form::object},
           responder);
}

void Server::dispatch(Ask ask, const wire::Responder& responder) {
  const auto verb = verb_of(ask);
  // As somebody else: nobody may, and doing it as himself would be something else than he asked for.
  if (!ask.request.header("Impersonate-User").empty()) {
    return answer_failure(responder, forbidden(ask.resource(), ask.route.name, "impersonation is not served"));
  }
  if (!ask.route.subresource.empty() && ask.resource().subresource(ask.route.subresource) == nullptr) {
    return answer_failure(responder, no_such_path());
  }
  if (!verb || !serves(ask, *verb)) return answer_failure(responder, method_not_allowed());
  const std::string space = ask.resource().name == "namespaces" ? ask.route.name : ask.route.space.value_or("");
  const Access access{.verb = *verb,
                      .group = ask.resource().group,
                      .resource = ask.resource().name,
                      .subresource = ask.route.subresource,
                      .space = space,
                      .name = ask.route.name};
  const bool of_slurm = space.empty() || space == kSlurmSpace;
  if (access.resource == "pods" && access.group.empty() && of_slurm) feed_.refresh();
  if (!may(store_, ask.user, access)) {
    return answer_failure(responder, forbidden(ask.resource(), ask.route.name, denial(ask.user, access)));
  }
  if (!ask.route.subresource.empty()) return subresource(ask, responder);
  if (ask.resource().kind.ends_with("Review")) {
    auto reviewed = review(context_, ask);
    if (!reviewed) return answer_failure(responder, reviewed.error());
    return answer_value(responder, *reviewed, 201);
  }
  if (ask.resource().group == "metrics.k8s.io") return serve_metrics(context_, ask, responder);
  switch (*verb) {
    case Verb::get:
      return reader_.get(ask, responder);
    case Verb::list:
      return reader_.list(ask, responder);
    case Verb::watch:
      return reader_.watch(ask, responder);
    case Verb::create:
    case Verb::update:
    case Verb::patch:
    case Verb::remove:
      return write(std::move(ask), responder);
    case Verb::remove_all:
      return remove_collection(ask, responder);
  }
}

void Server::write(Ask ask, const wire::Responder& responder) {
  if (Ephemera::keeps(ask.resource())) return write_ephemeral(ask, responder);
  std::make_shared<Writer>(context_, std::move(ask), responder)->run();
}

void Server::write_ephemeral(const Ask& ask, const wire::Responder& responder) {
  const auto writer = std::make_shared<Writer>(context_, ask, responder);
  auto plan = writer->plan();
  if (!plan) return answer_failure(responder, plan.error());
  const std::string table = store_table(ask.resource());
  const std::string name(text_at(plan->object, "metadata.name"));
  const ObjectName object{.space = ask.route.space.value_or(""), .name = name};
  const EntryPtr current = ask.request.method == "POST" ? nullptr : store_.get(table, object);
  if (ask.request.method != "POST" && !current) return answer_failure(responder, not_found(ask.resource(), name));
  if (is_dry_run(ask)) return answer_value(responder, plan->object, plan->status, plan->warnings);
  if (ask.request.method == "DELETE") {
    ephemera_.remove(ask.resource(), *current);
    return answer_value(responder, deleted_status(ask.resource(), *current), 200);
  }
  auto entry = ephemera_.put(ask.resource(), object, std::move(plan->object), current, context_.now());
  if (!entry) return answer_failure(responder, entry.error());
  answer_object(context_, ask, responder, **entry, plan->status, plan->warnings);
}

// Each of them is deleted as if it were named; what is gone by then doesn't matter.
void Server::remove_collection(const Ask& ask, const wire::Responder& responder) {
  auto filter = filter_of(ask.route, ask.target);
  if (!filter) return answer_failure(responder, filter.error());
  const std::string table = store_table(ask.resource());
  const auto listing =
      store_.list(table, filter->space, std::nullopt, 0, [&](const Entry& entry) { return filter->wants(entry); });
  for (const EntryPtr& entry : listing.entries) {
    if (Ephemera::keeps(ask.resource())) {
      ephemera_.remove(ask.resource(), *entry);
      continue;
    }
    Ask one = ask;
    one.route.space = entry->name.space.empty() ? std::nullopt : std::optional(entry->name.space);
    one.route.name = entry->name.name;
    auto plan = plan_removal(context_, one, *entry, {});
    if (!plan) continue;
    for (api::Execute& wish : plan->wishes) context_.service.execute(std::move(wish), [](const api::Answer&) {});
  }
  const Include include = include_of(query(ask.target, "includeObject"));
  wire::Answer answer{.content_type = "application/json"};
  answer.body = wire::bytes(
      render_list(ask.resource(), listing.entries, {.version = listing.version}, ask.form, include, context_.now()));
  responder.answer(std::move(answer));
}

Result<PodLaunch> Server::launch(const Cluster& cluster, const Job& job, const NodeShare& share) const {
  const DocumentKey* key = cluster.document_of(job.id);
  const Document* document = key == nullptr ? nullptr : cluster.document(*key);
  if (document == nullptr) return Error{Errc::not_found, "the pod is no more"};
  const std::string body = TRY(context_.service.payload(document->body));
  const Value pod = TRY(parse(body));
  const auto find = [&](const char* table) {
    return [this, table, space = key->space](std::string_view name) -> std::optional<Value> {
      const EntryPtr entry = store_.get(table, {.space = space, .name = std::string(name)});
      return entry ? std::optional(entry->value()) : std::nullopt;
    };
  };
  const Node& node = cluster.node(share.node);
  LaunchLookups lookups{.config_map = find("configmaps"), .secret = find("secrets")};
  lookups.config_map = [this, kept = lookups.config_map](std::string_view name) -> std::optional<Value> {
    if (name != kRootCertificate) return kept(name);
    return Object{{"data", Object{{"ca.crt", options_.authority}}}};
  };
  lookups.account_token = [this, &pod](std::string_view audience, std::int64_t lasting) {
    return token_of_pod(context_, pod, audience, lasting);
  };
  if (const auto at = wire::Endpoint::parse(options_.address())) {
    lookups.environment = {"KUBERNETES_SERVICE_HOST=" + at->host,
                           "KUBERNETES_SERVICE_PORT=" + std::to_string(at->port),
                           "KUBERNETES_SERVICE_PORT_HTTPS=" + std::to_string(at->port)};
  }
  for (const Grant& grant : share.devices) lookups.device_uuids.push_back(cluster.device(grant.device).info.uuid);
  lookups.cpus = share.all_cpus();
  lookups.memory = share.memory;
  lookups.user = job.uid;
  lookups.group = job.gid;
  lookups.node_name = node.name();
  lookups.host_ip = node.inventory.address;
  lookups.node_cpu_milli = std::int64_t{node.inventory.cpus} * 1000;
  lookups.node_memory = node.inventory.memory.count();
  lookups.node_disk = node.inventory.disk.count();
  return launch_of(pod, lookups);
}

void Server::subresource(const Ask& ask, const wire::Responder& responder) {
  if (ask.route.subresource == "status") return reader_.get(ask, responder);
  if (ask.route.subresource == "token") return serve_token_request(context_, ask, responder);
  serve_pod_subresource(context_, ask, responder);
}

}  // namespace drover::kube
