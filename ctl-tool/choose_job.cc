// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/choose_job.cc -- see choose_job.h.
#include "ctl-tool/choose_job.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "control/client/relay_address.h"
#include "control/ladder/membership.h"
#include "control/place/job_secret.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

using control::JobPlace;

std::optional<std::string> environment(std::string_view name) {
  const char* value = ::secure_getenv(std::string(name).c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::string names(const std::vector<JobPlace>& jobs) {
  std::string text;
  for (const JobPlace& job : jobs) text += "\n  --job " + job.id;
  return text;
}

tl::unexpected<NoJob> none(std::string text, ExitCode code = ExitCode::kNotFound) {
  return tl::unexpected<NoJob>(NoJob{code, std::move(text)});
}

}  // namespace

std::optional<NoJob> unusable_run_directory() {
  const std::string named = environment("LIVEBTL_RUNDIR").value_or("");
  const auto why = control::unusable_run_directory(named, environment);
  if (!why) return std::nullopt;
  const bool forbidden = why->code == Errc::kAuth;
  return NoJob{forbidden ? ExitCode::kNotPermitted : ExitCode::kNotFound,
               (named.empty() ? "" : "LIVEBTL_RUNDIR: ") + why->text};
}

std::vector<JobPlace> all_jobs() {
  const std::string rundir = environment("LIVEBTL_RUNDIR").value_or("");
  return control::find_jobs(control::run_directories(rundir, environment));
}

tl::expected<JobPlace, NoJob> choose_job(std::vector<JobPlace> jobs, const std::string& wanted) {
  if (wanted.empty()) {
    if (jobs.size() == 1) return std::move(jobs.front());
    if (jobs.empty()) {
      return none(
          "no job runs on this node; start one over livebtl, or set LIVEBTL_RUNDIR as it "
          "was set for the job");
    }
    return none("several jobs run on this node; name one:" + names(jobs), ExitCode::kUsage);
  }
  std::erase_if(jobs, [&](const JobPlace& job) { return job.id != wanted; });
  if (jobs.size() == 1) return std::move(jobs.front());
  if (jobs.empty()) return none("no job " + printable(wanted) + " on this node; see: btlctl jobs");
  return none("several users have a job " + printable(wanted) +
                  "; set LIVEBTL_RUNDIR to the run directory of "
                  "the one you mean",
              ExitCode::kUsage);
}

tl::expected<JobPlace, NoJob> find_job(const std::string& wanted) {
  auto job = choose_job(all_jobs(), wanted);
  if (auto why = job ? std::nullopt : unusable_run_directory()) return tl::unexpected(*why);
  return job;
}

std::string conflict_in(const JobPlace& job) {
  std::vector<control::Counted> live;
  for (const auto& card : job.members.live) live.push_back({card.name, card.rank, card.announced});
  return control::several_jobs(job.id, live);
}

namespace {

tl::expected<JobPlace, NoJob> wait_for_job(const std::string& wanted, TimeNs timeout,
                                           const std::atomic<bool>& stop) {
  const TimeNs deadline = monotonic_now() + timeout;
  for (;;) {
    auto job = find_job(wanted);
    if (job || job.error().code != ExitCode::kNotFound) return job;
    if (monotonic_now() >= deadline || stop.load()) return job;
    const timespec pause{0, 50 * kMillisecond};
    ::nanosleep(&pause, nullptr);
  }
}

ExitCode code_of(Errc error) {
  if (error == Errc::kCancelled) return ExitCode::kInterrupted;
  const bool nobody = error == Errc::kUnreachable || error == Errc::kNotFound;
  return nobody ? ExitCode::kNotFound : ExitCode::kNotPermitted;
}

/// --secret-file, else what the job's own processes are told by; absent: neither.
Result<Secret> secret_for(const CommandLine& line) {
  const std::string file = !line.secret_file.empty()
                               ? line.secret_file
                               : environment("LIVEBTL_SECRET_FILE").value_or("");
  return file.empty() ? Secret() : control::read_secret_file(file);
}

tl::expected<control::JobLinks, NoJob> connect_outside(const CommandLine& line, TimeNs timeout,
                                                       const std::atomic<bool>& stop) {
  const auto place = control::parse_host_port(line.connect);
  if (!place) return none(place.error().text, ExitCode::kUsage);
  const auto secret = secret_for(line);
  if (!secret) return none(secret.error().text, ExitCode::kNotPermitted);
  if (!line.job.empty() && !control::valid_job_id(line.job))
    return none("'" + printable(line.job) + "' is no job's id");
  const Deadline deadline{monotonic_now() + timeout, &stop};
  const auto endpoints = control::relay_at(*place, deadline);
  if (!endpoints) return none(endpoints.error().text, code_of(endpoints.error().code));
  auto links = control::JobLinks::connect({line.connect, *endpoints, *secret}, line.job, deadline);
  if (links) return std::move(*links);
  return none(links.error().text, code_of(links.error().code));
}

}  // namespace

tl::expected<control::JobLinks, NoJob> open_job(const CommandLine& line, TimeNs timeout,
                                                const std::atomic<bool>& stop) {
  if (!line.connect.empty()) {
    // Names are looked up and connections made: that takes longer than a look into a directory.
    return connect_outside(line, std::max(timeout, line.timeout_for_look()), stop);
  }
  auto job = wait_for_job(line.job, timeout, stop);
  if (!job) return tl::unexpected(job.error());
  return control::JobLinks::open(*job);
}

}  // namespace livebtl::tool
