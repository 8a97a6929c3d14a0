// sstat: what running steps use. A node measures a step when its part ends; until then most is
// empty.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "slurm/command/attach.h"
#include "slurm/command/call.h"
#include "slurm/exit.h"
#include "slurm/render/job_text.h"
#include "slurm/script/jobid.h"

namespace drover::slurm {
namespace {

using enum Takes;
constexpr std::array kOptions{
    CommandOption{"allsteps", 'a'},    CommandOption{"format", 'o', value},
    CommandOption{"fields", 0, value}, CommandOption{"help", 'h'},
    CommandOption{"helpformat", 'e'},  CommandOption{"jobs", 'j', value},
    CommandOption{"noconvert", 0},     CommandOption{"noheader", 'n'},
    CommandOption{"parsable", 'p'},    CommandOption{"parsable2", 'P'},
    CommandOption{"pidformat", 'i'},   CommandOption{"usage", 0},
    CommandOption{"verbose", 'v'},     CommandOption{"version", 'V'}};
constexpr std::string_view kUsage =
    "Usage: sstat [-aeinpPvV] [-o fields] -j JOB[.STEP][,JOB[.STEP]...]\n";

struct Field {
  std::string_view name;
  int width = 10;
};
constexpr std::array kFields{Field{"JobID", 12},
                             Field{"MaxVMSize"},
                             Field{"MaxVMSizeNode", 14},
                             Field{"MaxVMSizeTask", 14},
                             Field{"AveVMSize"},
                             Field{"MaxRSS"},
                             Field{"MaxRSSNode"},
                             Field{"MaxRSSTask"},
                             Field{"AveRSS"},
                             Field{"MaxPages", 8},
                             Field{"MaxPagesNode", 12},
                             Field{"MaxPagesTask", 14},
                             Field{"AvePages"},
                             Field{"MinCPU"},
                             Field{"MinCPUNode"},
                             Field{"MinCPUTask"},
                             Field{"AveCPU"},
                             Field{"NTasks", 8},
                             Field{"AveCPUFreq"},
                             Field{"ReqCPUFreqMin", 13},
                             Field{"ReqCPUFreqMax", 13},
                             Field{"ReqCPUFreqGov", 13},
                             Field{"ConsumedEnergy", 14},
                             Field{"MaxDiskRead", 12},
                             Field{"MaxDiskReadNode", 15},
                             Field{"MaxDiskReadTask", 15},
                             Field{"AveDiskRead", 14},
                             Field{"MaxDiskWrite", 12},
                             Field{"MaxDiskWriteNode", 16},
                             Field{"MaxDiskWriteTask", 16},
                             Field{"AveDiskWrite", 14},
                             Field{"AllocTRES"},
                             Field{"TRESUsageInAve", 14},
                             Field{"TRESUsageInMax", 14},
                             Field{"TRESUsageInMaxNode", 18},
                             Field{"TRESUsageInMaxTask", 18},
                             Field{"TRESUsageInMin", 14},
                             Field{"TRESUsageInMinNode", 18},
                             Field{"TRESUsageInMinTask", 18},
                             Field{"TRESUsageInTot", 14},
                             Field{"TRESUsageOutAve", 15},
                             Field{"TRESUsageOutMax", 15},
                             Field{"TRESUsageOutTot", 15},
                             Field{"Nodelist", 20},
                             Field{"Pids", 20}};

struct Column {
  const Field* field = nullptr;
  int width = 10;
  bool left = false;
};

const Field* field_by_name(std::string_view name) {
  const auto found =
      std::ranges::find_if(kFields, [&](const Field& field) { return iequals(field.name, name); });
  return found == kFields.end() ? nullptr : &*found;
}

Result<std::vector<Column>> columns_of(const Call& call, std::string_view format) {
  std::vector<Column> columns;
  for (const std::string& word : list_of(format)) {
    const std::size_t percent = word.find('%');
    const Field* field = field_by_name(std::string_view(word).substr(0, percent));
    if (field == nullptr) {
      return Error{Errc::denied, error_line(call.program, "Invalid field requested: \"" +
                                                              printable(word) + "\"")};
    }
    Column column{.field = field, .width = field->width};
    if (percent != std::string::npos) {
      const auto width = parse_int(std::string_view(word).substr(percent + 1));
      if (!width || *width == 0 || *width < -1000 || *width > 1000) {
        return Error{Errc::denied,
                     error_line(call.program, "Invalid width: \"" + printable(word) + "\"")};
      }
      column.width = static_cast<int>(*width < 0 ? -*width : *width);
      column.left = *width < 0;
    }
    columns.push_back(column);
  }
  return columns;
}

std::string cell_of(std::string_view name, const api::StepView& step) {
  if (name == "JobID") return step_text(step);
  if (name == "NTasks") return std::to_string(step.task_count);
  if (name != "Nodelist") return {};
  std::vector<std::string> nodes;
  for (const api::StepShareView& share : step.shares) nodes.push_back(share.share.node);
  return nodes_text(nodes);
}

class Table {
 public:
  Table(std::vector<Column> columns, bool bars, bool closed)
      : columns_(std::move(columns)), bars_(bars), closed_(closed) {}
  std::string header() const {
    std::string text = line([](const Column& column) { return std::string(column.field->name); });
    if (!bars_)
      text += line([](const Column& column) {
        return std::string(static_cast<std::size_t>(column.width), '-');
      });
    return text;
  }
  template <class Cell>
  std::string line(const Cell& cell) const {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::string shown = cell(columns_[i]);
      if (bars_) {
        text += shown + (closed_ || i + 1 < columns_.size() ? "|" : "");
        continue;
      }
      const auto width = static_cast<std::size_t>(columns_[i].width);
      if (shown.size() > width) {
        shown.resize(width - 1);
        shown += '+';
      }
      const std::string pad(width - shown.size(), ' ');
      text += (columns_[i].left ? shown + pad : pad + shown) + " ";
    }
    return text + "\n";
  }

