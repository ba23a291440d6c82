// SPDX-License-Identifier: BSD-3-Clause
// transports/builtin.h -- the list of transports that are compiled in; the only place that knows
// them all.
#pragma once

#include <vector>

#include "core/node_facts.h"

namespace livebtl::transports {

std::vector<core::TransportKind> builtin();

}  // namespace livebtl::transports
