// The parts of validate_pod, each adding to the same list.
#pragma once

#include <string_view>
#include <vector>

#include "kube/object/pod/parts.h"
#include "kube/object/pod/rules.h"
#include "kube/object/problems.h"

namespace drover::kube {

inline constexpr std::size_t kMostPodTerms = 64;  // as policy/need.cc has it

void check_containers(Problems& problems, const Value& pod);
void check_resources(Problems& problems, const ContainerPart& part);
void check_environment(Problems& problems, const ContainerPart& part);
void check_probes(Problems& problems, const ContainerPart& part);
void check_volumes(Problems& problems, const Value& pod, const PodRules& rules);
void check_mounts(Problems& problems, const Value& pod, const ContainerPart& part);
void check_placement(Problems& problems, const Value& pod);
void check_pod_affinity(Problems& problems, const Value& terms, const Path& path);  // the required ones
void check_spread(Problems& problems, const Value& spec, const Path& path);
void check_toleration(Problems& problems, const Value& toleration, const Path& path);
void check_rights(Problems& problems, const Value& pod, const PodRules& rules);

// The member as one of the words; a missing one passes.
void check_word(Problems& problems, const Value& holder, std::string_view name, const Path& path,
                const std::vector<std::string_view>& words);
// The member as a whole number of at least `least`; a missing one passes.
void check_least(Problems& problems, const Value& holder, std::string_view name, const Path& path,
                 std::int64_t least);
// A field that drover doesn't serve: refused when it is there and not empty.
void check_unserved(Problems& problems, const Value& holder, std::string_view name,
                    const Path& path, std::string_view why = "drover does not serve it");
[[nodiscard]] bool is_given(const Value* value);  // neither missing, null, false, {} nor []
// The number of a name (or -1) among things that must have different ones.
void check_unique(Problems& problems, const Array* list, std::string_view name, const Path& path);

}  // namespace drover::kube
