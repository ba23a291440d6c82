// SPDX-License-Identifier: BSD-3-Clause
// control/wire/route.h -- where a message goes, and how its answer finds the way back. Pure; all input is
// hostile.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "livebtl/types.h"

namespace livebtl::control {

/// "" -- the process that receives it; "PROCESS" -- the member of that name on the receiver's node;
/// "tcp://HOST:PORT PROCESS" -- the same at that relay's node, "tcp://HOST:PORT " the relay itself.
struct Route {
  std::string relay;    // empty: here
  ProcessId process{};  // zero: the receiver
  friend bool operator==(const Route&, const Route&) = default;
};
std::string format_route(const Route& route);
std::optional<Route> parse_route(std::string_view text);

/// One to four tcp://HOST:PORT, separated by commas, all of one relay; at most 256 bytes.
bool valid_relay(std::string_view endpoints) noexcept;
std::vector<std::string> relay_endpoints(std::string_view endpoints);

/// What a router that passes an envelope on puts in front of its `back`: the peer it came from.
struct Return {
  std::uint8_t listener = 0;  // which of its listening sockets
  std::string peer;
  std::string back;
};
/// nullopt: too long, after too many hops.
std::optional<std::string> push_return(const Return& from);
std::optional<Return> pop_return(std::string_view back);

}  // namespace livebtl::control
