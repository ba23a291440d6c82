// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/generate.h -- what the manual has from the definition of the command line and from the table of settings, so
// that it cannot differ from what the program does. The prose is in docs/man (docs/adr/0055). One thread; owns nothing.
#pragma once

#include <string>
#include <vector>

#include "livebtl/result.h"

namespace livebtl::tool {

/// The source of a manual page (docs/man/*.scd) with its @PLACES@ filled in, as scdoc takes it. Errors: kInvalid, a place
/// that means nothing.
Result<std::string> filled_page(const std::string& source);
/// Of a command, by its name: a line for each of its actions, or the one that it has. "livebtl-run": of that program.
std::vector<std::string> synopses_of(const std::string& command);

std::string settings_page();  // livebtl-settings(7), in roff

}  // namespace livebtl::tool
