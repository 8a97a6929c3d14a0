// Everything sbatch can be asked for, as plain values: script < SBATCH_* environment < command line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "slurm/script/array.h"
#include "slurm/script/dependency.h"
#include "slurm/script/gres.h"
#include "slurm/script/signal.h"
#include "slurm/script/time.h"

namespace drover::slurm {

using Environment = std::map<std::string, std::string, std::less<>>;

enum class Source : std::uint8_t { unset, script, environment, command_line };
enum class OpenMode : std::uint8_t { by_default, append, truncate };
enum class Hint : std::uint8_t { none, compute_bound, memory_bound, multithread, nomultithread };

struct NodeRange {
  std::uint32_t least = 1;
  std::uint32_t most = 1;
  friend bool operator==(const NodeRange&, const NodeRange&) = default;
};

// A value that remembers who set it: of values that exclude each other the stronger source wins.
template <class T>
struct Sourced {
  T value{};
  Source source = Source::unset;
  [[nodiscard]] bool set() const { return source != Source::unset; }
};

struct SbatchOptions {
  // What the job is called and whom it counts for.
  std::optional<std::string> job_name;
  std::optional<std::string> partition;
  std::optional<std::string> account;
  std::optional<std::string> qos;
  std::optional<std::string> comment;
  std::optional<std::string> wckey;
  std::optional<std::string> clusters;

  // How much.
  std::optional<NodeRange> nodes;
  std::optional<std::uint32_t> ntasks;
  std::optional<std::uint32_t> ntasks_per_node;
  Sourced<std::uint32_t> cpus_per_task;
  Sourced<std::uint32_t> cpus_per_gpu;
  Sourced<std::int64_t> mem_mib;  // 0: all of the node
  Sourced<std::int64_t> mem_per_cpu_mib;
  Sourced<std::int64_t> mem_per_gpu_mib;
  std::vector<Gres> gres;
  std::vector<Gres> gpus;
  std::vector<Gres> gpus_per_node;
  std::vector<Gres> gpus_per_task;
  bool time_set = false;
  std::optional<minutes> time_limit;  // nothing: without limit, if time_set
  bool exclusive = false;
  bool overcommit = false;
  bool contiguous = false;
  std::optional<std::uint32_t> threads_per_core;
  Hint hint = Hint::none;

  // Where.
  std::optional<std::string> constraint;
  std::optional<std::string> extra;
  std::vector<std::string> nodelist;
  std::vector<std::string> exclude;

  // When.
  std::optional<std::int64_t> begin;     // Unix seconds
  std::optional<std::int64_t> deadline;  // Unix seconds
  std::optional<minutes> time_min;       // the least that the limit may be cut to
  bool hold = false;
  std::optional<std::int64_t> nice;
  std::optional<std::uint32_t> priority;
  std::optional<ArraySpec> array;
  std::optional<Dependencies> dependency;
  std::string dependency_text;
  std::optional<bool> kill_on_invalid_dep;
  std::optional<bool> requeue;
  std::optional<SignalSpec> signal;
  std::optional<bool> wait_all_nodes;

  // Files, folder, environment, mail.
  std::optional<std::string> output;
  std::optional<std::string> error;
  std::optional<std::string> input;
  OpenMode open_mode = OpenMode::by_default;
  std::optional<std::string> chdir;
  std::optional<std::string> export_env;
  bool get_user_env = false;
  std::vector<std::string> mail_types;  // upper case
  std::optional<std::string> mail_user;

  // What the command itself does.
  std::optional<std::string> wrap;
  bool parsable = false;
  bool test_only = false;
  bool wait = false;
  bool quiet = false;
  int verbose = 0;
  bool help = false;
  bool usage = false;
  bool version = false;

  // Options of plug-ins that the site accepts, for whoever runs the job.
  std::map<std::string, std::string> foreign;
};

struct OptionContext {
  std::string program = "sbatch";
  std::int64_t now = 0;
  Zone zone = utc_zone();
  std::vector<std::string> accepted_foreign;  // long names of plug-in options, each with a value
};

// The command line split into options and the script with its arguments; nothing is applied yet,
// because the script's own lines come first.
struct CommandLine {
  std::vector<std::string> option_words;
  std::vector<std::string> script_words;  // the file and its arguments
  std::optional<std::string> wrap;
  bool help = false;
  bool usage = false;
  bool version = false;
};

[[nodiscard]] Result<CommandLine> split_command_line(const std::vector<std::string>& words,
                                                     const OptionContext& context);

// Applies all three sources. `script` may be empty (--wrap has no directives).
[[nodiscard]] Result<SbatchOptions> combine_options(std::string_view script, std::string_view script_name,
                                                    const Environment& environment, const CommandLine& line,
                                                    const OptionContext& context);

}  // namespace drover::slurm
