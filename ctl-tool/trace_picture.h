// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/trace_picture.h -- the last switches of a job as a picture (SVG): a row per process, a
// bar per rung. Pure.
#pragma once

#include <string>
#include <vector>

#include "ctl-tool/merged_history.h"

namespace livebtl::tool {

/// switches: from merge_history(pages, ...); each has its own time axis, which begins at the first
/// order. Rows of one node share a clock; rows of two nodes are off by as much as their clocks.
/// Colours also differ in lightness, for those who cannot tell them apart; the legend names them.
std::string picture_of_switches(const std::vector<control::PageView>& pages,
                                const std::vector<MergedSwitch>& switches);

}  // namespace livebtl::tool
