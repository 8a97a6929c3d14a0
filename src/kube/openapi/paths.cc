#include "kube/openapi/paths.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "kube/openapi/definitions.h"
#include "kube/schema/resources.h"

namespace drover::kube {
namespace {

struct Parameter {
  std::string_view name;
  std::string_view type;
  std::string_view description;
};
constexpr std::array kWriting{
    Parameter{"dryRun", "string", "All: check the request and answer it, but change nothing."},
    Parameter{"fieldManager", "string", "Who makes the change."},
    Parameter{"fieldValidation", "string",
              "What unknown and repeated fields are: Ignore, Warn or Strict."}};
constexpr std::array kForce{Parameter{"force", "boolean", "Take fields over from other managers."}};
constexpr std::array kDeleting{
    Parameter{"dryRun", "string", "All: check the request, but delete nothing."},
    Parameter{"gracePeriodSeconds", "integer", "How long the object has to end."},
    Parameter{"propagationPolicy", "string", "Orphan, Background or Foreground."}};
constexpr std::array kListing{
    Parameter{"allowWatchBookmarks", "boolean", "Tell a watcher the version from time to time."},
    Parameter{"continue", "string", "Go on where the last part of the list ended."},
    Parameter{"fieldSelector", "string", "Only objects whose fields fit."},
    Parameter{"labelSelector", "string", "Only objects whose labels fit."},
    Parameter{"limit", "integer", "At most so many objects at once."},
    Parameter{"resourceVersion", "string", "The version to start from."},
    Parameter{"resourceVersionMatch", "string", "Exact or NotOlderThan."},
    Parameter{"sendInitialEvents", "boolean", "Start a watch with what is there."},
    Parameter{"timeoutSeconds", "integer", "End the answer after so long."},
    Parameter{"watch", "boolean", "Answer with changes as they come."}};

struct Action {
  std::string_view verb;    // of discovery
  std::string_view method;  // of HTTP
  std::string_view name;    // of the extension x-kubernetes-action
};
constexpr std::array kCollection{Action{"list", "get", "list"}, Action{"create", "post", "post"},
                                 Action{"deletecollection", "delete", "deletecollection"}};
constexpr std::array kItem{Action{"get", "get", "get"}, Action{"update", "put", "put"},
                           Action{"patch", "patch", "patch"}, Action{"delete", "delete", "delete"},
                           Action{"create", "post", "post"}};

constexpr std::array<std::string_view, 3> kPatchTypes{"application/json-patch+json",
                                                      "application/merge-patch+json",
                                                      "application/strategic-merge-patch+json"};
constexpr std::array<std::string_view, 1> kJson{"application/json"};

struct Kind {
  std::string_view group;
  std::string_view version;
  std::string_view name;

  [[nodiscard]] std::string full_name() const {
    const Message* message = Schema::built_in().kind(group, version, name);
    return message == nullptr ? std::string(kStatusName) : message->full_name;
  }
};

class Writer {
 public:
  explicit Writer(Dialect dialect) : dialect_(dialect) {}

  Object all;

  void resource(const Resource& resource) {
    const std::string base = resource.group.empty() ? "/api/" + std::string(resource.version)
                                                    : "/apis/" + std::string(resource.group) + "/" +
                                                          std::string(resource.version);
    const std::string name(resource.name);
    const std::string where =
        base + (resource.namespaced ? "/namespaces/{namespace}/" : "/") + name;
    const Kind kind{resource.group, resource.version, resource.kind};
    add(where, kCollection, resource.verbs, kind);
    if (resource.namespaced && has(resource.verbs, "list"))
      add(base + "/" + name, std::span(kCollection).first(1), resource.verbs, kind);
    add_item(where + "/{name}", resource, kind);
  }

 private:
  static bool has(const std::vector<std::string_view>& verbs, std::string_view verb) {
    return std::ranges::find(verbs, verb) != verbs.end();
  }

  void add_item(const std::string& path, const Resource& resource, const Kind& kind) {
    std::vector<std::string_view> verbs = resource.verbs;
    std::erase(verbs, "create");  // that is the collection's
    add(path, kItem, verbs, kind);
    for (const Subresource& part : resource.subresources) {
      const Kind own = part.version.empty() ? Kind{kind.group, kind.version, part.kind}
                                            : Kind{part.group, part.version, part.kind};
      add(path + "/" + std::string(part.name), kItem, part.verbs, own);
    }
  }

