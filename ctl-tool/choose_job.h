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

/// All jobs of this user (root: of all users).
std::vector<control::JobPlace> all_jobs();

/// A run directory that is there and may not be used: jobs may run that all_jobs() does not see.
/// One that is not there may yet be made.
std::optional<NoJob> unusable_run_directory();

/// Of these the named one, or the only one.
tl::expected<control::JobPlace, NoJob> choose_job(std::vector<control::JobPlace> jobs,
                                                  const std::string& wanted);
/// The same of all_jobs(); says why there is none if a run directory may not be used.
tl::expected<control::JobPlace, NoJob> find_job(const std::string& wanted);

/// Do the processes of this job go by the name of several? What shows it; "": nothing does.
std::string conflict_in(const control::JobPlace& job);

/// Connections to the job that the command line means: on this node, or by --connect. timeout: for
/// it to appear; ends early when `stop` is set.
tl::expected<control::JobLinks, NoJob> open_job(const CommandLine& line, TimeNs timeout,
                                                const std::atomic<bool>& stop);

}  // namespace livebtl::tool
