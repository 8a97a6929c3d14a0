#include "slurm/render/queue.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace drover::slurm {
namespace {

struct StepField {
  char letter;
  std::string_view header;
  std::string (*text)(const StepLine& line, const Look& look);
};

std::string id_of_step(const StepLine& line, const Look&) {
  return job_id_text(line.job) + "." + (line.step == nullptr ? "batch" : std::to_string(line.step->number));
}
std::string step_nodes(const StepLine& line, const Look&) {
  if (line.step == nullptr) return line.job.nodes.empty() ? std::string() : line.job.nodes.front();
  std::vector<std::string> nodes;
  for (const api::StepShareView& share : line.step->shares) nodes.push_back(share.share.node);
  return nodes_text(nodes);
}
Instant step_start(const StepLine& line) { return line.step == nullptr ? line.job.started : line.step->started; }
std::string step_time(const StepLine& line, const Look& look) {
  return short_duration(std::max<std::int64_t>(0, unix_seconds(look.now) - unix_seconds(step_start(line))));
}

constexpr std::array kSteps{
    StepField{'A', "STEPID", id_of_step},
    StepField{'b', "TRES_PER_NODE", [](const StepLine&, const Look&) { return std::string("N/A"); }},
    StepField{'i', "STEPID", id_of_step},
    StepField{'j', "NAME",
              [](const StepLine& line, const Look&) {
                return line.step == nullptr ? std::string("batch") : printable(line.step->name, 1024);
              }},
    StepField{'l', "TIME_LIMIT",
              [](const StepLine& line, const Look&) {
                if (line.step == nullptr || line.step->limit <= Duration{0}) return std::string("UNLIMITED");
                return short_duration(line.step->limit / seconds(1));
              }},
    StepField{'M', "TIME", step_time},
    StepField{'N', "NODELIST", step_nodes},
    StepField{'P', "PARTITION", [](const StepLine& line, const Look&) { return line.job.partition; }},
    StepField{'S', "START_TIME",
              [](const StepLine& line, const Look& look) { return look.times.print(time_of(step_start(line))); }},
    StepField{'t', "STATE", [](const StepLine&, const Look&) { return std::string("R"); }},
    StepField{'T', "STATE", [](const StepLine&, const Look&) { return std::string("RUNNING"); }},
    StepField{'u', "USER", [](const StepLine& line, const Look&) { return line.job.user; }},
    StepField{'U', "USER", [](const StepLine& line, const Look&) { return std::to_string(line.job.uid); }},
};

std::string all_letters() {
  std::string format;
  for (const JobField& field : job_fields()) {
    if (field.letter == 0) continue;
    if (!format.empty()) format += '|';
    format += std::string("%") + field.letter;
  }
  return format;
}

template <class Cell>
std::string line_of(const Layout& layout, const Cell& cell) {
  std::string line = layout.before;
  for (const Column& column : layout.columns) append_cell(line, column, column.field ? cell(*column.field) : "");
  return line + '\n';
}

using Before = int (*)(const api::JobView& a, const api::JobView& b, Instant now);

template <class T>
int order(const T& a, const T& b) {
  if (a < b) return -1;
  return b < a ? 1 : 0;
}

constexpr std::int64_t kNever = std::int64_t{1} << 62;

struct SortKey {
  char letter;
  Before compare;
};
constexpr std::array kSortKeys{
    SortKey{'a', [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.account, b.account); }},
    SortKey{'A', [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.id, b.id); }},
    SortKey{'C',
            [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.cpu_count, b.cpu_count); }},
    SortKey{'D',
            [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.node_count, b.node_count); }},
    SortKey{'e', [](const api::JobView& a, const api::JobView& b,
                    Instant now) { return order(end_of(a, now).value_or(kNever), end_of(b, now).value_or(kNever)); }},
    SortKey{'i', [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.id, b.id); }},
    SortKey{'j', [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.name, b.name); }},
    SortKey{'l', [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.limit, b.limit); }},
    SortKey{'M', [](const api::JobView& a, const api::JobView& b,
                    Instant now) { return order(used_seconds(a, now), used_seconds(b, now)); }},
    SortKey{'N', [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.nodes, b.nodes); }},
    SortKey{'p', [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.priority, b.priority); }},
    SortKey{'P',
            [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.partition, b.partition); }},
    SortKey{'Q', [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.priority, b.priority); }},
    SortKey{'S',
            [](const api::JobView& a, const api::JobView& b, Instant now) {
              return order(start_of(a, now).value_or(kNever), start_of(b, now).value_or(kNever));
            }},
    SortKey{'t',
            [](const api::JobView& a, const api::JobView& b, Instant) {
              return order(state_code(job_state(a.phase, a.cause)), state_code(job_state(b.phase, b.cause)));
            }},
    SortKey{'T',
            [](const api::JobView& a, const api::JobView& b, Instant) {
              return order(state_word(job_state(a.phase, a.cause)), state_word(job_state(b.phase, b.cause)));
            }},
    SortKey{'u', [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.user, b.user); }},
    SortKey{'U', [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.uid, b.uid); }},
    SortKey{'V',
            [](const api::JobView& a, const api::JobView& b, Instant) { return order(a.submitted, b.submitted); }},
};

}  // namespace

