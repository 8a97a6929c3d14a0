// make bench: a table for people, build/bench.json for programs.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench/bench.h"

namespace {

using drover::bench::Row;
using drover::bench::Rows;

void print_row(const Row& row) {
  const std::string ratio = row.ratio > 0 ? fmt::format("{:.3g} x {}", row.ratio, row.calibration) : row.calibration;
  fmt::print("{:<34} {:>12.4g} {:<7} {:<30} {}\n", row.id, row.value, row.unit, ratio, row.goal);
  std::fflush(stdout);
}

void write_json(const Rows& rows, const std::string& path) {
  std::ofstream out(path);
  out << "[\n";
  for (const Row& row : rows) {
    out << fmt::format(R"(  {{"id": "{}", "value": {}, "unit": "{}", "calibration": "{}", "ratio": {}, "goal": "{}"}}{})",
                       row.id, row.value, row.unit, row.calibration, row.ratio, row.goal,
                       &row == &rows.back() ? "\n" : ",\n");
  }
  out << "]\n";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"drover's benchmarks: figures beside what this machine gives in the same minute"};
  drover::bench::Options options;
  std::string json;
  std::string only;
  app.add_option("--programs", options.programs, "Folder of droverd and the commands")->required();
  app.add_option("--json", json, "Where to write the rows as JSON");
  app.add_option("--only", only, "One group: core, durable, commands, kube, starts, steps, reconnect");
  app.add_option("--scale", options.scale, "Size of the inputs; 1 is what is published")->check(CLI::Range(0.001, 10.0));
  CLI11_PARSE(app, argc, argv);

  char pattern[] = "/var/tmp/drover-bench-XXXXXX";
  if (::mkdtemp(pattern) == nullptr) return 1;
  options.folder = pattern;
  const auto calibration = drover::bench::calibrate(options.folder);
  fmt::print("{:<34} {:>12} {:<7} {:<30} {}\n", "id", "value", "unit", "ratio to calibration", "goal");
  Rows rows{{.id = "calibration.fdatasync", .value = calibration.syncs, .unit = "1/s"},
            {.id = "calibration.idle_fdatasync", .value = calibration.idle_sync, .unit = "ms"},
            {.id = "calibration.spawn", .value = calibration.spawns, .unit = "1/s"},
            {.id = "calibration.round_trip", .value = calibration.round_trip, .unit = "us"}};
  std::size_t printed = 0;
  const auto show = [&] {
    for (; printed < rows.size(); ++printed) print_row(rows[printed]);
  };
  const auto wanted = [&](const char* group) { return only.empty() || only == group; };
  show();
  if (wanted("core")) drover::bench::bench_core(options, rows);
  show();
  if (wanted("durable")) drover::bench::bench_durable(options, calibration, rows);
  show();
  if (wanted("commands")) drover::bench::bench_commands(options, calibration, rows);
  show();
  if (wanted("kube")) drover::bench::bench_kube(options, calibration, rows);
  show();
  if (wanted("starts")) drover::bench::bench_starts(options, calibration, rows);
  show();
  if (wanted("steps")) drover::bench::bench_steps(options, calibration, rows);
  show();
  if (wanted("reconnect")) drover::bench::bench_reconnect(options, rows);
  show();
  if (!json.empty()) write_json(rows, json);
  std::filesystem::remove_all(options.folder);
  return 0;
}
