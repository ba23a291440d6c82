// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/addresses.cc -- behaviours: capabilities, good and bad addresses, connecting to
// nobody.
#include <doctest/doctest.h>

#include <array>
#include <utility>

#include "tests/conformance/behaviours.h"
#include "tests/conformance/rig.h"

namespace livebtl::conformance {
namespace {

void capabilities_are_whole(const Subject& subject) {
  Rig rig(subject);
  const Transport& transport = *rig.a().transport;
  CHECK(transport.name() == subject.name);
  const core::Caps caps = transport.caps();
  CHECK(caps.payload_bytes_max >= core::kUntrustedPayloadMax);
  CHECK(caps.eager_bytes_max > 0);
  CHECK(caps.eager_bytes_max <= caps.payload_bytes_max);
  CHECK(caps.exclusivity > 0);
}

void addresses_reach(const Subject& subject) {
  Rig rig(subject);
  const Blob address = rig.b().transport->address();
  const Blob contact = rig.b().transport->contact();
  CHECK(!address.empty());
  CHECK(address.size() <= 512);
  CHECK(!contact.empty());
  CHECK(contact.size() <= 20);
  CHECK(address.front() == contact.front());  // the version
  CHECK(rig.a().transport->reaches(address));
  CHECK(rig.a().transport->reaches(contact));
  CHECK(rig.b().transport->reaches(rig.a().transport->contact()));
  for (const Blob& form : {address, contact}) {
    auto dialled = rig.a().transport->connect(form);
    REQUIRE(dialled.has_value());
    End end;
    end.take(std::move(*dialled));
    CHECK(!end.endpoint().describe().empty());
    if (rig.a().transport->caps().by_ticket) continue;  // an address is not enough
    CHECK(rig.until([&] { return end.post_pattern(1, 8, 8) != Post::kRetry; }));
    CHECK(end.downs.empty());
  }
}

void malformed_addresses_are_refused(const Subject& subject) {
  Rig rig(subject);
  std::vector<Blob> bad{Blob{}, Blob(1), pattern(3, 17), pattern(4, 512), pattern(5, 4096)};
  for (const Blob& good : {rig.b().transport->address(), rig.b().transport->contact()}) {
    for (std::size_t length = 0; length < good.size(); ++length)
      bad.emplace_back(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
    Blob longer = good;
    longer.push_back(std::byte{0});
    bad.push_back(std::move(longer));
    Blob other_version = good;
    other_version.at(0) ^= std::byte{0x80};
    bad.push_back(std::move(other_version));
  }
  for (const Blob& address : bad) {
    INFO("address of " << address.size() << " bytes");
    CHECK(!rig.a().transport->reaches(address));
    const auto dialled = rig.a().transport->connect(address);
    REQUIRE(!dialled.has_value());
    CHECK(dialled.error().code == Errc::kInvalid);
    CHECK(!dialled.error().text.empty());
  }
}

std::vector<Blob> bad_tickets(const Blob& good) {
  std::vector<Blob> bad{Blob{}, pattern(3, good.size()), pattern(4, core::kTicketBytesMax)};
  for (std::size_t length = 0; length < good.size(); ++length)
    bad.emplace_back(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
  return bad;
}

void tickets_are_checked(const Subject& subject) {
  Rig rig(subject);
  Transport& transport = *rig.a().transport;
  const bool by_ticket = transport.caps().by_ticket;
  auto dialled = transport.connect(rig.b().transport->contact());
  REQUIRE(dialled.has_value());
  core::TicketEnd* const end = (*dialled)->by_ticket();
  CHECK((transport.by_ticket() != nullptr) == by_ticket);
  REQUIRE((end != nullptr) == by_ticket);
  if (!by_ticket) return;
  const Blob good = end->ticket();
  CHECK(!good.empty());
  CHECK(good.size() <= core::kTicketBytesMax);
  CHECK(end->ticket() == good);
  for (const Blob& ticket : bad_tickets(good)) {
    const auto admitted = rig.b().transport->by_ticket()->admit(ticket);
    REQUIRE(!admitted.has_value());
    CHECK(admitted.error().code == Errc::kInvalid);
  }
}

void who_waits_for_a_ticket_is_left_in_peace(const Subject& subject) {
  Rig rig(subject);
  if (!rig.a().transport->caps().by_ticket) return;
  auto dialled = rig.a().transport->connect(rig.b().transport->contact());
  REQUIRE(dialled.has_value());
  End waits;
  waits.take(std::move(*dialled));
  rig.settle();
  CHECK(waits.downs.empty());
  CHECK(waits.post_pattern(1, 8, 8) == Post::kRetry);
  waits.endpoint().by_ticket()->take_ticket(pattern(3, 40));
  CHECK(waits.downs.empty());  // reported in progress(), as always
  REQUIRE(rig.until([&] { return !waits.downs.empty(); }));
  CHECK(waits.downs[0].code == Errc::kInvalid);
}

void connecting_to_nobody_fails(const Subject& subject) {
  if (subject.loopback) return;
  Rig rig(subject);
  if (rig.a().transport->caps().by_ticket) return;  // nobody sends a ticket
  const Blob gone = rig.b().transport->contact();
  rig.stop_b();
  auto dialled = rig.a().transport->connect(gone);
  if (!dialled) {
    CHECK(dialled.error().code == Errc::kUnreachable);
    CHECK(!dialled.error().text.empty());
    return;
  }
  End end;
  end.take(std::move(*dialled));
  const TimeNs deadline = monotonic_now() + kDeadlineNs;
  while (end.downs.empty() && monotonic_now() < deadline) rig.a().turn();
  REQUIRE(end.downs.size() == 1);
  CHECK(end.post_pattern(1, 8, 8) == Post::kRetry);
}

void an_endpoint_may_close_before_it_is_open(const Subject& subject) {
  Rig rig(subject);
  for (int i = 0; i < 20; ++i) {
    End end;
    end.take(rig.dial(rig.a(), rig.b()));
    if (i % 2 == 0) rig.turn();
  }
  rig.settle();
  rig.b().accepted.clear();
  Link link = rig.link(rig.b(), rig.a());  // both sides still work
  REQUIRE(transfer(rig, *link.a, *link.b, {{1, 8, 8}}));
}

constexpr std::array kAddressBehaviours{
    Behaviour{"capabilities are whole", capabilities_are_whole},
    Behaviour{"addresses reach, in both forms", addresses_reach},
    Behaviour{"malformed addresses are refused", malformed_addresses_are_refused},
    Behaviour{"tickets are checked", tickets_are_checked},
    Behaviour{"who waits for a ticket is left in peace", who_waits_for_a_ticket_is_left_in_peace},
    Behaviour{"connecting to nobody fails and does not block", connecting_to_nobody_fails},
    Behaviour{"an endpoint may close before it is open", an_endpoint_may_close_before_it_is_open},
};

}  // namespace

std::span<const Behaviour> address_behaviours() { return kAddressBehaviours; }

}  // namespace livebtl::conformance
