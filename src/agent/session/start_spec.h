// A controller's Launch in the words of the driver.
#pragma once

#include <string>

#include "agent/shim/spec.h"
#include "agent/step/spec.h"
#include "domain/session.h"

namespace drover::agent {

[[nodiscard]] SignalScope scope_of(SignalTarget target);
[[nodiscard]] StartSpec start_spec(const Launch& launch, const std::string& script);
[[nodiscard]] PartSpec part_spec(const StepLaunch& launch);

}  // namespace drover::agent
