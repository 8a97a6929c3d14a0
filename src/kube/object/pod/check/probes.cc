// Probes of a container.
#include <array>

#include "kube/object/pod/check/checks.h"
#include "kube/object/pod/launch/container.h"

namespace drover::kube {
namespace {

void check_port(Problems& problems, const Value& container, const Value& handler,
                const Path& path) {
  const Value* port = member(handler, "port");
  if (port == nullptr || port->is_null()) return problems.required(path / "port");
  if (port_of(container, port) != 0) return;
  problems.invalid(path / "port", *port,
                   port->is_string() ? "must be the name of a port of this container"
                                     : "must be between 1 and 65535, inclusive");
}

void check_handler(Problems& problems, const Value& container, const Value& probe,
                   const Path& path) {
  int handlers = 0;
  for (const char* kind : {"exec", "httpGet", "tcpSocket", "grpc"}) {
    const Value* handler = member(probe, kind);
    if (handler == nullptr || handler->is_null()) continue;
    if (++handlers > 1) {
      problems.forbidden(path / kind, "may not specify more than 1 handler type");
    }
    const std::string_view word = kind;
    if (word == "grpc") {
      problems.forbidden(path / kind, "drover does not serve it");
    } else if (word == "exec") {
      const Array* command = array_at(*handler, "command");
      if (command == nullptr || command->empty()) problems.required(path / kind / "command");
    } else {
      check_port(problems, container, *handler, path / kind);
    }
    if (word == "httpGet") check_word(problems, *handler, "scheme", path / kind, {"HTTP", "HTTPS"});
  }
  if (handlers == 0) problems.required(path, "must specify a handler type");
}

void check_probe(Problems& problems, const Value& container, const Value& probe, const Path& path,
                 bool readiness) {
  check_handler(problems, container, probe, path);
  check_least(problems, probe, "initialDelaySeconds", path, 0);
  for (const char* number :
       {"timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
    check_least(problems, probe, number, path, 1);
  }
  const auto successes = integer_at(probe, "successThreshold");
  if (!readiness && successes && *successes > 1) {
    problems.invalid(path / "successThreshold", *member(probe, "successThreshold"), "must be 1");
  }
  check_unserved(problems, probe, "terminationGracePeriodSeconds", path);
}

}  // namespace

void check_probes(Problems& problems, const ContainerPart& part) {
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Value* probe = member(*part.value, name);
    if (probe == nullptr || probe->is_null()) continue;
    const Path path = part.path / name;
    if (part.init && !part.sidecar) {
      problems.forbidden(path, "may not be set for init containers without restartPolicy=Always");
      continue;
    }
    check_probe(problems, *part.value, *probe, path, std::string_view(name) == "readinessProbe");
  }
}

}  // namespace drover::kube
