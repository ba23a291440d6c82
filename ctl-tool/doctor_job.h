// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/doctor_job.h -- what `btlctl doctor` finds in a running job, from its processes'
// answers, and in this machine's hooks. Pure except for the hooks' files.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "control/ladder/membership.h"
#include "control/wire/messages.h"
#include "doctor/finding.h"

namespace livebtl::tool {

struct JobSight {
  std::string job;
  std::vector<std::pair<control::MemberEntry, control::StatusAnswer>> answers;
  std::vector<control::MemberEntry> silent;
  control::Missing missing;
  std::string conflict;
};

void check_job(const JobSight& sight, doctor::Report& report);
/// root: of the file system to look at.
void check_hooks(const std::filesystem::path& root, doctor::Report& report);

}  // namespace livebtl::tool
