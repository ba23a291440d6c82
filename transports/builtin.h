// SPDX-License-Identifier: BSD-3-Clause
// transports/builtin.h -- the list of transports that are compiled in; the only place that knows
// them all.
#pragma once

#include <string>
#include <vector>

#include "transports/interface/node_facts.h"

namespace livebtl::transports {

std::vector<core::TransportKind> builtin();

/// Looks up a name, an alias, or one of a family: "ofi:PROVIDER", or "verbs:DEVICE" of
/// LIVEBTL_VERBS_DEVICE, which is `devices`. Errors: kInvalid (says what there is).
Result<core::TransportKind> named(const std::string& name, const std::string& devices = "");

/// All that the name denotes: for "verbs", one per device, at most kinds_max. Errors: as named().
Result<std::vector<core::TransportKind>> all_named(const std::string& name,
                                                   const std::string& devices,
                                                   std::size_t kinds_max);

}  // namespace livebtl::transports
