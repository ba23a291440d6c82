// SPDX-License-Identifier: BSD-3-Clause
// base/process_settings.h -- the settings of this process: from its environment, else from the
// user's file, else the site's (config_file.h), else the defaults. Any thread; nothing is kept.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_file.h"
#include "base/settings.h"

namespace livebtl {

/// Warns of unknown names. Errors: those of read_settings() and read_config_files(), and an invalid
/// value in a file, even if the environment overrides it.
Result<Settings> read_process_settings(const std::vector<std::string>& paths = config_paths());

/// A setting's value and where it is from: a variable's name, a file's path, or "default".
struct SettingOrigin {
  std::string value;
  std::string from;
};
/// files: in order; the last assignment counts.
SettingOrigin origin_of(const SettingInfo& setting, std::span<const Assignment> files);

/// RUNDIR, as the library would read it in a process started here; empty: none is set. Files are
/// read only if no variable sets it. Errors: those of read_config_files().
Result<SettingOrigin> origin_of_run_directory(
    const std::vector<std::string>& paths = config_paths());

/// Errors: kInvalid with the file, the name, the value and what it takes.
Status check_assignments(std::span<const Assignment> files);
/// The warning if the name is not a setting.
std::optional<std::string> unknown_assignment_warning(const Assignment& assignment);

}  // namespace livebtl
