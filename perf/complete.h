// SPDX-License-Identifier: BSD-3-Clause
// perf/complete.h -- `btlperf __complete WORDS...`: what a shell may offer for the last of these
// words, in the form that ctl-tool/complete.h describes. From the parser alone; no file is read.
// Pure.
#pragma once

#include <string>
#include <vector>

namespace livebtl::perf {

std::string completion_text(const std::vector<std::string>& words);

}  // namespace livebtl::perf
