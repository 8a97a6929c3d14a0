#include "slurm/render/account.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace drover::slurm {

std::optional<std::size_t> account_field_by_name(std::string_view name) {
  const auto fields = account_fields();
  std::optional<std::size_t> beginning;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (iequals(fields[i].name, name)) return i;
    if (!beginning && fields[i].name.size() > name.size() && iequals(fields[i].name.substr(0, name.size()), name)) {
      beginning = i;
    }
  }
  return beginning;
}

Result<std::vector<AccountColumn>> account_columns(std::string_view format) {
  return parse_account_columns(
      format, account_field_by_name, [](std::size_t field) { return account_fields()[field].width; }, "sacct");
}

std::vector<AccountRow> account_rows(std::vector<HistoryRow>& history, bool with_steps) {
  std::map<JobId, JobId> latest;
  for (const HistoryRow& row : history) {
    if (row.array) latest[row.array] = std::max(latest[row.array], row.job);
  }
  const auto place = [&latest](const HistoryRow& row) { return row.array ? latest[row.array] : row.job; };
  std::ranges::stable_sort(history, [&](const HistoryRow& a, const HistoryRow& b) {
    if (place(a) != place(b)) return place(a) < place(b);
    if (a.task != b.task) return a.task < b.task;
    return a.restarts < b.restarts;
  });
  std::vector<AccountRow> rows;
  for (const HistoryRow& row : history) {
    rows.push_back({&row, false});
    if (with_steps && row.attempt > 0 && row.started != Instant{} && row.cause != Cause::launch_failed) {
      rows.push_back({&row, true});
    }
  }
  return rows;
}

std::string account_table(const AccountLayout& layout, const std::vector<AccountRow>& rows, const AccountLook& look,
                          bool header) {
  std::string text;
  std::vector<std::string> cells(layout.columns.size());
  if (header) {
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = account_fields()[layout.columns[i].field].name;
    AccountLayout cut = layout;
    text += account_line(cut, cells);
    text += account_rule(layout);
  }
  for (const AccountRow& row : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i] = account_fields()[layout.columns[i].field].text(row, look);
    }
    text += account_line(layout, cells);
  }
  return text;
}

std::string account_help_format() {
  constexpr std::size_t kColumns = 4;
  constexpr std::size_t kWidth = 19;
  std::string text;
  std::size_t column = 0;
  for (const AccountField& field : account_fields()) {
    text += field.name;
    text.append(field.name.size() < kWidth ? kWidth - field.name.size() : 0, ' ');
    text += ++column % kColumns == 0 ? "\n" : " ";
  }
  if (column % kColumns != 0) text.back() = '\n';
  return text;
}

}  // namespace drover::slurm
