// SPDX-License-Identifier: BSD-3-Clause
// base/config_file.h -- the files that settings may stand in: the site's, then the user's, whose
// word counts more. A line is NAME = VALUE, with the setting's name without LIVEBTL_, in any case;
// # or ; begins a comment. Hostile until it has passed here. Any thread; nothing is kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "livebtl/result.h"

namespace livebtl {

struct Assignment {
  std::string name;   // in capitals; of a setting, or of none
  std::string value;  // not checked
  std::string path;   // of the file
};

/// The whole text of a file. Errors: kInvalid with path, line and what a line must be; a name that
/// stands there twice, a section, a name that only the environment may give.
Result<std::vector<Assignment>> parse_config(std::string_view text, const std::string& path);

/// No file: no assignments. Errors: as parse_config(); kInvalid (no plain file, too long);
/// kAuth (cannot be opened; others than root and this user may write it); kSystem.
Result<std::vector<Assignment>> read_config_file(const std::string& path);

/// In the order in which they are read: /etc/livebtl/livebtl.conf, and ~/.config/livebtl.conf or
/// what XDG_CONFIG_HOME says instead.
std::vector<std::string> config_paths();

/// Of all files at these paths, in their order. Errors: the first of read_config_file().
Result<std::vector<Assignment>> read_config_files(const std::vector<std::string>& paths);

}  // namespace livebtl
