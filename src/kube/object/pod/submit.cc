#include "kube/object/pod/submit.h"

#include <algorithm>
#include <limits>

#include "kube/object/pod/parts.h"
#include "kube/object/pod/placement.h"
#include "kube/object/pod/pod_terms.h"
#include "kube/object/pod/resources.h"

namespace drover::kube {
namespace {

std::uint32_t count(std::int64_t amount) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(amount, 0, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

Request request_of(const Value& pod) {
  const PodNeeds needs = needs_of(pod);
  Request request{.min_nodes = 1,
                  .max_nodes = 1,
                  .tasks = 1,
                  .cpus_per_task = 0,
                  .cpu_milli = count(needs.cpu_milli),
                  .memory_rule = MemoryRule::per_node,
                  .memory = Bytes::of(needs.memory)};
  if (needs.gpus > 0) request.gpus_per_node = {{.model = "", .count = count(needs.gpus)}};
  request.gpu_condition = annotation_of(pod, kGpuConditionAnnotation);
  request.disk = Bytes::of(needs.disk);
  request.labels = label_terms_of(pod);
  request.tolerations = tolerations_of(pod);
  add_pod_terms(request, pod);
  return request;
}

Submit submit_of(const Value& pod, const SubmitRules& rules) {
  Submit submit{.name = std::string(text_at(pod, "metadata.name")),
                .account = rules.account,
                .qos = rules.qos,
                .partitions = rules.partition,
                .request = request_of(pod)};
  // Priority 0 is a hold to the domain, so what lies lowest is 1.
  if (rules.priority != 0) {
    submit.priority = std::max<std::int64_t>(1, rules.base_priority + rules.priority);
  }
  submit.requeue = false;
  submit.pod = true;
  return submit;
}

}  // namespace drover::kube
