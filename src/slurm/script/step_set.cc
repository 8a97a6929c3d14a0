#include "slurm/script/step_set.h"

#include <csignal>

#include "base/text.h"
#include "slurm/exit.h"
#include "slurm/launch/bind.h"
#include "slurm/script/options_set.h"

namespace drover::slurm::setters {
namespace {

std::string_view value_of(const Setting& setting) { return setting.value.value_or(""); }

Error not_supported(const Setting& setting, std::string_view value, std::string_view instead) {
  return refused(*setting.context, "--" + std::string(setting.name) + "=" + printable(value),
                 instead);
}

Result<std::uint32_t> count_from_zero(const Setting& setting) {
  const auto number = parse_uint(value_of(setting));
  if (number && *number <= 0x7fffffff) return static_cast<std::uint32_t>(*number);
  return Error{Errc::invalid, error_line(setting.context->program,
                                         "Invalid numeric value \"" + printable(value_of(setting)) +
                                             "\" for --" + std::string(setting.name) + ".")};
}

}  // namespace

Status step_job_id(StepOptions& options, const Setting& setting) {
  options.job_id = TRY(positive(setting));
  return Done{};
}

Status step_relative(StepOptions& options, const Setting& setting) {
  options.relative = TRY(count_from_zero(setting));
  return Done{};
}

Status step_gres(StepOptions& options, const Setting& setting) {
  TRY(gres(options.job, setting));
  options.no_gpus = iequals(value_of(setting), "none");
  return Done{};
}

Status step_gpus(StepOptions& options, const Setting& setting) {
  options.no_gpus = value_of(setting) == "0";
  if (options.no_gpus) return Done{};
  return gpus<&SbatchOptions::gpus>(options.job, setting);
}

// Of a job: its nodes for itself. Of a step: only what it asks for, which nobody else gets.
Status step_exclusive(StepOptions& options, const Setting& setting) {
  options.exact = true;
  return exclusive(options.job, setting);
}

Status step_distribution(StepOptions& options, const Setting& setting) {
  const std::string text = lower(value_of(setting));
  std::string_view rest = text;
  const std::string_view pack = rest.substr(std::min(rest.find(','), rest.size()));
  if (!pack.empty()) return not_supported(setting, value_of(setting), "leave out Pack and NoPack");
  const std::size_t colon = rest.find(':');
  const std::string_view first = rest.substr(0, colon);
  const std::string_view inner =
      colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  for (const std::string_view level : split(inner, ':')) {
    if (level != "*" && level != "block") {
      return not_supported(setting, value_of(setting), "tasks lie on a node's CPUs in blocks");
    }
  }
  if (first == "*" || first == "block") {
    options.distribution = Distribution::block;
  } else if (first == "cyclic") {
    options.distribution = Distribution::cyclic;
  } else if (first == "arbitrary") {
    options.distribution = Distribution::arbitrary;
  } else if (first == "plane" || first.starts_with("plane=")) {
    options.distribution = Distribution::plane;
    if (first == "plane") return Done{};  // SLURM_DIST_PLANESIZE says how many
    const auto size = parse_uint(first.substr(6));
    if (!size || *size == 0 || *size > 0x7fffffff) return invalid_specification(setting);
    options.plane = static_cast<std::uint32_t>(*size);
  } else {
    return invalid_specification(setting, "write block, cyclic, plane=SIZE or arbitrary");
  }
  return Done{};
}

Status step_cpu_bind(StepOptions& options, const Setting& setting) {
  const auto words = parse_cpu_bind(value_of(setting));
  if (!words) {
    const std::string type = lower(value_of(setting));
    for (const std::string_view known :
         {"sockets", "ldoms", "rank_ldom", "map_ldom", "mask_ldom"}) {
      if (type.find(known) != std::string::npos)
        return not_supported(setting, known, "use cores or map_cpu");
    }
    return invalid_specification(setting, words.error().message);
  }
  options.cpu_bind = std::string(value_of(setting));
  return Done{};
}

Status step_gpu_bind(StepOptions& options, const Setting& setting) {
  const auto words = parse_gpu_bind(value_of(setting));
  if (!words) return invalid_specification(setting, words.error().message);
  options.gpu_bind = std::string(value_of(setting));
  return Done{};
}

Status step_immediate(StepOptions& options, const Setting& setting) {
  options.immediate_s = value_of(setting).empty() ? 0 : TRY(count_from_zero(setting));
  return Done{};
}

Status step_wait(StepOptions& options, const Setting& setting) {
  options.wait_s = TRY(count_from_zero(setting));
  return Done{};
}

Status step_kill_on_bad_exit(StepOptions& options, const Setting& setting) {
  const std::uint32_t value = value_of(setting).empty() ? 1 : TRY(count_from_zero(setting));
  if (value > 1) return invalid_specification(setting, "write 0 or 1");
  options.kill_on_bad_exit = value == 1;
  return Done{};
}

Status step_mpi(StepOptions& options, const Setting& setting) {
  options.mpi = lower(value_of(setting));
  if (options.mpi == "none" || options.mpi == "list") return Done{};
  if (options.mpi.starts_with("pmi") || options.mpi == "cray_shasta") {
    return not_supported(setting, value_of(setting),
                         "start the ranks with mpirun, or let them find each other by "
                         "SLURM_PROCID, SLURM_NTASKS and "
                         "SLURM_STEP_NODELIST (--mpi=none)");
  }
  return Error{Errc::invalid, error_line(setting.context->program,
                                         "Invalid MPI type '" + printable(value_of(setting)) +
                                             "', --mpi=list for acceptable types")};
}

Status step_pty(StepOptions& options, const Setting& setting) {
  if (!value_of(setting).empty()) return not_supported(setting, value_of(setting), "use --pty");
  options.pty = true;
  return Done{};
}

Status salloc_bell(StepOptions& options, const Setting&) {
  options.bell = true;
  return Done{};
}

Status salloc_no_bell(StepOptions& options, const Setting&) {
  options.bell = false;
  return Done{};
}

Status salloc_kill_command(StepOptions& options, const Setting& setting) {
  const auto number =
      value_of(setting).empty() ? std::optional<int>(SIGTERM) : signal_number(value_of(setting));
  if (!number) return invalid_specification(setting);
  options.kill_command = *number;
  return Done{};
}

}  // namespace drover::slurm::setters
