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

/// As people write it: the name, or the number if there is no name of plain characters.
std::string user_name(uid_t user);
/// "": nobody in particular. Codes: kNotFound (no such user), kNotPermitted (another, and we are not root).
tl::expected<std::optional<uid_t>, NoJob> read_user(const std::string& name);

/// All jobs of that user; nullopt: of this process's user (root: of all users). Where the settings of this process, and for
/// another user's those of the site, say that they are.
std::vector<control::JobPlace> all_jobs(std::optional<uid_t> user);

/// A run directory that is there and may not be used, or a file of settings that may name one and cannot be read: jobs may
/// run that all_jobs() does not see. A directory that is not there may yet be made.
std::optional<NoJob> unusable_run_directory(std::optional<uid_t> user);

/// A command is for one user's jobs. Those of `self` if it has such a job; else of the one other user who
/// has. Several others are named, and none is chosen: a user who starts something must not change what a command
/// of root is about. wanted: the job's id; "": any.
tl::expected<std::vector<control::JobPlace>, NoJob> of_one_user(std::vector<control::JobPlace> jobs,
                                                                const std::string& wanted,
                                                                uid_t self);
/// Of these, of one user, the named one, or the only one.
tl::expected<control::JobPlace, NoJob> choose_job(std::vector<control::JobPlace> jobs,
                                                  const std::string& wanted);
/// The same of all_jobs() of the named user, or of one; says why there is none if a run directory may not be used.
tl::expected<control::JobPlace, NoJob> find_job(const std::string& wanted, const std::string& user);

/// Do the processes of this job go by the name of several? What shows it; "": nothing does.
std::string conflict_in(const control::JobPlace& job);

/// What --relay names, as route.h writes it; the parser has checked it.
std::vector<std::string> relays_of(const CommandLine& line);

/// Connections to the job that the command line means: on this node, or by --connect. timeout: for
/// it to appear; ends early when `stop` is set.
tl::expected<control::JobLinks, NoJob> open_job(const CommandLine& line, TimeNs timeout,
                                                const std::atomic<bool>& stop);

}  // namespace livebtl::tool
