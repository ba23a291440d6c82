// SPDX-License-Identifier: BSD-3-Clause
// control/relay/addresses.h -- which addresses a relay listens on. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/interfaces.h"

namespace livebtl::control {

/// This host's addresses that others can reach: those that TCP_IF names, as far as they are here,
/// else all, the loopback only if there is nothing else. IPv6 in brackets. At most four. Errors: if
/// there are none, as choose_addresses().
Result<std::vector<std::string>> relay_addresses(const std::vector<LocalAddress>& all,
                                                 const std::vector<std::string>& wanted);

}  // namespace livebtl::control
