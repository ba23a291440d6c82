// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_interfaces.h -- this machine's addresses: which there are, which were chosen
// (TCP_IF), and in which order a peer's are tried. Only local_addresses() and network_hash() ask
// the operating system.
#pragma once

#include "transports/tcp/tcp_address.h"

namespace livebtl::tcp {

struct LocalAddress {
  std::string interface;
  IpBytes ip{};
  unsigned prefix_bits = 128;  // of 128; an IPv4 /24 is 120
};

/// Unicast addresses of interfaces that are up: IPv4 first, loopback last.
std::vector<LocalAddress> local_addresses();
/// Equal for processes of one network namespace. 0: unknown.
std::uint64_t network_hash();

/// The addresses that TCP_IF names (interfaces, networks like 10.0.0.0/8, or single addresses); no
/// names: all. Errors: kInvalid if a name is none of these, kUnreachable if it fits no address
/// here; the text lists those there are.
Result<std::vector<LocalAddress>> choose_addresses(const std::vector<LocalAddress>& all,
                                                   const std::vector<std::string>& names);

/// The peer's sockets that can be tried, best first: in our own network loopback and our own
/// addresses, then those that share a subnet with us, then others of a family that we have. Empty:
/// it cannot be reached.
std::vector<SocketAddress> order_candidates(const Reachable& own,
                                            const std::vector<LocalAddress>& local,
                                            const Reachable& peer);

}  // namespace livebtl::tcp
