// SPDX-License-Identifier: BSD-3-Clause
// base/process_settings.h -- the settings of this process: from its environment, else from the
// user's file, else from the site's (config_file.h), else the defaults. Any thread; nothing is kept.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_file.h"
#include "base/settings.h"

namespace livebtl {

/// Warns of names that are none of ours. Errors: those of read_settings() and read_config_files(),
/// and a value in a file that cannot be, even where the environment has another.
Result<Settings> read_process_settings(const std::vector<std::string>& paths = config_paths());

/// What a setting was given and where: a variable's name or a file's path; "default".
struct SettingOrigin {
  std::string value;
  std::string from;
};
/// files: in their order, of which the last counts.
SettingOrigin origin_of(const SettingInfo& setting, std::span<const Assignment> files);

/// RUNDIR, as the library of a process that is started here takes it; an empty value: none is named. A file is read only if
/// no variable names one. Errors: those of read_config_files().
Result<SettingOrigin> origin_of_run_directory(
    const std::vector<std::string>& paths = config_paths());

/// Errors: kInvalid with the file, the name, the value and what it takes.
Status check_assignments(std::span<const Assignment> files);
/// The warning if that is no setting.
std::optional<std::string> unknown_assignment_warning(const Assignment& assignment);

}  // namespace livebtl
