// One call of a command: what it was given, what it may ask, what it says. Nothing in a command
// touches the machine but through this, so that each can be tested as a function.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/service.h"
#include "slurm/render/job_text.h"
#include "slurm/script/getopt.h"
#include "slurm/script/options.h"

namespace drover::slurm {

// What the commands ask of the controller. Errc::unavailable: it can't be reached.
class Controller {
 public:
  virtual ~Controller() = default;
  virtual Result<api::Answer> execute(const api::Execute& wish) = 0;
  virtual Result<std::variant<api::WouldStart, Refusal>> would_start(const api::Execute& wish) = 0;
  virtual Result<api::ListHeader> jobs(const api::JobQuery& query,
                                       const std::function<void(api::JobView&)>& visit) = 0;
  virtual Result<api::ListHeader> nodes(const std::function<void(api::NodeView&)>& visit) = 0;
  virtual Result<api::ListHeader> partitions(const std::function<void(api::PartitionView&)>& visit) = 0;
  virtual Result<std::vector<HistoryRow>> history(const HistoryQuery& query) = 0;
  virtual Result<api::Overview> overview() = 0;
  virtual Result<std::string> script(JobId job) = 0;
  virtual Result<std::vector<api::JobView>> wait_ended(JobId job) = 0;
  virtual Result<api::ListHeader> steps(const api::StepQuery& query,
                                        const std::function<void(api::StepView&)>& visit) = 0;
  // Waits until the job runs or has ended.
  virtual Result<std::vector<api::JobView>> wait_started(JobId job) = 0;
  virtual Status keep(JobId job) = 0;  // its client is alive
  // In a copy of the program: what was opened before belongs to the other.
  virtual void forked() = 0;
};

struct Call {
  std::string program;             // "squeue"
  std::vector<std::string> words;  // without the program
  Environment environment;
  std::int64_t now = 0;
  std::function<std::int64_t()> clock;  // Unix seconds, for commands that stay
  Zone zone = utc_zone();
  std::uint32_t uid = 0;
  std::string user;
  std::string host;
  std::string work_dir;
  std::uint32_t session_id = 0;
  std::uint32_t umask = 022;
  std::map<std::string, std::int64_t> rlimits;
  std::function<Result<std::string>()> read_input;  // all of standard input
  std::function<Result<std::string>(const std::string& path)> read_file;
  std::function<Status(const std::string& path, std::string_view text)> write_file;
  std::function<std::optional<std::string>(const std::string&)> user_name;  // by name or number
  std::function<Environment()> login_environment;
  Controller* controller = nullptr;
  std::function<void(Call& call)> flush;  // prints what is said so far, before a long wait

  std::string out;
  std::string err;

  // The last line of a failed command: prints and gives the exit status.
  int fail(const Error& error) {
    err += error.message + "\n";
    return error.code == Errc::invalid ? 255 : 1;
  }
  int fail(std::string_view text) {
    err += program + ": error: " + std::string(text) + "\n";
    return 1;
  }
  [[nodiscard]] std::optional<std::string> variable(std::string_view name) const {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] TimeFormat time_format() const { return {zone, now, variable("SLURM_TIME_FORMAT").value_or("")}; }
};

// Each returns the exit status.
int sbatch(Call& call);
int squeue(Call& call);
int scancel(Call& call);
int sinfo(Call& call);
int sacct(Call& call);
int scontrol(Call& call);
int srun(Call& call);
int salloc(Call& call);
int sattach(Call& call);
int sstat(Call& call);

// By the name it was called by; nothing for a name that is no command.
[[nodiscard]] std::optional<int> run_command(Call& call);

inline constexpr std::string_view kVersionLine = "slurm 26.05.3\n";

// ---- what several commands share ----

// The options of a command by long name; what comes twice keeps the last value.
struct Chosen {
  std::map<std::string, std::string, std::less<>> values;
  std::vector<std::string> all_jobs;  // of -j, which may come more than once
  std::vector<std::string> rest;
  [[nodiscard]] bool has(std::string_view name) const { return values.contains(name); }
  [[nodiscard]] std::string get(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  }
};

struct CommandOption {
  std::string_view name;
  char letter = 0;
  Takes takes = Takes::nothing;
  bool refused = false;  // Slurm has it, drover doesn't yet
};
[[nodiscard]] Result<Chosen> choose(const Call& call, std::span<const CommandOption> table);

[[nodiscard]] std::vector<std::string> list_of(std::string_view text);  // by commas, without blanks
// -M: only this cluster's own name and "all" are known.
[[nodiscard]] Status check_cluster(Call& call, const std::string& clusters);
[[nodiscard]] Error not_reached(std::string_view what, const Error& error);  // "slurm_load_jobs error: ..."
[[nodiscard]] drover::JobRef domain_ref(JobId job, const std::vector<std::uint32_t>& tasks);
// "1,2_[0-3]" as the domain names them; steps are an error here.
[[nodiscard]] Result<std::vector<drover::JobRef>> domain_refs(std::string_view text);
[[nodiscard]] std::string ref_text(const drover::JobRef& ref);

}  // namespace drover::slurm