  void add(const std::string& path, std::span<const Action> actions,
           const std::vector<std::string_view>& verbs, const Kind& kind) {
    Object item;
    for (const Action& action : actions) {
      if (has(verbs, action.verb)) item.emplace(action.method, operation(path, action, kind));
    }
    if (item.empty()) return;
    Array parameters;
    for (const std::string_view name : {std::string_view("namespace"), std::string_view("name")}) {
      if (path.find("{" + std::string(name) + "}") == std::string::npos) continue;
      parameters.push_back(
          parameter({name, "string", "The object's " + std::string(name) + "."}, true));
    }
    if (!parameters.empty()) item.emplace("parameters", std::move(parameters));
    all.emplace(path, std::move(item));
  }

  struct Owned {
    std::string_view name;
    std::string_view type;
    std::string description;
  };
  Object parameter(const Owned& from, bool in_path) const {
    Object result{
        {"name", from.name}, {"in", in_path ? "path" : "query"}, {"description", from.description}};
    if (in_path) result.emplace("required", true);
    if (dialect_ == Dialect::v2) {
      result.emplace("type", from.type);
      result.emplace("uniqueItems", true);
    } else {
      result.emplace("schema", Object{{"type", from.type}, {"uniqueItems", true}});
    }
    return result;
  }

  void add_parameters(Array& list, std::span<const Parameter> parameters) const {
    for (const Parameter& one : parameters) {
      list.push_back(parameter({one.name, one.type, std::string(one.description)}, false));
    }
  }

  Object operation(const std::string& path, const Action& action, const Kind& kind) const {
    Array parameters;
    const bool patch = action.verb == "patch";
    const bool removes = action.method == "delete";
    const bool writes = patch || action.verb == "create" || action.verb == "update";
    if (writes) add_parameters(parameters, kWriting);
    if (patch) add_parameters(parameters, kForce);
    if (removes) add_parameters(parameters, kDeleting);
    if (action.verb == "list" || action.verb == "deletecollection")
      add_parameters(parameters, kListing);
    Object result;
    result.emplace("operationId", std::string(action.name) + identifier(path));
    if (writes || removes) {
      const std::string schema = patch     ? std::string(kPatchName)
                                 : removes ? std::string(kDeleteOptionsName)
                                           : kind.full_name();
      add_body(result, parameters, schema, patch);
    }
    if (!parameters.empty()) result.emplace("parameters", std::move(parameters));
    const std::string answer = removes ? std::string(kStatusName) : kind.full_name();
    result.emplace("responses", responses(action.verb == "list" ? answer + "List" : answer));
    result.emplace("x-kubernetes-action", action.name);
    result.emplace(kKindExtension, group_version_kind(kind.group, kind.version, kind.name));
    return result;
  }

  void add_body(Object& operation, Array& parameters, std::string_view schema, bool patch) const {
    const auto types = patch ? std::span<const std::string_view>(kPatchTypes)
                             : std::span<const std::string_view>(kJson);
    if (dialect_ == Dialect::v2) {
      Array consumes;
      for (const std::string_view type : types) consumes.emplace_back(type);
      operation.emplace("consumes", std::move(consumes));
      parameters.push_back(Object{{"name", "body"},
                                  {"in", "body"},
                                  {"required", true},
                                  {"schema", reference_to(dialect_, schema)}});
      return;
    }
    Object content;
    for (const std::string_view type : types)
      content.emplace(type, Object{{"schema", reference_to(dialect_, schema)}});
    operation.emplace("requestBody", Object{{"content", std::move(content)}, {"required", true}});
  }

  Object responses(std::string_view schema) const {
    Object good{{"description", "OK"}};
    Object body{{"schema", reference_to(dialect_, schema)}};
    if (dialect_ == Dialect::v2) {
      good.emplace("schema", reference_to(dialect_, schema));
    } else {
      good.emplace("content", Object{{"application/json", std::move(body)}});
    }
    return {{"200", std::move(good)}};
  }

  // "/api/v1/namespaces/{namespace}/pods" -> "ApiV1NamespacesNamespacePods".
  static std::string identifier(std::string_view path) {
    std::string text;
    bool first = true;
    for (const char c : path) {
      const bool letter =
          (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
      if (letter) text += first && c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
      first = !letter;
    }
    return text;
  }

  Dialect dialect_;
};

}  // namespace

Object paths(Dialect dialect, std::string_view group, std::string_view version) {
  Writer writer(dialect);
  for (const Resource& resource : resources()) {
    if (resource.group == group && resource.version == version) writer.resource(resource);
  }
  return std::move(writer.all);
}

}  // namespace drover::kube
