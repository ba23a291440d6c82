// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/generate.h -- what the manual takes from the definition of the command line and the
// table of settings, so that it cannot differ from what the program does. The prose is in docs/man
// (docs/adr/0055). One thread; owns nothing.
#pragma once

#include <string>
#include <vector>

#include "livebtl/result.h"

namespace livebtl::tool {

/// The source of a manual page (docs/man/*.scd) with its @PLACES@ filled in, as scdoc takes it.
/// Errors: kInvalid, an unknown place.
Result<std::string> filled_page(const std::string& source);
/// The named command's synopses: one for each action, or its only one. "livebtl-run", "btlperf": of
/// that program.
std::vector<std::string> synopses_of(const std::string& command);

std::string settings_page();  // livebtl-settings(7), in roff

}  // namespace livebtl::tool
