// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/generate.h -- manual pages and shell completion, made from the definition of the command
// line and from the table of settings, so that they cannot differ from what the program does. What does
// not depend on these is in texts/.
#pragma once

#include <string>

namespace livebtl::tool {

std::string manual_page();    // btlctl(1)
std::string settings_page();  // livebtl-settings(7)
std::string run_page();       // livebtl-run(1)
std::string completion();     // bash

}  // namespace livebtl::tool
