// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_interfaces.h -- which of a peer's addresses can be reached from this
// machine's, and the order in which they are tried. Any thread; only network_hash() asks the
// operating system.
#pragma once

#include "transports/tcp/tcp_address.h"

namespace livebtl::tcp {

/// Equal for processes of one network namespace. 0: unknown.
std::uint64_t network_hash();

/// The peer's sockets that can be tried, best first: in our own network, loopback (also in place of
/// our own addresses) and our own addresses; then those that share a subnet with us, then others of
/// a family that we have. Empty: the peer cannot be reached.
std::vector<SocketAddress> order_candidates(const Reachable& own,
                                            const std::vector<LocalAddress>& local,
                                            const Reachable& peer);

/// Are there any? Asked for every peer at every step of a switch.
bool has_candidates(const Reachable& own, const std::vector<LocalAddress>& local,
                    const Reachable& peer);

}  // namespace livebtl::tcp
