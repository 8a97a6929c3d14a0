// Every parser of the Slurm door: no input may crash one, and what is printed reads back the same.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "slurm/launch/environment.h"
#include "slurm/render/account.h"
#include "slurm/render/queue.h"
#include "slurm/script/array.h"
#include "slurm/script/dependency.h"
#include "slurm/script/gres.h"
#include "slurm/script/hostlist.h"
#include "slurm/script/jobid.h"
#include "slurm/script/logname.h"
#include "slurm/script/memory.h"
#include "slurm/script/options.h"
#include "slurm/script/signal.h"
#include "slurm/script/time.h"
#include "slurm/script/words.h"

namespace {

using namespace drover;
using namespace drover::slurm;
using Text = std::string_view;

// Every directive that can be read is also applied.
void directives(Text bytes) {
  const OptionContext context;
  const CommandLine nothing;
  (void)check_batch_script(bytes);
  (void)combine_options(bytes, "fuzz", {}, nothing, context);
}

void times(Text bytes) {
  const auto limit = parse_time_limit(bytes);
  if (limit && limit.value()) CHECK(limit.value()->count() > 0);
  (void)parse_when(bytes, 1796063262, utc_zone());
  (void)parse_when(bytes, 1796063262, utc_zone(), Lean::back);
}

void memory(Text bytes) {
  const auto mib = parse_memory_mib(bytes);
  if (mib) CHECK(mib.value() >= 0 && parse_memory_mib(print_memory_mib(mib.value(), false)).value() == mib.value());
}

// What is compressed expands to the same hosts.
void hostlist(Text bytes) {
  const auto hosts = expand_hostlist(bytes, 2000);
  if (!hosts) return;
  const auto again = expand_hostlist(compress_hostlist(hosts.value()), 2000);
  CHECK(again && again.value() == hosts.value());
  (void)compress_sorted(hosts.value());
}

void gres(Text bytes) {
  const auto list = parse_gres(bytes);
  if (list && !list.value().empty()) CHECK(parse_gres(print_gres(list.value())).value() == list.value());
  (void)parse_gpus(bytes);
  (void)parse_signal(bytes);
}

void dependency(Text bytes) {
  (void)parse_dependencies(bytes);
  (void)parse_job_refs(bytes);
}

void array(Text bytes) {
  const auto spec = parse_array(bytes, {.above_last_index = 5000, .most_tasks = 5000});
  if (!spec) return;
  const auto again = parse_array(print_tasks(spec.value().tasks, 0));
  CHECK(again && again.value().tasks == spec.value().tasks);
}

void format(Text bytes) {
  const api::JobView job{.id = JobId(1), .name = "x"};
  const Look look{.times = TimeFormat(utc_zone(), 0), .now = {}};
  std::string text;
  add_job_line(text, job_layout(bytes), job, look);
  const auto named = parse_names(bytes, job_field_by_name, "squeue");
  if (named) add_job_line(text, named.value(), job, look);
  const auto columns = account_columns(bytes);
  const HistoryRow row;
  if (columns) {
    (void)account_table({.columns = columns.value()}, {{&row, true}}, {.look = look, .cluster = "c"}, true);
  }
  (void)expand_log_name(bytes, {});
  (void)exported(std::string(bytes), {{"A", "b"}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Text bytes(reinterpret_cast<const char*>(data), size);  // NOLINT
  for (const auto parse : {directives, times, memory, hostlist, gres, dependency, array, format}) parse(bytes);
  return 0;
}
