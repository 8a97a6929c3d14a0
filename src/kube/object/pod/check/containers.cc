// Containers: names, images, ports, life cycle, and what a container may not be here.
#include <algorithm>
#include <set>

#include "kube/object/pod/check/checks.h"
#include "kube/object/pod/launch/container.h"
#include "kube/select/names.h"

namespace drover::kube {
namespace {

constexpr std::size_t kMostContainers = 128;

// IANA service names: at most 15 of a-z, 0-9 and single dashes between, with a letter.
bool is_port_name(std::string_view name) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto fine = [&](char c) { return small(c) || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= 15 && std::ranges::all_of(name, fine) &&
         std::ranges::any_of(name, small) && name.front() != '-' && name.back() != '-' &&
         name.find("--") == std::string_view::npos;
}

void check_port(Problems& problems, const Value& port, const Path& path) {
  const std::string_view name = text_at(port, "name");
  if (!name.empty() && !is_port_name(name)) {
    problems.invalid(path / "name", name,
                     "must contain at most 15 lower case letters, digits or single '-' between "
                     "them, and at least one letter");
  }
  const Value* number = member(port, "containerPort");
  if (number == nullptr) {
    problems.required(path / "containerPort");
  } else if (port_of(port, number) == 0) {
    problems.invalid(path / "containerPort", *number, "must be between 1 and 65535, inclusive");
  }
  const Value* host = member(port, "hostPort");
  if (is_given(host) && integer(host) != 0 && port_of(port, host) == 0) {
    problems.invalid(path / "hostPort", *host, "must be between 1 and 65535, inclusive");
  }
  check_word(problems, port, "protocol", path, {"SCTP", "TCP", "UDP"});
}

void check_ports(Problems& problems, const ContainerPart& part) {
  const Array* ports = array_at(*part.value, "ports");
  if (ports == nullptr) return;
  for (std::size_t i = 0; i < ports->size(); ++i) {
    check_port(problems, (*ports)[i], (part.path / "ports")[i]);
  }
  check_unique(problems, ports, "name", part.path / "ports");
}

void check_hook(Problems& problems, const Value& hook, const Path& path, bool may_sleep) {
  check_unserved(problems, hook, "httpGet", path, "drover runs only commands here");
  check_unserved(problems, hook, "tcpSocket", path, "drover runs only commands here");
  const Value* sleep = member(hook, "sleep");
  if (sleep != nullptr && !may_sleep)
    problems.forbidden(path / "sleep", "drover does not serve it");
  if (sleep != nullptr) check_least(problems, *sleep, "seconds", path / "sleep", 0);
  const Array* command = array_at(hook, "exec.command");
  if (member(hook, "exec") != nullptr && (command == nullptr || command->empty())) {
    problems.required(path / "exec" / "command");
  }
  if (hook.is_object() && hook.get_object().empty()) {
    problems.required(path, "must specify a handler type");
  }
  if (hook.is_object() && hook.get_object().size() > 1) {
    problems.forbidden(path, "may not specify more than 1 handler type");
  }
}

void check_lifecycle(Problems& problems, const ContainerPart& part) {
  const Value* lifecycle = member(*part.value, "lifecycle");
  if (!is_given(lifecycle)) return;
  const Path path = part.path / "lifecycle";
  if (part.init && !part.sidecar) {
    problems.forbidden(path, "may not be set for init containers without restartPolicy=Always");
  }
  check_unserved(problems, *lifecycle, "stopSignal", path);
  for (const char* when : {"postStart", "preStop"}) {
    const Value* hook = member(*lifecycle, when);
    if (hook != nullptr) {
      check_hook(problems, *hook, path / when, std::string_view(when) == "preStop");
    }
  }
}

void check_image(Problems& problems, const ContainerPart& part) {
  const std::string_view image = text_at(*part.value, "image");
  if (image.empty()) {
    problems.required(part.path / "image");
  } else if (image.front() == ' ' || image.back() == ' ') {
    problems.invalid(part.path / "image", image, "must not have leading or trailing whitespace");
  }
  check_word(problems, *part.value, "imagePullPolicy", part.path,
             {"Always", "IfNotPresent", "Never"});
}

// A process of the host has no container runtime to do these.
void check_host_process(Problems& problems, const ContainerPart& part) {
  constexpr const char* kWhy = "a process of the host (image \"host\") can't have it";
  const Value& container = *part.value;
  for (const char* field : {"stdin", "tty", "lifecycle"}) {
    check_unserved(problems, container, field, part.path, kWhy);
  }
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Value* given = member(container, probe);
    if (given != nullptr) check_unserved(problems, *given, "exec", part.path / probe, kWhy);
  }
  const Value* security = member(container, "securityContext");
  if (security == nullptr) return;
  const Path path = part.path / "securityContext";
  check_unserved(problems, *security, "privileged", path, kWhy);
  if (is_given(at(*security, "capabilities.add"))) {
    problems.forbidden(path / "capabilities" / "add", kWhy);
  }
}

bool is_host(const ContainerPart& part) { return text_at(*part.value, "image") == "host"; }

void check_container(Problems& problems, const Value& pod, const ContainerPart& part) {
  if (part.name().empty()) {
    problems.required(part.path / "name");
  } else {
    problems.invalid(part.path / "name", part.name(), dns1123_label(part.name()));
  }
  check_image(problems, part);
  check_word(problems, *part.value, "terminationMessagePolicy", part.path,
             {"FallbackToLogsOnError", "File"});
  if (part.init) {
    check_word(problems, *part.value, "restartPolicy", part.path, {"Always"});
  } else {
    check_unserved(problems, *part.value, "restartPolicy", part.path,
                   "may not be set for non-init containers");
  }
  check_unserved(problems, *part.value, "volumeDevices", part.path);
  check_unserved(problems, *part.value, "restartPolicyRules", part.path);
  check_ports(problems, part);
  check_lifecycle(problems, part);
  check_environment(problems, part);
  check_mounts(problems, pod, part);
  check_probes(problems, part);
  check_resources(problems, part);
  if (is_host(part)) check_host_process(problems, part);
}

}  // namespace

void check_containers(Problems& problems, const Value& pod) {
  const std::vector<ContainerPart> parts = containers_of(pod);
  if (std::ranges::none_of(parts, [](const ContainerPart& part) { return !part.init; })) {
    problems.required(Path("spec") / "containers");
  }
  if (parts.size() > kMostContainers) {
    return problems.too_many(Path("spec") / "containers", parts.size(), kMostContainers);
  }
  std::set<std::string_view> names;
  for (const ContainerPart& part : parts) {
    check_container(problems, pod, part);
    if (!part.name().empty() && !names.insert(part.name()).second) {
      problems.duplicate(part.path / "name", part.name());
    }
    const bool named = !text_at(*part.value, "image").empty();
    if (named && is_host(part) != is_host(parts.front())) {
      problems.forbidden(part.path / "image", "a pod is either of images or of the host");
    }
  }
}

}  // namespace drover::kube
