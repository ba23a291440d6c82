// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/topology_picture.h -- a job's topology as a picture (SVG). Pure.
#pragma once

#include <string>

#include "ctl-tool/topology.h"

namespace livebtl::tool {

/// Colours differ in lightness, too, for those who do not see all of them; the legend names them.
std::string picture_of(const Topology& topology);

}  // namespace livebtl::tool