Layout job_layout(std::string_view letters) {
  const std::string all = letters == "%all" ? all_letters() : std::string(letters);
  return parse_letters(all, job_field_by_letter, "job");
}

Layout step_layout(std::string_view letters) {
  return parse_letters(
      letters,
      [](char letter) -> std::optional<std::size_t> {
        const auto found = std::ranges::find(kSteps, letter, &StepField::letter);
        if (found == kSteps.end()) return std::nullopt;
        return static_cast<std::size_t>(found - kSteps.begin());
      },
      "job step");
}

Reads layout_reads(const Layout& layout) {
  Reads most = Reads::row;
  for (const Column& column : layout.columns) {
    if (column.field) most = std::max(most, job_fields()[*column.field].reads);
  }
  return most;
}

Result<bool> sort_jobs(std::vector<api::JobView>& jobs, std::string_view keys, Instant now) {
  struct Wanted {
    Before compare;
    bool falling;
  };
  std::vector<Wanted> wanted;
  for (std::string_view key : split(keys, ',')) {
    const bool falling = key.starts_with('-');
    if (falling || key.starts_with('+')) key.remove_prefix(1);
    const auto known =
        std::ranges::find_if(kSortKeys, [&](const SortKey& k) { return key == std::string_view(&k.letter, 1); });
    if (known == kSortKeys.end()) {
      return Error{Errc::denied, "squeue: error: Invalid sort specification: " + printable(key)};
    }
    wanted.push_back({known->compare, falling});
  }
  sort_as_listed(jobs);
  sort_views(jobs, [&](const api::JobView& a, const api::JobView& b) {
    for (const Wanted& key : wanted) {
      const int result = key.compare(a, b, now);
      if (result != 0) return key.falling ? result > 0 : result < 0;
    }
    return false;
  });
  return true;
}

std::string job_header(const Layout& layout) {
  return line_of(layout, [](std::size_t field) { return std::string(job_fields()[field].header); });
}

void add_job_line(std::string& text, const Layout& layout, const api::JobView& job, const Look& look) {
  text += layout.before;
  for (const Column& column : layout.columns) {
    const JobField* field = column.field ? &job_fields()[*column.field] : nullptr;
    append_cell(text, column, field == nullptr ? "" : field->text(job, look), field == nullptr || !field->whole);
  }
  text += '\n';
}

std::string step_header(const Layout& layout) {
  return line_of(layout, [](std::size_t field) { return std::string(kSteps[field].header); });
}

std::string step_line(const Layout& layout, const StepLine& line, const Look& look) {
  return line_of(layout, [&](std::size_t field) { return kSteps[field].text(line, look); });
}

}  // namespace drover::slurm
