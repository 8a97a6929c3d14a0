#include "slurm/launch/mail.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "slurm/render/job_text.h"
#include "slurm/render/words.h"
#include "slurm/script/time.h"

namespace drover::slurm {
namespace {

bool asked_for(const JobSpec& spec, std::string_view type) {
  const std::vector<std::string_view> types = split(spec.mail_types, ',');
  const auto has = [&](std::string_view word) { return std::ranges::find(types, word) != types.end(); };
  return has(type) || (has("ALL") && type != "ARRAY_TASKS" && type != "TIME_LIMIT");
}

// Does this fact of one task speak for its whole array?
bool speaks_for_array(const Cluster& cluster, const Job& job, bool begins) {
  for (const JobId id : cluster.array_members(job.array)) {
    const Job& member = cluster.jobs().at(id);
    if (begins && id != job.id && member.run->attempt > 0) return false;
    if (!begins && member.phase != Phase::ended) return false;
  }
  return true;
}

std::string hms(Duration duration) {
  const std::int64_t total = std::chrono::floor<seconds>(duration).count();
  const auto two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  const std::string days = total >= 86'400 ? std::to_string(total / 86'400) + "-" : "";
  return days + two(total / 3600 % 24) + ":" + two(total / 60 % 60) + ":" + two(total % 60);
}

std::string beginning(const api::JobView& job) {
  return "Slurm " + std::string(job.array && job.task == kNoTask ? "Array Summary " : "") +
         "Job_id=" + job_id_text(job) + " Name=" + printable(job.name, 1024);
}

// What happened, as --mail-type names it; "" when there is nothing to write.
std::string_view type_of(const Event& fact, const Job& job, const JobSpec& spec) {
  if (std::holds_alternative<JobStarted>(fact)) return "BEGIN";
  if (std::holds_alternative<JobRequeued>(fact)) return "REQUEUE";
  if (!std::holds_alternative<JobEnded>(fact)) return "";
  if (job.cause == Cause::requeued) return "";  // a REQUEUE follows
  if (job.cause == Cause::time_limit && asked_for(spec, "TIME_LIMIT")) return "TIME_LIMIT";
  if (job.cause != Cause::completed && asked_for(spec, "FAIL")) return "FAIL";
  return "END";
}

}  // namespace

JobId mail_subject(const Event& fact) {
  if (const auto* e = std::get_if<JobStarted>(&fact)) return e->job;
  if (const auto* e = std::get_if<JobEnded>(&fact)) return e->job;
  if (const auto* e = std::get_if<JobRequeued>(&fact)) return e->job;
  return JobId{};
}

std::optional<Mail> mail_of(const Cluster& cluster, const Event& fact, const JobSpec& spec) {
  const Job* job = cluster.job(mail_subject(fact));
  if (job == nullptr || spec.mail_types.empty()) return std::nullopt;
  const std::string_view type = type_of(fact, *job, spec);
  if (type.empty() || !asked_for(spec, type)) return std::nullopt;
  const bool one_for_all = job->array && !asked_for(spec, "ARRAY_TASKS");
  if (one_for_all && type != "REQUEUE" && !speaks_for_array(cluster, *job, type == "BEGIN")) return std::nullopt;
  const api::JobView view = api::job_view(cluster, *job, api::Fields{});
  Mail mail{.to = spec.mail_user.empty() ? view.user : spec.mail_user, .subject = beginning(view)};
  // An address that starts with a dash would be an option of the mail program.
  if (mail.to.empty() || mail.to.front() == '-') return std::nullopt;
  if (type == "BEGIN") {
    mail.subject += " Began, Queued time " + hms(job->run->started - job->submitted);
  } else if (type == "REQUEUE") {
    mail.subject += " Requeued";
  } else {
    const bool failed = job->cause != Cause::completed;
    mail.subject += failed ? " Failed" : " Ended";
    if (type == "TIME_LIMIT") mail.subject += ", Reached time limit";
    const Duration ran = job->run->started == Instant{} ? Duration{0} : job->run->ended - job->run->started;
    mail.subject += ", Run time " + hms(ran) + ", " + std::string(state_word(job_state(view.phase, view.cause)));
    mail.subject += ", ExitCode " + std::to_string(job->run->exit.code);
  }
  return mail;
}

}  // namespace drover::slurm