 private:
  std::vector<Column> columns_;
  bool bars_;
  bool closed_;
};

std::string default_format() {
  std::string format;
  for (const Field& field : kFields) {
    if (field.name == "Nodelist" || field.name == "Pids") continue;
    format += (format.empty() ? "" : ",") + std::string(field.name);
  }
  return format;
}

Status add_steps(Call& call, const std::string& word, bool all, std::vector<api::StepView>& steps) {
  const auto ref = parse_job_ref(word);
  if (!ref)
    return Error{Errc::denied,
                 error_line(call.program, "Invalid job id specified: " + printable(word))};
  api::StepQuery query{.jobs = {domain_ref(JobId(ref->job), ref->tasks)}};
  if (ref->step == "batch" || ref->step == "extern") return Done{};
  if (!ref->step.empty()) {
    const auto number = parse_uint(ref->step);
    if (!number)
      return Error{Errc::denied, error_line(call.program, "Invalid step: " + printable(word))};
    query.step = static_cast<std::uint32_t>(*number);
  }
  std::vector<api::StepView> found;
  const auto listed = call.controller->steps(query, [&](api::StepView& step) {
    if (step.phase != StepPhase::ended) found.push_back(std::move(step));
  });
  if (!listed) return not_reached("sstat", listed.error());
  if (found.empty()) {
    call.err +=
        error_line(call.program, "couldn't get steps for job " + std::to_string(ref->job)) + "\n";
    return Done{};
  }
  // Without -a, of a job the one step that has run longest.
  if (!all && !query.step) found.resize(1);
  std::ranges::move(found, std::back_inserter(steps));
  return Done{};
}

}  // namespace

int sstat(Call& call) {
  const auto options = choose(call, kOptions);
  if (!options) {
    call.err += options.error().message + "\n";
    return 1;
  }
  const Chosen& chosen = options.value();
  if (chosen.has("version") || chosen.has("help") || chosen.has("usage")) {
    call.out += chosen.has("version") ? kVersionLine : kUsage;
    return 0;
  }
  if (chosen.has("helpformat")) {
    call.out += join(list_of(default_format() + ",Nodelist,Pids"), " ") + "\n";
    return 0;
  }
  std::vector<std::string> words = chosen.rest;
  for (const std::string& list : chosen.all_jobs)
    std::ranges::copy(list_of(list), std::back_inserter(words));
  if (words.empty()) return call.fail("You didn't give me any jobs to stat.");
  std::string format = chosen.has("pidformat") ? "jobid,nodelist,pids" : default_format();
  if (chosen.has("fields")) format = chosen.get("fields");
  if (chosen.has("format")) format = chosen.get("format");
  auto columns = columns_of(call, format);
  if (!columns) return call.fail(columns.error());
  std::vector<api::StepView> steps;
  for (const std::string& word : words) {
    if (const auto added = add_steps(call, word, chosen.has("allsteps"), steps); !added)
      return call.fail(added.error());
  }
  const Table table(std::move(columns).value(), chosen.has("parsable") || chosen.has("parsable2"),
                    chosen.has("parsable"));
  if (!chosen.has("noheader")) call.out += table.header();
  for (const api::StepView& step : steps) {
    call.out += table.line([&](const Column& column) { return cell_of(column.field->name, step); });
  }
  return steps.empty() ? 1 : 0;
}

}  // namespace drover::slurm
