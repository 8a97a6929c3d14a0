#include "kube/object/pod/status.h"

#include "kube/object/pod/resources.h"
#include "kube/object/pod/status/conditions.h"
#include "kube/object/pod/status/container_status.h"
#include "kube/object/pod/status/phase.h"
#include "kube/object/times.h"

namespace drover::kube {
namespace {

void put(Object& object, std::string_view name, std::string_view value) {
  if (!value.empty()) object[name] = value;
}

void put_address(Object& status, std::string_view one, std::string_view list,
                 const std::string& address) {
  if (address.empty()) return;
  status[one] = address;
  status[list] = Array{Object{{"ip", address}}};
}

void put_node(Object& status, const PodStatus& pod, const Job& job) {
  const bool ended = job.phase == Phase::ended;
  put_address(status, "hostIP", "hostIPs", pod.host_ip);
  put_address(status, "podIP", "podIPs", pod.pod_ip);
  if (pod.started != Instant{}) status["startTime"] = time_text(pod.started);
  Array init = container_statuses(pod, true, ended, job.run->ended);
  if (!init.empty()) status["initContainerStatuses"] = std::move(init);
  Array others = container_statuses(pod, false, ended, job.run->ended);
  if (!others.empty()) status["containerStatuses"] = std::move(others);
}

void put_end(Object& status, const PodStatus* pod, const Job& job) {
  const bool said = pod != nullptr && !pod->reason.empty();
  const bool ended = job.phase == Phase::ended;
  put(status, "reason", said ? std::string_view(pod->reason) : ended ? end_reason(job.cause) : "");
  if (said) {
    put(status, "message", pod->message);
  } else if (ended && job.run->note) {
    put(status, "message", *job.run->note);
  }
}

}  // namespace

void render_pod(Value& pod, const Cluster& cluster, const Job& job, const PodView& view) {
  if (!pod.is_object()) return;
  const std::string policy(text_at(pod, "spec.restartPolicy"));
  const PodStatus* told = job.run->pod.get();
  const std::string_view phase = phase_of(job, told, policy);
  const Placement* placement = job.run->placement.get();
  const bool placed =
      job.phase != Phase::waiting && placement != nullptr && !placement->shares.empty();
  if (placed) {
    make_object(pod.get_object(), "spec")["nodeName"] =
        cluster.node(placement->shares.front().node).name();
  }
  Object status{{"phase", phase}};
  Array conditions = placed ? placed_conditions(job, told, phase) : waiting_conditions(view);
  if (!conditions.empty()) status["conditions"] = std::move(conditions);
  put_end(status, told, job);
  if (placed && told != nullptr) put_node(status, *told, job);
  status["qosClass"] = qos_class(pod);
  pod.get_object()["status"] = std::move(status);
}

void unrender_pod(Value& pod, const Value& stored) {
  if (!pod.is_object()) return;
  pod.get_object().erase("status");
  Object& spec = make_object(pod.get_object(), "spec");
  const Value* node = at(stored, "spec.nodeName");
  if (node == nullptr) {
    spec.erase("nodeName");
  } else {
    spec["nodeName"] = *node;
  }
}

void render_pod_without_job(Value& pod, std::string_view reason, std::string_view message) {
  if (!pod.is_object()) return;
  Object status{{"phase", "Failed"}};
  put(status, "reason", reason);
  put(status, "message", message);
  status["qosClass"] = qos_class(pod);
  pod.get_object()["status"] = std::move(status);
}

}  // namespace drover::kube
