// SPDX-License-Identifier: BSD-3-Clause
// transports/builtin.h -- the list of transports that are compiled in; the only place that knows
// them all.
#pragma once

#include <string>
#include <vector>

#include "transports/interface/node_facts.h"

namespace livebtl::transports {

std::vector<core::TransportKind> builtin();

/// By its name or alias, or as one of several: "ofi:PROVIDER", "verbs:DEVICE" of LIVEBTL_VERBS_DEVICE, which is `devices`.
/// Errors: kInvalid (says what there is).
Result<core::TransportKind> named(const std::string& name, const std::string& devices = "");

/// All that the word means: of "verbs" one for each device, kinds_max at most. Errors: as named().
Result<std::vector<core::TransportKind>> all_named(const std::string& name,
                                                   const std::string& devices,
                                                   std::size_t kinds_max);

}  // namespace livebtl::transports
