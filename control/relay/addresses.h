// SPDX-License-Identifier: BSD-3-Clause
// control/relay/addresses.h -- on which addresses a relay listens. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/interfaces.h"

namespace livebtl::control {

/// Of this host's addresses those that others can reach: what TCP_IF names, as far as it is here, else all, the loopback
/// only if there is nothing else. IPv6 ones in brackets. At most four. Errors: if there are none, as choose_addresses().
Result<std::vector<std::string>> relay_addresses(const std::vector<LocalAddress>& all,
                                                 const std::vector<std::string>& wanted);

}  // namespace livebtl::control
