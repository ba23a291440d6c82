// SPDX-License-Identifier: BSD-3-Clause
// Addresses and tickets: decoding returns what was encoded and refuses the malformed; who reaches
// whom.
#include "transports/verbs/verbs_address.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "tests/fake_verbs/fabric.h"

using namespace livebtl;
using namespace livebtl::verbs;
using fake_verbs::gid;

namespace {

PortAddress roce(const std::string& text) { return {Fabric::kRoceV2, 0, gid(text)}; }
PortAddress infiniband(const std::string& text, std::uint16_t lid) {
  return {Fabric::kInfiniBand, lid, gid(text)};
}

Ticket good_ticket() {
  Ticket ticket;
  ticket.port = roce("::ffff:10.0.1.2");
  ticket.queue_pair = 0xffffff;
  ticket.first_packet = 0x123456;
  ticket.credits = 64;
  ticket.payload_bytes_max = 32768;
  ticket.node = 0x0123456789abcdef;
  ticket.mtu = 5;
  return ticket;
}

template <class Change>
bool refused(Change change) {
  Ticket ticket = good_ticket();
  change(ticket);
  const auto decoded = decode_ticket(encode_ticket(ticket));
  return !decoded && decoded.error().code == Errc::kInvalid && !decoded.error().text.empty();
}

}  // namespace

TEST_CASE("an address comes back as it was, in 20 bytes that begin with the version") {
  for (const PortAddress& address : {roce("::ffff:10.0.1.2"), roce("fd00::5"), roce("fe80::1"),
                                     infiniband("fe80::2:c903:0:1", 77)}) {
    const Blob blob = encode_address(address);
    CHECK(blob.size() == kAddressBytes);
    CHECK(blob.front() == std::byte{1});
    const auto decoded = decode_address(blob);
    REQUIRE(decoded.has_value());
    CHECK(*decoded == address);
  }
}

TEST_CASE(
    "of several modules the address says how near each is, and both ends make the same of it") {
  const PortAddress address = roce("::ffff:10.0.1.2");
  const Blob blob = encode_address(address, Nearness{21, 3});
  CHECK(blob.size() == kAddressBytes + 2);
  CHECK(blob.front() == std::byte{2});
  REQUIRE(decode_address(blob).has_value());
  CHECK(*decode_address(blob) == address);
  CHECK(nearness_in(blob) == Nearness{21, 3});
  CHECK(!nearness_in(encode_address(address)).has_value());
  const Blob contact = encode_contact(address, true);
  CHECK(contact.size() == kAddressBytes);
  CHECK(*decode_address(contact) == address);
  CHECK(!nearness_in(contact).has_value());
  CHECK(encode_contact(address, false) == encode_address(address));
  Blob both = blob;
  both[1] |= std::byte{0x80};
  CHECK(!decode_address(both).has_value());
  CHECK(!decode_address(Bytes(blob).first(kAddressBytes)).has_value());
  CHECK(!decode_address(Bytes(blob).first(kAddressBytes + 1)).has_value());
  const Nearness here{10, 1}, there{21, 0};
  CHECK(cost_of(here, there) == cost_of(there, here));
  CHECK(cost_of({10, 255}, {10, 255}) < cost_of({11, 0}, {10, 0}));
  CHECK(cost_of({10, 0}, {10, 1}) < cost_of({10, 1}, {10, 1}));
}

TEST_CASE("addresses that nobody can have are malformed") {
  const PortAddress bad[] = {roce("::"),
                             roce("ff02::1"),
                             roce("::ffff:224.0.0.1"),
                             roce("::ffff:0.0.0.1"),
                             {Fabric::kRoceV2, 7, gid("fd00::5")},
                             infiniband("fe80::1", 0),
                             {static_cast<Fabric>(0), 0, gid("fd00::5")},
                             {static_cast<Fabric>(4), 0, gid("fd00::5")}};
  for (const PortAddress& address : bad) CHECK(!decode_address(encode_address(address)));
}

TEST_CASE("a ticket comes back as it was; cut, longer or of another version it is malformed") {
  const Blob blob = encode_ticket(good_ticket());
  const auto decoded = decode_ticket(blob);
  REQUIRE(decoded.has_value());
  CHECK(*decoded == good_ticket());
  for (std::size_t bytes = 0; bytes < blob.size(); ++bytes)
    CHECK(!decode_ticket(Bytes(blob).first(bytes)));
  Blob other = blob;
  other.push_back(std::byte{0});
  CHECK(!decode_ticket(other));
  other = blob;
  other[0] = std::byte{2};
  CHECK(!decode_ticket(other));
}

TEST_CASE("numbers out of their range are malformed") {
  CHECK(!refused([](Ticket&) {}));
  CHECK(refused([](Ticket& t) { t.queue_pair = 0; }));
  CHECK(refused([](Ticket& t) { t.queue_pair = 1u << 24; }));
  CHECK(refused([](Ticket& t) { t.first_packet = 1u << 24; }));
  CHECK(refused([](Ticket& t) { t.credits = (1u << 16) + 1; }));
  CHECK(refused([](Ticket& t) { t.mtu = 0; }));
  CHECK(refused([](Ticket& t) { t.mtu = 6; }));
  CHECK(refused([](Ticket& t) { t.port.lid = 1; }));
}

TEST_CASE("random bytes are taken or refused, and what is taken encodes to itself") {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    Blob blob = encode_ticket(good_ticket());
    for (int k = 0; k < 3; ++k)
      blob[random.below(blob.size())] = static_cast<std::byte>(random.next());
    const auto decoded = decode_ticket(blob);
    if (decoded) CHECK(encode_ticket(*decoded) == blob);
  }
}

TEST_CASE(
    "ports reach each other within one fabric and subnet, and on RoCE by addresses of one kind") {
  const PortAddress v4 = roce("::ffff:10.0.1.2"), global = roce("fd00::5"), link = roce("fe80::1");
  const PortAddress ib = infiniband("fe80::2:1", 4);
  const PortAddress v1{Fabric::kRoceV1, 0, gid("::ffff:10.0.1.2")};
  CHECK(may_reach(v4, roce("::ffff:10.9.9.9")));
  CHECK(may_reach(ib, infiniband("fe80::7:1", 9)));
  const PortAddress beyond = infiniband("fec0::2:1", 9);  // in another subnet
  for (const auto& [one, other] :
       {std::pair(v4, global), std::pair(v4, link), std::pair(global, link), std::pair(v4, v1),
        std::pair(v4, ib), std::pair(ib, beyond)}) {
    CHECK(!may_reach(one, other));
    CHECK(!may_reach(other, one));
  }
}
