// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/run/announce.h -- the line that says that a job is up: "livebtl: 4 ranks on 2 nodes, sm
// + verbs, job X (btlctl status)". A process of its own looks for the job, as livebtl-run itself
// becomes the launcher.
//
// Threads: one. That process ends when it has printed its line or the launcher ends, whichever is
// first.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/wire/messages.h"

namespace livebtl::tool {

using StatusAnswers = std::vector<std::pair<control::MemberEntry, control::StatusAnswer>>;

/// The line, without a newline; "": the job is not up yet, as processes of it are missing or still joining.
std::string up_line(const std::string& job, const StatusAnswers& answers);
/// Does every process send to another one?
bool all_talk(const StatusAnswers& answers);

/// nullopt: that process has ended.
using ParentOf = std::function<std::optional<pid_t>(pid_t pid)>;
/// Is `ancestor` that process itself, or one from which it descends?
bool descends(pid_t pid, pid_t ancestor, const ParentOf& parent);

/// Called by the process that will be the launcher. by_descent: the job's processes on this node
/// descend from the launcher; else (srun) the job is known by having appeared after it.
void announce_job_of_this_process(bool by_descent);

}  // namespace livebtl::tool
