// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/choose_job.cc -- see choose_job.h.
#include "ctl-tool/choose_job.h"

#include <pwd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/process_settings.h"
#include "base/text.h"
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

/// May these jobs belong to others than this process's user?
bool of_others(std::optional<uid_t> user) noexcept {
  return user ? *user != ::geteuid() : ::geteuid() == 0;
}

/// The run directory as those jobs' library chooses it. Another user's settings file is not to be
/// trusted, and is not read; only the site's is.
Result<SettingOrigin> run_directory_named(std::optional<uid_t> user) {
  std::vector<std::string> paths = config_paths();
  if (user && of_others(user)) paths.resize(1);
  return origin_of_run_directory(paths);
}

/// A settings file binds only those who read it: others' jobs may also be in the usual places.
std::vector<control::RunDirectory> places_of_jobs(const SettingOrigin& named,
                                                  std::optional<uid_t> user) {
  auto places = control::run_directories(named.value, environment, user);
  const bool by_file = !named.value.empty() && named.from.starts_with('/');
  if (!by_file || !of_others(user)) return places;
  for (control::RunDirectory& usual : control::run_directories("", environment, user)) {
    const bool known = std::ranges::any_of(
        places, [&usual](const auto& place) { return place.path == usual.path; });
    if (!known) places.push_back(std::move(usual));
  }
  return places;
}

}  // namespace

std::string user_name(uid_t user) {
  const passwd* const entry = ::getpwuid(user);  // no other thread asks at the same time
  const std::string_view name = entry != nullptr ? entry->pw_name : "";
  return is_plain_name(name) ? std::string(name) : std::to_string(user);
}

tl::expected<std::optional<uid_t>, NoJob> read_user(const std::string& name) {
  if (name.empty()) return std::optional<uid_t>{};
  std::optional<uid_t> user = parse_number<uid_t>(name);
  const passwd* const entry = user ? nullptr : ::getpwnam(name.c_str());
  if (entry != nullptr) user = entry->pw_uid;
  if (!user) return none("there is no user " + printable(name));
  if (::geteuid() == 0 || *user == ::geteuid()) return user;
  return none("the jobs of user " + printable(name) + " are for that user and for root alone",
              ExitCode::kNotPermitted);
}

std::optional<NoJob> unusable_run_directory(std::optional<uid_t> user) {
  const auto named = run_directory_named(user);
  if (!named)
    return NoJob{named.error().code == Errc::kAuth ? ExitCode::kNotPermitted : ExitCode::kUsage,
                 "where jobs are is not known: " + named.error().text};
  const auto why =
      control::unusable_run_directory(named->value, environment, user.value_or(::geteuid()));
  if (!why) return std::nullopt;
  const bool forbidden = why->code == Errc::kAuth;
  return NoJob{forbidden ? ExitCode::kNotPermitted : ExitCode::kNotFound,
               (named->value.empty() ? "" : named->from + ": ") + why->text};
}

std::vector<JobPlace> all_jobs(std::optional<uid_t> user) {
  const auto named = run_directory_named(user);
  return control::find_jobs(places_of_jobs(named.value_or(SettingOrigin{}), user));
}

tl::expected<std::vector<JobPlace>, NoJob> of_one_user(std::vector<JobPlace> jobs,
                                                       const std::string& wanted, uid_t self) {
  std::set<uid_t> owners;
  for (const JobPlace& job : jobs) {
    if (wanted.empty() || job.id == wanted) owners.insert(job.owner);
  }
  const uid_t chosen = owners.contains(self) || owners.empty() ? self : *owners.begin();
  if (chosen != self && owners.size() > 1) {
    std::string text = "several users have such jobs on this node; name one:";
    for (const uid_t owner : owners) text += "\n  --user " + user_name(owner);
    return none(std::move(text), ExitCode::kUsage);
  }
  std::erase_if(jobs, [chosen](const JobPlace& job) { return job.owner != chosen; });
  return jobs;
}

tl::expected<JobPlace, NoJob> choose_job(std::vector<JobPlace> jobs, const std::string& wanted) {
  if (wanted.empty()) {
    if (jobs.size() == 1) return std::move(jobs.front());
    if (jobs.empty()) {
      return none(
          "no job that is yours runs on this node; start one over livebtl, or set LIVEBTL_RUNDIR "
          "as it was set for the job");
    }
    return none("several jobs run on this node; name one:" + names(jobs), ExitCode::kUsage);
  }
  std::erase_if(jobs, [&](const JobPlace& job) { return job.id != wanted; });
  if (jobs.size() == 1) return std::move(jobs.front());
  if (jobs.empty()) return none("no job " + printable(wanted) + " on this node; see: btlctl jobs");
  return none("there are several jobs " + printable(wanted) +
                  "; set LIVEBTL_RUNDIR to the run directory of the one you mean",
              ExitCode::kUsage);
}

tl::expected<JobPlace, NoJob> find_job(const std::string& wanted, const std::string& user) {
  const auto whose = read_user(user);
  if (!whose) return tl::unexpected(whose.error());
  auto jobs = of_one_user(all_jobs(*whose), wanted, whose->value_or(::geteuid()));
  auto job = jobs ? choose_job(std::move(*jobs), wanted) : tl::unexpected(jobs.error());
  if (auto why = job ? std::nullopt : unusable_run_directory(*whose)) return tl::unexpected(*why);
  return job;
}

std::string conflict_in(const JobPlace& job) {
  std::vector<control::Counted> live;
  for (const auto& card : job.members.live) live.push_back({card.name, card.rank, card.announced});
  return control::several_jobs(job.id, live);
}

namespace {

tl::expected<JobPlace, NoJob> wait_for_job(const CommandLine& line, TimeNs timeout,
                                           const std::atomic<bool>& stop) {
  const TimeNs deadline = monotonic_now() + timeout;
  for (;;) {
    auto job = find_job(line.job, line.user);
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

/// --secret-file, else LIVEBTL_SECRET_FILE, as in the job's own processes; absent: neither.
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

std::vector<std::string> relays_of(const CommandLine& line) {
  std::vector<std::string> relays;
  for (const std::string& each : line.relays) {
    if (auto relay = control::parse_relay(each)) relays.push_back(std::move(*relay));
  }
  return relays;
}

tl::expected<control::JobLinks, NoJob> open_job(const CommandLine& line, TimeNs timeout,
                                                const std::atomic<bool>& stop) {
  if (!line.connect.empty()) {
    // Looking up names and connecting takes longer than a look into a directory.
    return connect_outside(line, std::max(timeout, line.timeout_for_look()), stop);
  }
  auto job = wait_for_job(line, timeout, stop);
  if (!job) return tl::unexpected(job.error());
  return control::JobLinks::open(*job, relays_of(line));
}

}  // namespace livebtl::tool
