#include "slurm/script/jobid.h"

#include <algorithm>

#include "base/text.h"
#include "slurm/script/array.h"

namespace drover::slurm {
namespace {

constexpr std::uint64_t kLargestId = 0xffffffffffffU;

Error malformed(std::string_view text) { return {Errc::invalid, "Invalid job id specified: " + printable(text)}; }

bool is_step(std::string_view step) {
  return step == "batch" || step == "extern" || step == "interactive" || parse_uint(step).has_value();
}

}  // namespace

Result<JobRef> parse_job_ref(std::string_view text) {
  JobRef ref;
  std::string_view rest = text;
  if (const std::size_t dot = rest.find('.'); dot != std::string_view::npos) {
    ref.step = rest.substr(dot + 1);
    if (!is_step(ref.step)) return malformed(text);
    rest = rest.substr(0, dot);
  }
  const std::size_t mark = rest.find_first_of("_+");
  const auto job = parse_uint(rest.substr(0, mark));
  if (!job || *job == 0 || *job > kLargestId) return malformed(text);
  ref.job = *job;
  if (mark == std::string_view::npos) return ref;
  std::string_view part = rest.substr(mark + 1);
  if (rest[mark] == '+') {
    const auto component = parse_uint(part);
    if (!component || *component > 127) return malformed(text);
    ref.component = static_cast<std::uint32_t>(*component);
    return ref;
  }
  if (part == "*") return ref;
  if (part.starts_with('[') && part.ends_with(']')) part = part.substr(1, part.size() - 2);
  const auto tasks = parse_array(part);
  if (!tasks) return malformed(text);
  ref.tasks = tasks.value().tasks;
  return ref;
}

Result<std::vector<JobRef>> parse_job_refs(std::string_view text) {
  std::vector<JobRef> refs;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') inside = true;
    if (c == ']') inside = false;
    if (c != ',' || (inside && i < text.size())) continue;
    const std::string_view item = trim(text.substr(begin, i - begin));
    begin = i + 1;
    if (!item.empty()) refs.push_back(TRY(parse_job_ref(item)));
  }
  if (refs.empty()) return malformed(text);
  return refs;
}

}  // namespace drover::slurm
