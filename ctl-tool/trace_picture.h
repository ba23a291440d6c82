// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/trace_picture.h -- the last switches of a job as a picture (SVG): a row a process, a bar a rung. Pure.
#pragma once

#include <string>
#include <vector>

#include "ctl-tool/merged_history.h"

namespace livebtl::tool {

/// switches: of merge_history(pages, ...); each has a time axis of its own, from the first order on. Rows of one node have
/// one clock; those of two nodes are as far apart as their clocks. Colours differ in lightness, too, for those who do not
/// see all of them; the legend names them.
std::string picture_of_switches(const std::vector<control::PageView>& pages,
                                const std::vector<MergedSwitch>& switches);

}  // namespace livebtl::tool
