// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/relay/addresses_test.cc -- where a relay listens, according to TCP_IF.
#include <doctest/doctest.h>

#include "control/relay/addresses.h"

using namespace livebtl;
using namespace livebtl::control;

TEST_CASE("relays listen on what TCP_IF names, as tcp does") {
  const std::vector<LocalAddress> all = {{"eth0", *parse_ip("10.1.2.3"), 120},
                                         {"eth1", *parse_ip("fd00::7"), 64},
                                         {"lo", *parse_ip("127.0.0.1"), 104}};
  using Texts = std::vector<std::string>;
  for (const char* name : {"eth0", "10.1.0.0/16", "10.1.2.3"})
    CHECK(relay_addresses(all, {name, "no-such-interface"}) == Texts{"10.1.2.3"});
  CHECK(relay_addresses(all, {"lo", "fd00::/8"}) == Texts{"[fd00::7]", "127.0.0.1"});
  CHECK(relay_addresses(all, {}) == Texts{"10.1.2.3", "[fd00::7]"});
  CHECK(relay_addresses({all[2]}, {}) == Texts{"127.0.0.1"});
  for (const char* none : {"no-such-interface", "203.0.113.0/24", "127.0.0.0/33", "x/8"}) {
    const auto addresses = relay_addresses(all, {none});
    REQUIRE_FALSE(addresses);
    CHECK(addresses.error().text.find(none) != std::string::npos);
  }
  CHECK(relay_addresses({}, {}).error().text == "no network interface is up");
}

TEST_CASE("a relay has at most four addresses") {
  CHECK(relay_addresses(std::vector<LocalAddress>(9, {"eth0", *parse_ip("10.0.0.1"), 120}), {})
            ->size() == 4);
}
