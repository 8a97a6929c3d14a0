// One container of a manifest as its node runs it.
#pragma once

#include <string>
#include <vector>

#include "domain/pod.h"
#include "kube/object/pod/launch.h"
#include "kube/object/pod/parts.h"

namespace drover::kube {

// All but its devices and its volumes' errors.
[[nodiscard]] PodContainer container_of(const Value& pod, const ContainerPart& part,
                                        const LaunchLookups& lookups);

// The port that a probe means by number or by a port's name; 0: there is no such name.
[[nodiscard]] std::uint32_t port_of(const Value& container, const Value* port);

// The granted devices over containers in order; init containers that end give theirs to the next.
void share_devices(PodLaunch& launch, const std::vector<ContainerPart>& parts);

}  // namespace drover::kube
