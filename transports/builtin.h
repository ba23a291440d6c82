// SPDX-License-Identifier: BSD-3-Clause
// transports/builtin.h -- the list of transports that are compiled in; the only place that knows
// them all.
#pragma once

#include <string>
#include <vector>

#include "transports/interface/node_facts.h"

namespace livebtl::transports {

std::vector<core::TransportKind> builtin();

/// By its name or alias, or as one of several: "ofi:PROVIDER". Errors: kInvalid (says what there
/// is).
Result<core::TransportKind> named(const std::string& name);

}  // namespace livebtl::transports
