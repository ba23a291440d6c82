// SPDX-License-Identifier: BSD-3-Clause
// address_test.cc -- addresses and tickets of ofi: decoding returns what was encoded, and refuses
// what is malformed.
#include "transports/ofi/ofi_address.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::ofi;

namespace {

Ticket ticket() {
  Ticket ticket;
  ticket.address = {hash_of_provider("shm", 3), 7};
  ticket.token = 0x1234;
  ticket.credits = 64;
  ticket.payload_bytes_max = 32768;
  ticket.node = 7;
  ticket.name = Blob(kNameBytesMax, std::byte{5});
  return ticket;
}

bool refused(const Blob& bytes) {
  const auto decoded = decode_ticket(bytes);
  return !decoded && decoded.error().code == Errc::kInvalid && !decoded.error().text.empty();
}

}  // namespace

TEST_CASE("a ticket comes back as it was, and fits into what carries it") {
  const Blob bytes = encode_ticket(ticket());
  CHECK(bytes.size() <= 128);
  const auto back = decode_ticket(bytes);
  REQUIRE(back.has_value());
  CHECK(*back == ticket());
}

TEST_CASE(
    "a ticket that is cut, longer, of another version or without what it must have is refused") {
  const Blob good = encode_ticket(ticket());
  for (std::size_t length = 0; length < good.size(); ++length)
    CHECK(refused(Blob(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length))));
  Blob longer = good;
  longer.push_back(std::byte{0});
  CHECK(refused(longer));
  Blob other = good;
  other[0] = std::byte{2};
  CHECK(refused(other));
  const auto spoilt = [](auto spoil) {
    Ticket bad = ticket();
    spoil(bad);
    return encode_ticket(bad);
  };
  CHECK(refused(spoilt([](Ticket& bad) { bad.address.provider = 0; })));
  CHECK(refused(spoilt([](Ticket& bad) { bad.token = 0; })));
  CHECK(refused(spoilt([](Ticket& bad) { bad.credits = 65537; })));
  CHECK(refused(spoilt([](Ticket& bad) { bad.name.clear(); })));
  CHECK(refused(spoilt([](Ticket& bad) { bad.name.resize(kNameBytesMax + 1); })));
}

TEST_CASE(
    "two transports reach each other over one provider, and within a node if that ends there") {
  const ProviderAddress one{1, 0}, other{2, 0}, here{3, 10}, there{3, 11};
  CHECK(may_reach(one, one));
  CHECK(!may_reach(one, other));
  CHECK(may_reach(here, here));
  CHECK(!may_reach(here, there));
  CHECK(hash_of_provider("shm", 1) != hash_of_provider("shm", 2));
  CHECK(hash_of_provider("shm", 1) != hash_of_provider("net", 1));
  const auto back = decode_address(encode_address(here));
  REQUIRE(back.has_value());
  CHECK(*back == here);
  CHECK(!decode_address(encode_address({0, 1})).has_value());
}
