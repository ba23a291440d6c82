// SPDX-License-Identifier: BSD-3-Clause
// base/interfaces.h -- this machine's IP addresses, and which of them TCP_IF names: one grammar and
// one choice for all listeners. Any thread; only local_addresses() asks the operating system.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "livebtl/result.h"

namespace livebtl {

/// An IPv6 address, or an IPv4 address mapped into IPv6 (::ffff:a.b.c.d).
using IpBytes = std::array<std::byte, 16>;

bool is_v4(const IpBytes& ip) noexcept;
bool is_loopback(const IpBytes& ip) noexcept;
/// Can connections from other interfaces reach it? Not: unspecified, multicast, broadcast, IPv6
/// link-local.
bool is_unicast(const IpBytes& ip) noexcept;
/// Are the first `prefix_bits` (of 128; an IPv4 /24 is 120) equal?
bool same_prefix(const IpBytes& one, const IpBytes& other, unsigned prefix_bits) noexcept;
/// "10.0.0.1", "fd00::1". nullopt: not an address.
std::optional<IpBytes> parse_ip(const std::string& text);
std::string to_text(const IpBytes& ip);
/// nullopt: neither IPv4 nor IPv6.
std::optional<IpBytes> ip_of(const sockaddr* raw) noexcept;

struct LocalAddress {
  std::string interface;
  IpBytes ip{};
  unsigned prefix_bits = 128;  // of 128; an IPv4 /24 is 120
};

/// Unicast addresses of interfaces that are up: IPv4 first, loopback last.
std::vector<LocalAddress> local_addresses();

/// Does `name`, an interface, a network like 10.0.0.0/8 or a single address, mean this address?
bool names_address(const std::string& name, const LocalAddress& address);

/// The addresses that TCP_IF names; no names: all. Errors: kInvalid (a name with a slash is not a
/// network), kUnreachable (a name fits no address here; the text lists the existing ones).
Result<std::vector<LocalAddress>> choose_addresses(const std::vector<LocalAddress>& all,
                                                   const std::vector<std::string>& names);

}  // namespace livebtl
