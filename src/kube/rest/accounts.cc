#include "kube/rest/accounts.h"

#include <algorithm>

#include "base/text.h"
#include "kube/object/pod/parts.h"
#include "kube/object/problems.h"
#include "kube/object/times.h"
#include "kube/rest/body.h"
#include "kube/rest/metadata_fill.h"

namespace drover::kube {
namespace {

constexpr std::int64_t kUsualSeconds = 3600;
constexpr std::int64_t kLeastSeconds = 600;
constexpr std::int64_t kMostSeconds = 365LL * 24 * 3600;
constexpr const char* kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::string_view kBearer = "Bearer ";

Error denied(std::string why) { return {Errc::denied, std::move(why)}; }

bool is_there(const Context& context, const char* table, const std::string& space,
              const std::string& name, const std::string& uid) {
  const EntryPtr entry = context.store.get(table, {.space = space, .name = name});
  return entry && entry->look().at("metadata.uid").text() == uid;
}

// The object that a token is to be bound to, in `claims`; a failure in Kubernetes' words.
std::optional<Failure> bind(const Context& context, const Ask& ask, const Value& reference,
                            Claims& claims) {
  const std::string_view kind = text_at(reference, "kind");
  if (kind != "Pod") {
    Problems problems;
    problems.not_supported(Path("spec.boundObjectRef.kind"), kind, {"Pod"});
    return invalid(ask.resource(), ask.route.name, problems);
  }
  static const Resource* const kPods = find_resource("", "v1", "pods");
  claims.pod = text_at(reference, "name");
  const EntryPtr pod = context.store.get("pods", {.space = claims.space, .name = claims.pod});
  if (!pod) return not_found(*kPods, claims.pod);
  claims.pod_uid = pod->look().at("metadata.uid").text();
  const std::string_view uid = text_at(reference, "uid");
  if (!uid.empty() && uid != claims.pod_uid) {
    return conflict(*kPods, claims.pod,
                    "the UID in the bound object reference (" + std::string(uid) +
                        ") does not match the UID in record.");
  }
  if (pod->look().at("spec.serviceAccountName").text() != claims.account) {
    return bad_request("cannot bind token for serviceaccount \"" + claims.account +
                       "\" to pod running with another");
  }
  return std::nullopt;
}

std::vector<std::string> texts_at(const Value& value, std::string_view path) {
  std::vector<std::string> texts;
  if (const Array* list = array_at(value, path)) {
    for (const Value& one : *list) texts.emplace_back(text(&one));
  }
  return texts;
}

}  // namespace

Result<User> user_of_token(const Context& context, std::string_view token,
                           const std::vector<std::string>& audiences) {
  const Claims claims = TRY(read_token(token, context.keys, context.now()));
  const bool meant = std::ranges::any_of(audiences, [&](const std::string& one) {
    return std::ranges::find(claims.audiences, one) != claims.audiences.end();
  });
  if (!meant) return denied("the token is for another audience");
  if (!is_there(context, "serviceaccounts", claims.space, claims.account, claims.account_uid))
    return denied("the token's service account is no more");
  if (!claims.pod.empty() && !is_there(context, "pods", claims.space, claims.pod, claims.pod_uid))
    return denied("the token's pod is no more");
  return User{.name = claims.subject(),
              .uid = kNobody,
              .gid = kNobody,
              .group = "nogroup",
              .account = User::Account{.space = claims.space,
                                       .name = claims.account,
                                       .uid = claims.account_uid,
                                       .pod = claims.pod}};
}

Result<User> user_of_header(const Context& context, std::string_view header) {
  if (!header.starts_with(kBearer)) return denied("only bearer tokens are taken");
  return user_of_token(context, trim(header.substr(kBearer.size())), {std::string(kIssuer)});
}

void serve_token_request(const Context& context, const Ask& ask, const wire::Responder& responder) {
  const EntryPtr account = context.store.get("serviceaccounts", ask.object());
  if (!account) return answer_failure(responder, not_found(ask.resource(), ask.route.name));
  auto body = read_body(ask.request, ask.target, "authentication.k8s.io/v1", "TokenRequest");
  if (!body) return answer_failure(responder, body.error());
  Object& object = body->value.as_object();
  const std::int64_t asked =
      integer_at(body->value, "spec.expirationSeconds").value_or(kUsualSeconds);
  if (asked < kLeastSeconds) {
    Problems problems;
    problems.invalid(Path("spec.expirationSeconds"), Value(asked),
                     "may not specify a duration less than 10 minutes");
    return answer_failure(responder, invalid(ask.resource(), ask.route.name, problems));
  }
  const Instant now = context.now();
  Claims claims{.space = account->name.space,
                .account = account->name.name,
                .account_uid = account->look().at("metadata.uid").text(),
                .audiences = texts_at(body->value, "spec.audiences"),
                .from = now,
                .until = now + seconds(std::min(asked, kMostSeconds))};
  if (claims.audiences.empty()) claims.audiences = {std::string(kIssuer)};
  if (const Value* reference = at(body->value, "spec.boundObjectRef");
      reference != nullptr && reference->is_object()) {
    if (const auto failed = bind(context, ask, *reference, claims))
      return answer_failure(responder, *failed);
  }
  const auto token = make_token(claims, new_uid(), context.keys);
  if (!token) return answer_failure(responder, unavailable(token.error().message));
  Object& spec = make_object(object, "spec");
  spec["audiences"] = Array(claims.audiences.begin(), claims.audiences.end());
  spec["expirationSeconds"] = std::min(asked, kMostSeconds);
  object["metadata"] = Object{
      {"name", claims.account}, {"namespace", claims.space}, {"creationTimestamp", time_text(now)}};
  object["status"] = Object{{"token", is_dry_run(ask) ? std::string() : *token},
                            {"expirationTimestamp", time_text(claims.until)}};
  answer_value(responder, body->value, 201, body->warnings);
}

Value token_status(const Context& context, const Value& spec) {
  std::vector<std::string> audiences = texts_at(spec, "audiences");
  if (audiences.empty()) audiences = {std::string(kIssuer)};
  const auto user = user_of_token(context, text_at(spec, "token"), audiences);
  if (!user) return Object{{"authenticated", false}, {"error", user.error().message}};
  return Object{{"authenticated", true},
                {"user", user_info(*user)},
                {"audiences", Array(audiences.begin(), audiences.end())}};
}

Result<std::string> token_of_pod(const Context& context, const Value& pod,
                                 std::string_view audience, std::int64_t seconds_asked) {
  const std::string space(text_at(pod, "metadata.namespace"));
  const std::string name(text_at(pod, "spec.serviceAccountName"));
  const EntryPtr account = context.store.get("serviceaccounts", {.space = space, .name = name});
  if (!account) return Error{Errc::not_found, "serviceaccount \"" + name + "\" not found"};
  const Instant now = context.now();
  // Files don't change under a running pod, so its token lasts as long as a pod may; it ends with
  // the pod.
  return make_token({.space = space,
                     .account = name,
                     .account_uid = account->look().at("metadata.uid").text(),
                     .pod = std::string(text_at(pod, "metadata.name")),
                     .pod_uid = std::string(text_at(pod, "metadata.uid")),
                     .audiences = {audience.empty() ? std::string(kIssuer) : std::string(audience)},
                     .from = now,
                     .until = now + seconds(std::max(seconds_asked, kMostSeconds))},
                    new_uid(), context.keys);
}

namespace {

// Whether a pod is to have its account's token: who says so counts, the pod before its account;
// else an account that may do anything.
bool wants_token(const Context& context, const std::string& space, const Value& spec) {
  const std::string name(text_at(spec, "serviceAccountName"));
  const EntryPtr account = context.store.get("serviceaccounts", {.space = space, .name = name});
  if (!context.keys.sign || !account) return false;
  const Value* said = member(spec, "automountServiceAccountToken");
  if (said != nullptr && said->is_bool()) return said->get_bool();
  const Peek its = account->look().member("automountServiceAccountToken");
  if (its.given() && its.json() != "null") return its.json() == "true";
  return account->look().at("metadata.annotations").member(kRole).given();
}

Object token_volume(const std::string& name) {
  const Array sources{
      Object{{"serviceAccountToken", Object{{"expirationSeconds", 3607}, {"path", "token"}}}},
      Object{
          {"configMap", Object{{"name", kRootCertificate},
                               {"items", Array{Object{{"key", "ca.crt"}, {"path", "ca.crt"}}}}}}},
      Object{{"downwardAPI",
              Object{{"items",
                      Array{Object{{"path", "namespace"},
                                   {"fieldRef", Object{{"apiVersion", "v1"},
                                                       {"fieldPath", "metadata.namespace"}}}}}}}}}};
  return {{"name", name}, {"projected", Object{{"sources", sources}, {"defaultMode", 0644}}}};
}

void mount(Value& container, const std::string& name) {
  Value& mounts = container.as_object()["volumeMounts"];
  if (!mounts.is_array()) mounts = Array{};
  const bool taken = std::ranges::any_of(
      mounts.get_array(), [](const Value& one) { return text_at(one, "mountPath") == kMountPath; });
  if (taken) return;
  mounts.get_array().push_back(
      Object{{"name", name}, {"readOnly", true}, {"mountPath", kMountPath}});
}

}  // namespace

void mount_account(const Context& context, const std::string& space, Value& pod) {
  Value* const spec = at(pod, "spec");
  if (spec == nullptr || !spec->is_object() || !wants_token(context, space, *spec)) return;
  const auto lists = {"initContainers", "containers"};
  for (const char* list : lists) {
    const Array* containers = array_at(*spec, list);
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      // Processes of the host see the host's files, whose user can ask for a certificate.
      if (!(*containers)[i].is_object() || text_at((*containers)[i], "image") == "host") return;
    }
  }
  const std::string name = generated_name("kube-api-access-");
  Value& volumes = spec->as_object()["volumes"];
  if (!volumes.is_array()) volumes = Array{};
  volumes.get_array().push_back(token_volume(name));
  for (const char* list : lists) {
    Value* containers = member(*spec, list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (Value& container : containers->get_array()) mount(container, name);
  }
}

Object user_info(const User& user) {
  Array groups;
  std::string uid = std::to_string(user.uid);
  Object extra;
  if (user.account) {
    uid = user.account->uid;
    groups = {"system:serviceaccounts", "system:serviceaccounts:" + user.account->space};
    if (!user.account->pod.empty())
      extra["authentication.kubernetes.io/pod-name"] = Array{user.account->pod};
  } else if (user.admin) {
    groups.emplace_back("system:masters");
  }
  if (!user.account && !user.group.empty()) groups.emplace_back(user.group);
  groups.emplace_back("system:authenticated");
  Object info{{"username", user.name}, {"uid", uid}, {"groups", std::move(groups)}};
  if (!extra.empty()) info["extra"] = std::move(extra);
  return info;
}

}  // namespace drover::kube
