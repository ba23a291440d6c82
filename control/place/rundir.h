// SPDX-License-Identifier: BSD-3-Clause
// control/place/rundir.h -- the directories of jobs in run directories (base/run_directory.h):
// found, made, locked.
//
// <run directory>/<job id>/ holds, mode 0700: the register of the run (run.h), its secret, and per
// member <process id>.ctl, .lock, .page, .sm. Every live member has a shared flock on its job's
// directory; whoever gets the exclusive one may remove the directory. Threads: any; nothing is kept
// here.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/run_directory.h"
#include "control/place/launcher.h"
#include "control/place/run.h"
#include "livebtl/result.h"

namespace livebtl::control {

struct RunDirectory {
  std::string path;
  uid_t owner = 0;
};

/// Where jobs may be found: `wanted` alone, else all places that make_run_directory() could have
/// chosen in any session of `user`; nullopt: this process's user, or for root all users. Only
/// existing ones with the right owner and mode.
std::vector<RunDirectory> run_directories(const std::string& wanted, const Lookup& lookup,
                                          std::optional<uid_t> user = std::nullopt);

/// The first of one user's places that exists but may not be used, and why: jobs in it would go
/// unseen. nullopt: there is none. Code: kAuth (no permission, wrong owner or mode), kSystem.
std::optional<Error> unusable_run_directory(const std::string& wanted, const Lookup& lookup,
                                            uid_t user);

/// A job's directory, made if missing, and a descriptor that holds it: while that is open, nobody
/// removes it, and this process is part of the run.
struct JobDirectory {
  std::string path;
  std::shared_ptr<const Fd> hold;
  RunId run = kNoRun;
  bool begins = false;  // nobody else was there: what an earlier run had left is gone
};
/// Enters its current run, or begins one. Errors: kAuth, kSystem, kTimeout, kLimit (socket paths in
/// it would be too long; too many processes).
Result<JobDirectory> make_job_directory(const std::string& rundir, std::string_view job);

/// If no process holds the directory: removes what the job's processes left in it, and the
/// directory itself if nothing else is there. If only non-members hold it, such as a clone of one
/// that has ended, directory and register stay. Touches no other files, and no directory that no
/// job has used. Only for directories of our own.
void remove_if_abandoned(const std::string& job_directory) noexcept;
/// The same for all jobs in a run directory of our own.
void tidy_run_directory(const std::string& rundir) noexcept;

/// Gives up the hold of a process that leaves, and removes the directory if it was the last.
/// Requires: nothing of this process is needed there any more.
void leave_job_directory(const std::string& job_directory, std::shared_ptr<const Fd> hold) noexcept;

}  // namespace livebtl::control
