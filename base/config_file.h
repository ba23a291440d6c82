// SPDX-License-Identifier: BSD-3-Clause
// base/config_file.h -- the files that may hold settings: the site's, then the user's, which
// overrides it. A line is NAME = VALUE, with the setting's name without LIVEBTL_, in any case; # or
// ; begins a comment. Hostile until checked here. Any thread; nothing is kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "livebtl/result.h"

namespace livebtl {

struct Assignment {
  std::string name;   // in capitals; may not be a setting
  std::string value;  // not checked
  std::string path;   // of the file
};

/// text: of the whole file. Errors: kInvalid, with path, line and what a line must be: also for a
/// repeated name, a section, or a name that only the environment may give.
Result<std::vector<Assignment>> parse_config(std::string_view text, const std::string& path);

/// No file: no assignments. Errors: as parse_config(); kInvalid (not a plain file, too long);
/// kAuth (cannot be opened; users other than root and this one own it or may write it); kSystem.
Result<std::vector<Assignment>> read_config_file(const std::string& path);

/// In reading order: /etc/livebtl/livebtl.conf, then livebtl.conf in $XDG_CONFIG_HOME if that is an
/// absolute path, else in ~/.config.
std::vector<std::string> config_paths();

/// The assignments of all files at these paths, in order. Errors: the first of read_config_file().
Result<std::vector<Assignment>> read_config_files(const std::vector<std::string>& paths);

}  // namespace livebtl
