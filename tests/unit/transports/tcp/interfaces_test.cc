// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/interfaces_test.cc -- in what order a peer's addresses are tried.
#include "transports/tcp/tcp_interfaces.h"

#include <doctest/doctest.h>

namespace livebtl::tcp {
namespace {

LocalAddress local(const char* interface, const char* text, unsigned prefix) {
  const auto ip = parse_ip(text);
  REQUIRE(ip.has_value());
  return {interface, *ip, is_v4(*ip) ? prefix + 96 : prefix};
}

std::vector<LocalAddress> machine() {
  return {local("eth0", "10.0.0.1", 24), local("eth1", "192.168.7.1", 16),
          local("eth1", "fd00:7::1", 64), local("lo", "127.0.0.1", 8), local("lo", "::1", 128)};
}

Reachable peer(std::uint64_t network, const std::vector<const char*>& addresses) {
  Reachable reachable;
  reachable.network = network;
  for (const char* text : addresses) reachable.sockets.push_back({*parse_ip(text), 1});
  return reachable;
}

std::vector<std::string> order(std::uint64_t network, const std::vector<const char*>& addresses) {
  Reachable own;
  own.network = 1;
  std::vector<std::string> result;
  for (const SocketAddress& candidate :
       order_candidates(own, machine(), peer(network, addresses))) {
    result.push_back(to_text(candidate.ip));
  }
  return result;
}

using Texts = std::vector<std::string>;

TEST_CASE("in one network loopback comes first, then own addresses, a shared subnet, the rest") {
  CHECK(order(1, {"172.16.0.1", "10.0.0.9", "10.0.0.1", "127.0.0.1"}) ==
        Texts{"127.0.0.1", "10.0.0.1", "10.0.0.9", "172.16.0.1"});
}

TEST_CASE(
    "whoever tells an address of this machine is also tried on loopback, once, at that port") {
  CHECK(order(1, {"10.0.0.1"}) == Texts{"127.0.0.1", "10.0.0.1"});
  CHECK(order(1, {"192.168.7.1", "10.0.0.1", "127.0.0.1"}) ==
        Texts{"127.0.0.1", "192.168.7.1", "10.0.0.1"});
  CHECK(order(1, {"fd00:7::1"}) == Texts{"::1", "fd00:7::1"});
}

TEST_CASE(
    "from another network loopback is never tried, and an address that is also ours comes last") {
  CHECK(order(2, {"127.0.0.1", "192.168.7.1", "172.16.0.1", "192.168.200.1", "fd00:9::1", "::1"}) ==
        Texts{"192.168.200.1", "172.16.0.1", "fd00:9::1", "192.168.7.1"});
  CHECK(order(2, {"127.0.0.1"}).empty());
}

TEST_CASE("a family that we have not is not tried") {
  Reachable own;
  own.network = 1;
  const std::vector<LocalAddress> v4_only{local("eth0", "10.0.0.1", 24), local("lo", "::1", 128)};
  CHECK(order_candidates(own, v4_only, peer(2, {"fd00::1"})).empty());
  CHECK(order_candidates(own, v4_only, peer(2, {"fd00::1", "10.9.0.1"})).size() == 1);
}

TEST_CASE("an unknown network shares its loopback with nobody") {
  Reachable own;
  own.network = 0;
  CHECK(order_candidates(own, machine(), peer(0, {"127.0.0.1"})).empty());
}

TEST_CASE("this machine has a network") {
  CHECK(network_hash() != 0);
  CHECK(network_hash() == network_hash());
}

}  // namespace
}  // namespace livebtl::tcp
