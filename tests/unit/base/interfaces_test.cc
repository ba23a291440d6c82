// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/base/interfaces_test.cc -- which of this machine's addresses TCP_IF selects.
#include "base/interfaces.h"

#include <doctest/doctest.h>

using namespace livebtl;

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

std::vector<std::string> texts(const std::vector<LocalAddress>& addresses) {
  std::vector<std::string> result;
  for (const LocalAddress& address : addresses) result.push_back(to_text(address.ip));
  return result;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("addresses are chosen by interface, network or themselves; none named: all") {
  CHECK(choose_addresses(machine(), {})->size() == 5);
  CHECK(texts(*choose_addresses(machine(), {"eth1"})) == Texts{"192.168.7.1", "fd00:7::1"});
  CHECK(texts(*choose_addresses(machine(), {"192.168.0.0/16"})) == Texts{"192.168.7.1"});
  CHECK(texts(*choose_addresses(machine(), {"fd00::/8", "10.0.0.1"})) ==
        Texts{"10.0.0.1", "fd00:7::1"});
  CHECK(texts(*choose_addresses(machine(), {"127.0.0.1", "lo"})) == Texts{"127.0.0.1", "::1"});
}

TEST_CASE("a name that fits nothing is an error that lists what there is") {
  for (const char* name : {"eth9", "172.16.0.0/12", "10.0.0.2"}) {
    const auto result = choose_addresses(machine(), {"eth0", name});
    REQUIRE(!result.has_value());
    CHECK(result.error().code == Errc::kUnreachable);
    CHECK(result.error().text.find(name) != std::string::npos);
    CHECK(result.error().text.find("eth1 192.168.7.1") != std::string::npos);
  }
  for (const char* name :
       {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8x", "fd00::/129", "/8", "10.0.0/8", "10.0.0.0/-1"}) {
    const auto result = choose_addresses(machine(), {name});
    REQUIRE_MESSAGE(!result.has_value(), name);
    CHECK(result.error().code == Errc::kInvalid);
  }
}

TEST_CASE("this machine has addresses, loopback last") {
  const auto all = local_addresses();
  REQUIRE(!all.empty());
  bool loopback_seen = false;
  for (const LocalAddress& address : all) {
    CHECK(is_unicast(address.ip));
    CHECK(address.prefix_bits <= 128);
    CHECK((is_loopback(address.ip) || !loopback_seen));
    loopback_seen = loopback_seen || is_loopback(address.ip);
  }
}
