// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/topology_picture.h -- a job's topology as a picture (SVG). Pure.
#pragma once

#include <string>

#include "ctl-tool/topology.h"

namespace livebtl::tool {

/// Colours also differ in lightness, for those who cannot tell them apart; the legend names them.
std::string picture_of(const Topology& topology);

}  // namespace livebtl::tool
