#include "slurm/script/options_table.h"

#include <array>

#include "slurm/exit.h"
#include "slurm/script/options_set.h"

namespace drover::slurm {
namespace {

using O = SbatchOptions;
using enum Takes;
namespace s = setters;

constexpr std::array kRows{
    OptionRow{"account", 'A', value, "SBATCH_ACCOUNT", s::text<&O::account>},
    OptionRow{"array", 'a', value, "SBATCH_ARRAY_INX", s::array},
    OptionRow{"begin", 'b', value, "SBATCH_BEGIN", s::begin},
    OptionRow{"chdir", 'D', value, "SBATCH_CHDIR", s::text<&O::chdir>},
    OptionRow{"clusters", 'M', value, "SBATCH_CLUSTERS", s::text<&O::clusters>},
    OptionRow{"comment", 0, value, "", s::text<&O::comment>},
    OptionRow{"constraint", 'C', value, "SBATCH_CONSTRAINT", s::text<&O::constraint>},
    OptionRow{"cpus-per-gpu", 0, value, "SBATCH_CPUS_PER_GPU", s::sourced_count<&O::cpus_per_gpu>},
    OptionRow{"cpus-per-task", 'c', value, "SBATCH_CPUS_PER_TASK", s::sourced_count<&O::cpus_per_task>},
    OptionRow{"dependency", 'd', value, "SBATCH_DEPENDENCY", s::dependency},
    OptionRow{"error", 'e', value, "SBATCH_ERROR", s::text<&O::error>},
    OptionRow{"exclude", 'x', value, "SBATCH_EXCLUDE", s::hosts<&O::exclude>},
    OptionRow{"exclusive", 0, maybe_value, "SBATCH_EXCLUSIVE", s::exclusive},
    OptionRow{"export", 0, value, "SBATCH_EXPORT", s::text<&O::export_env>},
    OptionRow{"extra", 0, value, "SBATCH_EXTRA", s::text<&O::extra>},
    OptionRow{"get-user-env", 0, maybe_value, "SBATCH_GET_USER_ENV", s::get_user_env},
    OptionRow{"gpus", 'G', value, "SBATCH_GPUS", s::gpus<&O::gpus>},
    OptionRow{"gpus-per-node", 0, value, "SBATCH_GPUS_PER_NODE", s::gpus<&O::gpus_per_node>},
    OptionRow{"gpus-per-task", 0, value, "SBATCH_GPUS_PER_TASK", s::gpus<&O::gpus_per_task>},
    OptionRow{"gres", 0, value, "SBATCH_GRES", s::gres},
    OptionRow{"help", 'h', nothing, "", s::flag<&O::help>},
    OptionRow{"hint", 0, value, "SBATCH_HINT", s::hint},
    OptionRow{"hold", 'H', nothing, "", s::flag<&O::hold>},
    OptionRow{"ignore-pbs", 0, nothing, "SBATCH_IGNORE_PBS", s::ignored_pbs},
    OptionRow{"input", 'i', value, "SBATCH_INPUT", s::text<&O::input>},
    OptionRow{"job-name", 'J', value, "SBATCH_JOB_NAME", s::text<&O::job_name>},
    OptionRow{"kill-on-invalid-dep", 0, value, "SBATCH_KILL_INVALID_DEPEND", s::kill_on_invalid_dep},
    OptionRow{"mail-type", 0, value, "SBATCH_MAIL_TYPE", s::mail_type},
    OptionRow{"mail-user", 0, value, "SBATCH_MAIL_USER", s::text<&O::mail_user>},
    OptionRow{"mem", 0, value, "SBATCH_MEM_PER_NODE", s::size<&O::mem_mib>},
    OptionRow{"mem-per-cpu", 0, value, "SBATCH_MEM_PER_CPU", s::size<&O::mem_per_cpu_mib>},
    OptionRow{"mem-per-gpu", 0, value, "SBATCH_MEM_PER_GPU", s::size<&O::mem_per_gpu_mib>},
    OptionRow{"nice", 0, maybe_value, "", s::nice},
    OptionRow{"no-requeue", 0, nothing, "SBATCH_NO_REQUEUE", s::no_requeue},
    OptionRow{"nodelist", 'w', value, "SBATCH_NODELIST", s::hosts<&O::nodelist>},
    OptionRow{"nodes", 'N', value, "SBATCH_NNODES", s::nodes},
    OptionRow{"ntasks", 'n', value, "SBATCH_NTASKS", s::count<&O::ntasks>},
    OptionRow{"ntasks-per-node", 0, value, "SBATCH_NTASKS_PER_NODE", s::count<&O::ntasks_per_node>},
    OptionRow{"open-mode", 0, value, "SBATCH_OPEN_MODE", s::open_mode},
    OptionRow{"output", 'o', value, "SBATCH_OUTPUT", s::text<&O::output>},
    OptionRow{"overcommit", 'O', nothing, "SBATCH_OVERCOMMIT", s::flag<&O::overcommit>},
    OptionRow{"parsable", 0, nothing, "", s::flag<&O::parsable>},
    OptionRow{"partition", 'p', value, "SBATCH_PARTITION", s::text<&O::partition>},
    OptionRow{"priority", 0, value, "", s::priority},
    OptionRow{"qos", 'q', value, "SBATCH_QOS", s::text<&O::qos>},
    OptionRow{"quiet", 'Q', nothing, "", s::flag<&O::quiet>},
    OptionRow{"requeue", 0, maybe_value, "SBATCH_REQUEUE", s::requeue},
    OptionRow{"signal", 0, value, "SBATCH_SIGNAL", s::signal},
    OptionRow{"tasks-per-node", 0, value, "", s::count<&O::ntasks_per_node>},
    OptionRow{"test-only", 0, nothing, "", s::flag<&O::test_only>},
    OptionRow{"time", 't', value, "SBATCH_TIMELIMIT", s::time},
    OptionRow{"usage", 0, nothing, "", s::flag<&O::usage>},
    OptionRow{"verbose", 'v', nothing, "SBATCH_DEBUG", s::verbose},
    OptionRow{"version", 'V', nothing, "", s::flag<&O::version>},
    OptionRow{"wait", 'W', nothing, "SBATCH_WAIT", s::flag<&O::wait>},
    OptionRow{"wait-all-nodes", 0, value, "SBATCH_WAIT_ALL_NODES", s::wait_all_nodes},
    OptionRow{"wckey", 0, value, "SBATCH_WCKEY", s::text<&O::wckey>},
    OptionRow{"wrap", 0, value, "", s::text<&O::wrap>},

    // Refused by name.
    OptionRow{"acctg-freq", 0, value, "SBATCH_ACCTG_FREQ"},
    OptionRow{"batch", 0, value, "SBATCH_BATCH"},
    OptionRow{"bb", 0, value, "SBATCH_BB", nullptr, "copy files in the script"},
    OptionRow{"bbf", 0, value, "SBATCH_BBF", nullptr, "copy files in the script"},
    OptionRow{"burst-buffer", 0, value, "", nullptr, "copy files in the script"},
    OptionRow{"cluster-constraint", 0, value, ""},
    OptionRow{"consolidate-segments", 0, nothing, "SBATCH_CONSOLIDATE_SEGMENTS"},
    OptionRow{"container", 0, value, "SBATCH_CONTAINER"},
    OptionRow{"container-id", 0, value, "SBATCH_CONTAINER_ID"},
    OptionRow{"contiguous", 0, nothing, "", s::flag<&O::contiguous>},
    OptionRow{"core-spec", 'S', value, "SBATCH_CORE_SPEC"},
    OptionRow{"cores-per-socket", 0, value, "", nullptr, "use --constraint"},
    OptionRow{"cpu-freq", 0, value, "SBATCH_CPU_FREQ"},
    OptionRow{"deadline", 0, value, "SBATCH_DEADLINE", s::deadline},
    OptionRow{"delay-boot", 0, value, "SBATCH_DELAY_BOOT"},
    OptionRow{"distribution", 'm', value, "SBATCH_DISTRIBUTION"},
    OptionRow{"export-file", 0, value, "", nullptr, "use --export"},
    OptionRow{"extra-node-info", 'B', value, "", nullptr, "use --constraint"},
    OptionRow{"gid", 0, value, "", nullptr, "submit as that group (newgrp)"},
    OptionRow{"gpu-bind", 0, value, "SBATCH_GPU_BIND"},
    OptionRow{"gpu-freq", 0, value, "SBATCH_GPU_FREQ"},
    OptionRow{"gpus-per-socket", 0, value, "SBATCH_GPUS_PER_SOCKET", nullptr, "use --gpus-per-node"},
    OptionRow{"gres-flags", 0, value, "SBATCH_GRES_FLAGS"},
    OptionRow{"licenses", 'L', value, "SBATCH_LICENSES"},
    OptionRow{"mcs-label", 0, value, ""},
    OptionRow{"mem-bind", 0, value, "SBATCH_MEM_BIND"},
    OptionRow{"mem-update", 0, value, ""},
    OptionRow{"mincpus", 0, value, "", nullptr, "use --cpus-per-task"},
    OptionRow{"network", 0, value, "SBATCH_NETWORK"},
    OptionRow{"no-kill", 'k', maybe_value, "SBATCH_NO_KILL"},
    OptionRow{"nodefile", 'F', value, "", nullptr, "use --nodelist"},
    OptionRow{"ntasks-per-core", 0, value, ""},
    OptionRow{"ntasks-per-gpu", 0, value, "", nullptr, "use --ntasks and --gpus"},
    OptionRow{"ntasks-per-socket", 0, value, "", nullptr, "use --ntasks-per-node"},
    OptionRow{"oversubscribe", 's', maybe_value, ""},
    OptionRow{"power", 0, value, "SBATCH_POWER"},
    OptionRow{"prefer", 0, value, "SBATCH_PREFER", nullptr, "use --constraint"},
    OptionRow{"profile", 0, value, "SBATCH_PROFILE"},
    OptionRow{"propagate", 0, maybe_value, "SLURM_PROPAGATE", nullptr, "set limits in the script (ulimit)"},
    OptionRow{"reboot", 0, nothing, ""},
    OptionRow{"reservation", 0, value, "SBATCH_RESERVATION"},
    OptionRow{"resources", 0, value, ""},
    OptionRow{"segment", 0, value, "SBATCH_SEGMENT_SIZE"},
    OptionRow{"sockets-per-node", 0, value, "", nullptr, "use --constraint"},
    OptionRow{"spread-job", 0, nothing, "SBATCH_SPREAD_JOB"},
    OptionRow{"spread-segments", 0, nothing, "SBATCH_SPREAD_SEGMENTS"},
    OptionRow{"stepmgr", 0, nothing, "SBATCH_STEPMGR"},
    OptionRow{"switches", 0, value, "SBATCH_REQ_SWITCH"},
    OptionRow{"thread-spec", 0, value, "SBATCH_THREAD_SPEC"},
    OptionRow{"threads-per-core", 0, value, "SBATCH_THREADS_PER_CORE", s::count<&O::threads_per_core>},
    OptionRow{"time-min", 0, value, "SBATCH_TIME_MIN", s::time_min},
    OptionRow{"tmp", 0, value, ""},
    OptionRow{"tres-bind", 0, value, "SBATCH_TRES_BIND"},
    OptionRow{"tres-per-task", 0, value, "SBATCH_TRES_PER_TASK", nullptr, "use --cpus-per-task and --gpus-per-task"},
    OptionRow{"uid", 0, value, "", nullptr, "submit as that user"},
    OptionRow{"use-min-nodes", 0, nothing, "SBATCH_USE_MIN_NODES", nullptr, "use --nodes"},

    // Of plug-ins that many scripts expect; a site may accept them (OptionContext::accepted_foreign).
    OptionRow{"container-entrypoint", 0, nothing, ""},
    OptionRow{"container-entrypoint-log", 0, nothing, ""},
    OptionRow{"container-env", 0, value, ""},
    OptionRow{"container-image", 0, value, ""},
    OptionRow{"container-mount-home", 0, nothing, ""},
    OptionRow{"container-mounts", 0, value, ""},
    OptionRow{"container-name", 0, value, ""},
    OptionRow{"container-readonly", 0, nothing, ""},
    OptionRow{"container-remap-root", 0, nothing, ""},
    OptionRow{"container-save", 0, value, ""},
    OptionRow{"container-unshare", 0, value, ""},
    OptionRow{"container-workdir", 0, value, ""},
    OptionRow{"container-writable", 0, nothing, ""},
    OptionRow{"no-container-entrypoint", 0, nothing, ""},
    OptionRow{"no-container-mount-home", 0, nothing, ""},
    OptionRow{"no-container-remap-root", 0, nothing, ""},
};

}  // namespace

std::span<const OptionRow> option_rows() { return kRows; }

Error refused(const OptionContext& context, std::string_view shown, std::string_view instead) {
  std::string text = std::string(shown) + " is not supported by drover yet: ";
  text += instead.empty() ? "remove it" : instead;
  return {Errc::invalid, error_line(context.program, text)};
}

}  // namespace drover::slurm
