#include "kube/object/pod/launch/container.h"

#include <algorithm>

#include "base/text.h"
#include "kube/object/pod/launch/environment.h"

namespace drover::kube {
namespace {

std::vector<std::string> texts_at(const Value& holder, std::string_view path) {
  std::vector<std::string> texts;
  if (const Array* array = array_at(holder, path)) {
    for (const Value& value : *array) texts.emplace_back(text(&value));
  }
  return texts;
}

std::vector<std::string> expanded(std::vector<std::string> texts, const Variables& variables) {
  for (std::string& one : texts) one = expand(one, variables);
  return texts;
}

PullPolicy pull_of(std::string_view word) {
  if (word == "Always") return PullPolicy::always;
  return word == "Never" ? PullPolicy::never : PullPolicy::if_not_present;
}

std::uint32_t count_at(const Value& holder, const char* name, std::uint32_t otherwise) {
  const auto count = integer_at(holder, name);
  return count && *count > 0 ? static_cast<std::uint32_t>(std::min<std::int64_t>(*count, 1U << 30U))
                             : otherwise;
}

void read_http(PodProbe& probe, const Value& container, const Value& http) {
  probe.kind = ProbeKind::http;
  probe.host = text_at(http, "host");
  probe.port = port_of(container, member(http, "port"));
  probe.path = text_at(http, "path");
  probe.https = text_at(http, "scheme") == "HTTPS";
  if (const Array* headers = array_at(http, "httpHeaders")) {
    for (const Value& header : *headers) {
      probe.headers.push_back(std::string(text_at(header, "name")) + ": " +
                              std::string(text_at(header, "value")));
    }
  }
}

std::optional<PodProbe> probe_of(const Value& container, const char* name) {
  const Value* given = member(container, name);
  if (given == nullptr || !given->is_object()) return std::nullopt;
  PodProbe probe{.initial_delay = seconds(count_at(*given, "initialDelaySeconds", 0)),
                 .period = seconds(count_at(*given, "periodSeconds", 10)),
                 .timeout = seconds(count_at(*given, "timeoutSeconds", 1)),
                 .successes = count_at(*given, "successThreshold", 1),
                 .failures = count_at(*given, "failureThreshold", 3)};
  if (const Value* http = member(*given, "httpGet")) {
    read_http(probe, container, *http);
  } else if (const Value* tcp = member(*given, "tcpSocket")) {
    probe.kind = ProbeKind::tcp;
    probe.host = text_at(*tcp, "host");
    probe.port = port_of(container, member(*tcp, "port"));
  } else {
    probe.command = texts_at(*given, "exec.command");
  }
  return probe;
}

// The container's word stands before the pod's.
const Value* security_of(const Value& pod, const Value& container, std::string_view field) {
  const Value* own = member(container, "securityContext");
  const Value* value = own == nullptr ? nullptr : member(*own, field);
  if (value != nullptr && !value->is_null()) return value;
  const Value* shared = at(pod, "spec.securityContext");
  return shared == nullptr ? nullptr : member(*shared, field);
}

PodSecurity rights_of(const Value& pod, const Value& container) {
  const auto flag = [&](std::string_view field, bool otherwise) {
    const Value* value = security_of(pod, container, field);
    return value != nullptr && value->is_bool() ? value->get_bool() : otherwise;
  };
  PodSecurity security{.user = integer(security_of(pod, container, "runAsUser")),
                       .group = integer(security_of(pod, container, "runAsGroup")),
                       .must_not_be_root = flag("runAsNonRoot", false),
                       .privileged = flag("privileged", false),
                       .read_only_root = flag("readOnlyRootFilesystem", false),
                       .may_gain_privileges = flag("allowPrivilegeEscalation", true)};
  if (const Value* capabilities = at(container, "securityContext.capabilities")) {
    security.add_capabilities = texts_at(*capabilities, "add");
    security.drop_capabilities = texts_at(*capabilities, "drop");
  }
  return security;
}

std::vector<PodMount> mounts_of(const Value& container) {
  std::vector<PodMount> mounts;
  const Array* list = array_at(container, "volumeMounts");
  if (list == nullptr) return mounts;
  for (const Value& one : *list) {
    mounts.push_back({.volume = std::string(text_at(one, "name")),
                      .path = std::string(text_at(one, "mountPath")),
                      .sub_path = std::string(text_at(one, "subPath")),
                      .read_only = flag_at(one, "readOnly")});
  }
  return mounts;
}

void read_lifecycle(PodContainer& to, const Value& container) {
  to.after_start = texts_at(container, "lifecycle.postStart.exec.command");
  to.before_stop = texts_at(container, "lifecycle.preStop.exec.command");
  to.before_stop_sleep =
      seconds(integer_at(container, "lifecycle.preStop.sleep.seconds").value_or(0));
}

}  // namespace

std::uint32_t port_of(const Value& container, const Value* port) {
  const auto in_range = [](std::optional<std::int64_t> number) {
    return number && *number > 0 && *number < 65536 ? static_cast<std::uint32_t>(*number) : 0U;
  };
  if (port == nullptr || !port->is_string()) return in_range(integer(port));
  const std::string_view name = text(port);
  if (const auto number = parse_int(name)) return in_range(number);
  if (const Array* ports = array_at(container, "ports")) {
    for (const Value& one : *ports) {
      if (text_at(one, "name") == name) return in_range(integer_at(one, "containerPort"));
    }
  }
  return 0;
}

PodContainer container_of(const Value& pod, const ContainerPart& part,
                          const LaunchLookups& lookups) {
  const Value& from = *part.value;
  PodContainer to{.name = std::string(part.name()),
                  .image = std::string(text_at(from, "image")),
                  .pull = pull_of(text_at(from, "imagePullPolicy")),
                  .init = part.init,
                  .sidecar = part.sidecar};
  const Variables variables = variables_of(pod, from, lookups, to.error);
  to.command = expanded(texts_at(from, "command"), variables);
  to.arguments = expanded(texts_at(from, "args"), variables);
  to.work_dir = text_at(from, "workingDir");
  to.environment = variables.lines();
  to.mounts = mounts_of(from);
  to.cpu_request_milli = amount_of(from, "requests", "cpu").milli();
  to.cpu_limit_milli = amount_of(from, "limits", "cpu").milli();
  to.memory_limit = Bytes::of(amount_of(from, "limits", "memory").units());
  to.input = flag_at(from, "stdin");
  to.input_once = flag_at(from, "stdinOnce");
  to.terminal = flag_at(from, "tty");
  to.liveness = probe_of(from, "livenessProbe");
  to.readiness = probe_of(from, "readinessProbe");
  to.startup = probe_of(from, "startupProbe");
  read_lifecycle(to, from);
  const std::string_view message = text_at(from, "terminationMessagePath");
  if (!message.empty()) to.message_path = message;
  to.message_from_log = text_at(from, "terminationMessagePolicy") == "FallbackToLogsOnError";
  to.security = rights_of(pod, from);
  return to;
}

void share_devices(PodLaunch& launch, const std::vector<ContainerPart>& parts) {
  std::size_t taken = 0;  // held for as long as the pod lives
  for (std::size_t i = 0; i < parts.size() && i < launch.containers.size(); ++i) {
    const std::int64_t asked = amount_of(*parts[i].value, "limits", kGpuResource).units();
    const std::size_t left = launch.device_uuids.size() - taken;
    const std::size_t count =
        std::min(left, static_cast<std::size_t>(std::max<std::int64_t>(0, asked)));
    const auto first = launch.device_uuids.begin() + static_cast<std::ptrdiff_t>(taken);
    launch.containers[i].device_uuids.assign(first, first + static_cast<std::ptrdiff_t>(count));
    if (!parts[i].init || parts[i].sidecar) taken += count;
  }
}

}  // namespace drover::kube
