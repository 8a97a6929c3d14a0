#include "slurm/script/dependency.h"

#include <array>

#include "base/text.h"
#include "slurm/script/jobid.h"

namespace drover::slurm {
namespace {

struct Word {
  std::string_view text;
  DependencyKind kind;
};
constexpr std::array kWords{
    Word{"after", DependencyKind::after},          Word{"afterany", DependencyKind::after_any},
    Word{"afterok", DependencyKind::after_ok},     Word{"afternotok", DependencyKind::after_not_ok},
    Word{"aftercorr", DependencyKind::after_corr}, Word{"singleton", DependencyKind::singleton}};
constexpr std::uint64_t kLongestDelay = 60ULL * 24 * 366;

Error malformed(std::string_view text) {
  return {Errc::invalid,
          "'" + printable(text) + "' is not a dependency: write for example afterok:12:13 or singleton"};
}

Result<DependencySpec> parse_job(DependencyKind kind, std::string_view text) {
  DependencySpec spec{.kind = kind};
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    const auto delay = parse_uint(text.substr(plus + 1));
    if (kind != DependencyKind::after || !delay || *delay > kLongestDelay) return malformed(text);
    spec.delay_minutes = static_cast<std::uint32_t>(*delay);
    text = text.substr(0, plus);
  }
  const auto ref = parse_job_ref(text);
  if (!ref || !ref.value().step.empty() || ref.value().tasks.size() > 1) return malformed(text);
  spec.job = ref.value().job;
  if (!ref.value().tasks.empty()) spec.task = ref.value().tasks.front();
  return spec;
}

}  // namespace

std::string_view dependency_word(DependencyKind kind) {
  for (const Word& word : kWords) {
    if (word.kind == kind) return word.text;
  }
  return "";
}

Result<Dependencies> parse_dependencies(std::string_view text) {
  Dependencies result;
  result.any = text.find('?') != std::string_view::npos;
  if (result.any && text.find(',') != std::string_view::npos) {
    return Error{Errc::invalid,
                 "'" + printable(text) + "' mixes ',' (all of them) and '?' (one is enough): use one sign"};
  }
  const auto items = split(text, result.any ? '?' : ',');
  if (items.empty()) return malformed(text);
  for (const std::string_view item : items) {
    auto parts = split(item, ':');
    if (parts.empty()) return malformed(text);
    DependencyKind kind = DependencyKind::after_any;
    bool named = false;
    for (const Word& word : kWords) {
      if (iequals(word.text, parts.front())) {
        kind = word.kind;
        named = true;
      }
    }
    if (named) parts.erase(parts.begin());
    if (kind == DependencyKind::singleton) {
      if (!parts.empty()) return malformed(text);
      result.list.push_back({.kind = kind});
      continue;
    }
    if (parts.empty()) return malformed(text);
    for (const std::string_view part : parts) result.list.push_back(TRY(parse_job(kind, part)));
  }
  return result;
}

}  // namespace drover::slurm
