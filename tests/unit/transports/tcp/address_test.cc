// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/address_test.cc -- encoded addresses, good and hostile.
#include "transports/tcp/tcp_address.h"

#include <doctest/doctest.h>

namespace livebtl::tcp {
namespace {

IpBytes ip(const char* text) {
  const auto parsed = parse_ip(text);
  REQUIRE(parsed.has_value());
  return *parsed;
}

Reachable example(std::size_t sockets = 2) {
  Reachable reachable;
  reachable.network = 0x1122334455667788;
  reachable.node = 42;
  for (std::size_t i = 0; i < sockets; ++i) {
    reachable.sockets.push_back(
        {ip(i % 2 == 0 ? "10.0.0.1" : "fd00::2"), static_cast<std::uint16_t>(4000 + i)});
  }
  return reachable;
}

TEST_CASE("an address comes back as it was") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, kSocketsMax}) {
    const Reachable before = example(count);
    const Blob raw = encode_address(before);
    CHECK(raw.size() <= 512);
    const auto after = decode_address(raw);
    REQUIRE(after.has_value());
    CHECK(after->network == before.network);
    CHECK(after->node == before.node);
    CHECK(after->sockets == before.sockets);
    CHECK(same_network(before, *after));
  }
}

TEST_CASE("a contact has twenty bytes, one socket, and a glimpse of the network") {
  const Reachable before = example();
  const Blob raw = encode_contact(before);
  CHECK(raw.size() == kContactBytes);
  const auto after = decode_address(raw);
  REQUIRE(after.has_value());
  CHECK(!after->node.has_value());
  REQUIRE(after->sockets.size() == 1);
  CHECK(after->sockets[0] == before.sockets[0]);
  CHECK(same_network(before, *after));
  Reachable elsewhere = before;
  elsewhere.network ^= 1;
  CHECK(!same_network(elsewhere, *after));
}

TEST_CASE("an address cut anywhere or prolonged is refused") {
  for (const Blob& good : {encode_address(example()), encode_contact(example())}) {
    for (std::size_t length = 0; length < good.size(); ++length) {
      const auto result = decode_address(Bytes(good).first(length));
      REQUIRE(!result.has_value());
      CHECK(result.error().code == Errc::kInvalid);
    }
    Blob longer = good;
    longer.push_back(std::byte{0});
    CHECK(!decode_address(longer).has_value());
  }
}

TEST_CASE("an address altered at any byte is refused or still sane") {
  for (const Blob& good : {encode_address(example()), encode_contact(example())}) {
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (unsigned value = 0; value < 256; ++value) {
        Blob bad = good;
        bad[at] = static_cast<std::byte>(value);
        const auto result = decode_address(bad);
        if (at == 0) CHECK(result.has_value() == (value == 1));
        if (!result) continue;
        CHECK(result->sockets.size() >= 1);
        CHECK(result->sockets.size() <= kSocketsMax);
        for (const SocketAddress& socket : result->sockets)
          CHECK((socket.port != 0 && is_unicast(socket.ip)));
      }
    }
  }
}

TEST_CASE("places that nobody can connect to are refused") {
  for (const char* text :
       {"0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255", "::", "ff02::1", "fe80::1"}) {
    Reachable reachable = example(1);
    reachable.sockets[0].ip = ip(text);
    CHECK_MESSAGE(!decode_address(encode_address(reachable)).has_value(), text);
    CHECK_MESSAGE(!decode_address(encode_contact(reachable)).has_value(), text);
  }
  Reachable no_port = example(1);
  no_port.sockets[0].port = 0;
  CHECK(!decode_address(encode_address(no_port)).has_value());
}

TEST_CASE("addresses have the text that people write") {
  CHECK(to_text(SocketAddress{ip("10.0.0.1"), 80}) == "10.0.0.1:80");
  CHECK(to_text(SocketAddress{ip("fd00::1"), 80}) == "[fd00::1]:80");
  CHECK(!parse_ip("10.0.0").has_value());
  CHECK(!parse_ip("eth0").has_value());
  CHECK(!parse_ip("").has_value());
}

TEST_CASE("system addresses convert both ways") {
  for (const char* text : {"127.0.0.1", "10.1.2.3", "::1", "fd00::abcd"}) {
    const SocketAddress before{ip(text), 4242};
    const RawAddress raw = to_raw(before);
    CHECK(from_raw(raw.get()) == before);
    CHECK((raw.get()->sa_family == AF_INET) == is_v4(before.ip));
  }
  sockaddr_storage other{};
  other.ss_family = AF_UNIX;
  CHECK(!from_raw(reinterpret_cast<const sockaddr*>(&other)).has_value());
  CHECK(!from_raw(nullptr).has_value());
}

TEST_CASE("loopback and prefixes are recognised") {
  CHECK(is_loopback(ip("127.0.0.1")));
  CHECK(is_loopback(ip("127.9.9.9")));
  CHECK(is_loopback(ip("::1")));
  CHECK(!is_loopback(ip("10.0.0.1")));
  CHECK(!is_loopback(ip("::2")));
  CHECK(same_prefix(ip("10.0.0.1"), ip("10.0.0.200"), 96 + 24));
  CHECK(!same_prefix(ip("10.0.0.1"), ip("10.0.1.1"), 96 + 24));
  CHECK(same_prefix(ip("10.0.0.1"), ip("10.0.1.1"), 96 + 23));
  CHECK(!same_prefix(ip("fd00::1"), ip("fd00::2"), 128));
  CHECK(same_prefix(ip("fd00::2"), ip("fd00::3"), 127));
  CHECK(same_prefix(ip("1.1.1.1"), ip("fd00::3"), 0));
}

}  // namespace
}  // namespace livebtl::tcp
