// SPDX-License-Identifier: BSD-3-Clause
// control/relay_address.h -- where a relay listens, as people write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "livebtl/result.h"

namespace livebtl::control {

struct HostPort {
  std::string host;  // a name or an address; one of IPv6 without brackets
  std::uint16_t port = 0;
};

/// "node7:40123", "10.1.0.7:40123", "[fd00::7]:40123". Hostile input. Errors: kInvalid.
Result<HostPort> parse_host_port(std::string_view text);

/// All addresses of that host, at most four, as route.h writes a relay. Blocks while a name is
/// looked up. Errors: kUnreachable.
Result<std::string> relay_at(const HostPort& where);

/// The other way round, of a relay as route.h writes it: "10.1.0.7:40123" for each address.
std::vector<std::string> host_ports(std::string_view relay);

}  // namespace livebtl::control
