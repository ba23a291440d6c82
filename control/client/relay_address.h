// SPDX-License-Identifier: BSD-3-Clause
// control/client/relay_address.h -- where a relay listens, as people write it.
#pragma once

#include <netdb.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "livebtl/result.h"

namespace livebtl::control {

struct HostPort {
  std::string host;  // a name or an address; IPv6 without brackets
  std::uint16_t port = 0;
};

/// "node7:40123", "10.1.0.7:40123", "[fd00::7]:40123". Hostile input. Errors: kInvalid.
Result<HostPort> parse_host_port(std::string_view text);

/// Finds a name's addresses, however long it takes, as getaddrinfo(3).
using LookUp = std::function<int(const char*, const char*, const addrinfo*, addrinfo**)>;

/// The addresses of that host, at most four, in route.h's form of a relay. Waits for the name
/// look-up until the deadline. Errors: kUnreachable, kCancelled.
Result<std::string> relay_at(const HostPort& where, const Deadline& deadline,
                             LookUp look_up = ::getaddrinfo);

/// Do all these addresses (as route.h writes a relay) refuse connections? false also if one of them
/// has not answered within timeout.
bool all_refuse(std::string_view relay, TimeNs timeout);

/// One relay's addresses as people write them, "10.1.0.7:40123,10.2.0.7:40123", in route.h's form.
/// It is told to others, so no names are taken. Hostile input. Errors: kInvalid.
Result<std::string> parse_relay(std::string_view text);
/// The inverse, for a relay in route.h's form: "10.1.0.7:40123" for each address.
std::vector<std::string> host_ports(std::string_view relay);

}  // namespace livebtl::control
