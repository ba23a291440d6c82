// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/choose_job.h -- which job does the user mean?
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/client/discovery.h"
#include "control/client/job_links.h"
#include "control/ladder/outcome.h"
#include "ctl-tool/command_line.h"

namespace livebtl::tool {

struct NoJob {
  ExitCode code = ExitCode::kNotFound;
  std::string text;
};

/// As people write it: the name, or the number if the user has no name in plain characters.
std::string user_name(uid_t user);
/// "": no particular user. Codes: kNotFound (no such user), kNotPermitted (another, and we are not
/// root).
tl::expected<std::optional<uid_t>, NoJob> read_user(const std::string& name);

/// All jobs of that user; nullopt: of this process's user (root: of all users). Searches where this
/// process's settings say, or the site's for another user's jobs.
std::vector<control::JobPlace> all_jobs(std::optional<uid_t> user);

/// A run directory that exists but may not be used, or a settings file that may name one but cannot
/// be read: all_jobs() may then miss jobs. A missing directory is no fault: it may yet be created.
std::optional<NoJob> unusable_run_directory(std::optional<uid_t> user);

/// A command is for one user's jobs: those of `self` if it has such a job, else those of the only
/// other user who has one. Of several others none is chosen; the error names them: a user who
/// starts a job must not change which job root's command acts on. wanted: the job's id; "": any.
tl::expected<std::vector<control::JobPlace>, NoJob> of_one_user(std::vector<control::JobPlace> jobs,
                                                                const std::string& wanted,
                                                                uid_t self);
/// The wanted one of these jobs of one user, or the only one.
tl::expected<control::JobPlace, NoJob> choose_job(std::vector<control::JobPlace> jobs,
                                                  const std::string& wanted);
/// The same of the named user's jobs, or of one user's; if a run directory may not be used, the
/// error says so.
tl::expected<control::JobPlace, NoJob> find_job(const std::string& wanted, const std::string& user);

/// Evidence that this job's processes belong to several jobs of one name; "": there is none.
std::string conflict_in(const control::JobPlace& job);

/// The relays that --relay names, as route.h writes them; the parser has checked them.
std::vector<std::string> relays_of(const CommandLine& line);

/// Connects to the job that the command line means: on this node, or by --connect. timeout: for the
/// job to appear; the wait ends early when `stop` is set.
tl::expected<control::JobLinks, NoJob> open_job(const CommandLine& line, TimeNs timeout,
                                                const std::atomic<bool>& stop);

}  // namespace livebtl::tool
