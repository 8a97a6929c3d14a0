#include "kube/object/pod/defaults.h"

#include <algorithm>
#include <array>

#include "kube/object/pod/parts.h"

namespace drover::kube {
namespace {

// Sets the member unless it is there (null counts as missing).
template <class V>
void fallback(Object& object, std::string_view name, const V& value) {
  Value& place = object[name];
  if (place.is_null()) place = value;
}

Object* object_in(Object& object, std::string_view name) {
  Value* value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}

template <class Do>
void each_object(Object& object, std::string_view name, Do action) {
  Value* list = object.if_contains(name);
  if (list == nullptr || !list->is_array()) return;
  for (Value& item : list->get_array()) {
    if (Object* one = item.if_object()) action(*one);
  }
}

void default_http(Object& owner) {
  if (Object* http = object_in(owner, "httpGet")) {
    fallback(*http, "path", "/");
    fallback(*http, "scheme", "HTTP");
  }
}

void default_probe(Object& container, std::string_view name) {
  Object* probe = object_in(container, name);
  if (probe == nullptr) return;
  default_http(*probe);
  fallback(*probe, "timeoutSeconds", 1);
  fallback(*probe, "periodSeconds", 10);
  fallback(*probe, "successThreshold", 1);
  fallback(*probe, "failureThreshold", 3);
}

// Whoever says only a limit asks for as much.
void default_requests(Object& container) {
  Object& resources = make_object(container, "resources");
  const Object* limits = object_in(resources, "limits");
  if (limits == nullptr || limits->empty()) return;
  const Object said = *limits;
  Object& requests = make_object(resources, "requests");
  for (const auto& entry : said) fallback(requests, entry.key(), entry.value());
}

void default_field_ref(Object& source) {
  if (Object* field = object_in(source, "fieldRef")) fallback(*field, "apiVersion", "v1");
}

void default_container(Object& container, bool host_network) {
  if (const Value* image = container.if_contains("image")) {
    fallback(container, "imagePullPolicy", default_pull_policy(text(image)));
  }
  fallback(container, "terminationMessagePath", "/dev/termination-log");
  fallback(container, "terminationMessagePolicy", "File");
  default_requests(container);
  each_object(container, "ports", [host_network](Object& port) {
    fallback(port, "protocol", "TCP");
    if (host_network && port.contains("containerPort")) {
      fallback(port, "hostPort", port.at("containerPort"));
    }
  });
  each_object(container, "env", [](Object& env) {
    if (Object* from = object_in(env, "valueFrom")) default_field_ref(*from);
  });
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    default_probe(container, probe);
  }
  if (Object* lifecycle = object_in(container, "lifecycle")) {
    for (const char* when : {"postStart", "preStop"}) {
      if (Object* hook = object_in(*lifecycle, when)) default_http(*hook);
    }
  }
}

void default_source(Object& source, std::string_view kind) {
  if (Object* given = object_in(source, kind)) fallback(*given, "defaultMode", 0644);
}

void default_volume(Object& volume) {
  if (volume.size() <= 1) volume["emptyDir"] = Object{};
  for (const char* kind : {"secret", "configMap", "downwardAPI", "projected"}) {
    default_source(volume, kind);
  }
  if (Object* path = object_in(volume, "hostPath")) fallback(*path, "type", "");
  if (Object* downward = object_in(volume, "downwardAPI")) {
    each_object(*downward, "items", default_field_ref);
  }
  if (Object* projected = object_in(volume, "projected")) {
    each_object(*projected, "sources", [](Object& source) {
      if (Object* token = object_in(source, "serviceAccountToken")) {
        fallback(*token, "expirationSeconds", 3600);
      }
      if (Object* downward = object_in(source, "downwardAPI")) {
        each_object(*downward, "items", default_field_ref);
      }
    });
  }
}

// A node that is in trouble keeps its pods for five minutes, unless they say something of it.
void default_tolerations(Object& spec) {
  if (!spec["tolerations"].is_array()) spec["tolerations"] = Array{};
  Array& tolerations = spec["tolerations"].get_array();
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const bool said = std::ranges::any_of(tolerations, [key](const Value& toleration) {
      const auto its = text_at(toleration, "key");
      const auto effect = text_at(toleration, "effect");
      return (its == key || its.empty()) && (effect == "NoExecute" || effect.empty());
    });
    if (said) continue;
    tolerations.push_back(Object{
        {"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
  }
}

// The class's word stands before the pod's own; a number without a class is validate_pod's to
// refuse.
void default_priority(Object& spec, const std::optional<PriorityChoice>& priority) {
  if (priority) {
    fallback(spec, "priorityClassName", priority->name);
    spec["priority"] = priority->value;
    spec["preemptionPolicy"] = priority->preemption;
  }
  fallback(spec, "priority", 0);
  fallback(spec, "preemptionPolicy", "PreemptLowerPriority");
}

void default_account(Object& spec) {
  const std::string_view old_name = text(spec.if_contains("serviceAccount"));
  fallback(spec, "serviceAccountName", old_name.empty() ? "default" : std::string(old_name));
  if (text(&spec["serviceAccountName"]).empty()) spec["serviceAccountName"] = "default";
  spec["serviceAccount"] = spec["serviceAccountName"];
}

// What an ordinary user's pod runs as is written down, so that everybody can read it.
void default_rights(Object& spec, const PodRules& rules) {
  Object& security = make_object(spec, "securityContext");
  if (rules.privileged) return;
  fallback(security, "runAsUser", std::int64_t{rules.user});
  fallback(security, "runAsGroup", std::int64_t{rules.group});
  for (const char* list : {"initContainers", "containers"}) {
    each_object(spec, list, [](Object& container) {
      fallback(make_object(container, "securityContext"), "allowPrivilegeEscalation", false);
    });
  }
}

}  // namespace

std::string_view default_pull_policy(std::string_view image) {
  const auto digest = image.find('@');
  const std::string_view name = image.substr(0, digest);
  const auto slash = name.rfind('/');
  const auto colon = name.find(':', slash == std::string_view::npos ? 0 : slash);
  const bool latest = colon == std::string_view::npos ? digest == std::string_view::npos
                                                      : name.substr(colon + 1) == "latest";
  return latest ? "Always" : "IfNotPresent";
}

void default_pod(Value& pod, const PodRules& rules, const std::optional<PriorityChoice>& priority) {
  if (!pod.is_object()) return;
  Object& spec = make_object(pod.get_object(), "spec");
  const Value* network = spec.if_contains("hostNetwork");
  const bool host_network = network != nullptr && network->is_bool() && network->get_bool();
  fallback(spec, "restartPolicy", "Always");
  fallback(spec, "terminationGracePeriodSeconds", 30);
  fallback(spec, "dnsPolicy", "ClusterFirst");
  fallback(spec, "schedulerName", "default-scheduler");
  fallback(spec, "enableServiceLinks", true);
  default_account(spec);
  default_rights(spec, rules);
  each_object(spec, "volumes", default_volume);
  for (const char* list : {"initContainers", "containers"}) {
    each_object(spec, list,
                [host_network](Object& container) { default_container(container, host_network); });
  }
  default_tolerations(spec);
  default_priority(spec, priority);
}

}  // namespace drover::kube
