// SPDX-License-Identifier: BSD-3-Clause
// transport_test.cc -- ofi between two transports in one process: what strangers and hostile peers
// send does no harm, and a provider that is not there is an error that says so.
#include <doctest/doctest.h>

#include "tests/conformance/rig.h"
#include "transports/ofi/ofi_transport.h"

using namespace livebtl;
using namespace livebtl::conformance;
using ofi::OfiTransport;
using ofi::Ticket;

namespace {

Subject subject(const std::string& provider) {
  Subject subject;
  subject.name = "ofi";
  subject.make = [provider](std::uint64_t process) -> Result<std::unique_ptr<core::Transport>> {
    const Settings settings;
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = process;
    facts.settings = &settings;
    auto made = OfiTransport::make(facts, provider);
    if (!made) return tl::unexpected(made.error());
    return std::unique_ptr<core::Transport>(std::move(*made));
  };
  return subject;
}

Ticket ticket_of(const core::Endpoint& endpoint) {
  const auto ticket = ofi::decode_ticket(endpoint.ticket());
  REQUIRE(ticket.has_value());
  return *ticket;
}

}  // namespace

TEST_CASE("a ticket for another provider, or with a name that is no address, is refused") {
  Rig rig(subject("tcp;ofi_rxm"));
  auto dialled = rig.a().transport->connect(rig.b().transport->contact());
  REQUIRE(dialled.has_value());
  const Ticket good = ticket_of(**dialled);
  Ticket other = good;
  other.address.provider += 1;
  Ticket nameless = good;
  nameless.name.resize(3);
  Ticket small = good;
  small.payload_bytes_max = 100;
  Ticket stingy = good;
  stingy.credits = 1;
  for (const auto& [ticket, code] :
       {std::pair{other, Errc::kUnreachable}, std::pair{nameless, Errc::kInvalid},
        std::pair{small, Errc::kInvalid}, std::pair{stingy, Errc::kInvalid}}) {
    const auto admitted = rig.b().transport->admit(ofi::encode_ticket(ticket));
    REQUIRE(!admitted.has_value());
    CHECK(admitted.error().code == code);
  }
}

TEST_CASE("who does not know the token is not heard") {
  Rig rig(subject("tcp;ofi_rxm"));
  Link link = rig.link();
  // A third connection whose other end is told a wrong token: what it sends is a stranger's.
  auto dialled = rig.a().transport->connect(rig.b().transport->contact());
  REQUIRE(dialled.has_value());
  auto admitted = rig.b().transport->admit((*dialled)->ticket());
  REQUIRE(admitted.has_value());
  Ticket wrong = ticket_of(**admitted);
  wrong.token ^= 1;
  End stranger, unheard;
  stranger.take(std::move(*dialled));
  unheard.take(std::move(*admitted));
  stranger.endpoint().take_ticket(ofi::encode_ticket(wrong));
  REQUIRE(rig.post_soon(rig.a(), stranger, {1, 8, 8}));
  REQUIRE(transfer(rig, *link.a, *link.b, {{2, 8, 8}, {3, 8, 30'000}}));
  rig.settle();
  CHECK(unheard.frames == 0);
  CHECK(link.b->frames == 2);
  CHECK(link.b->downs.empty());
}

TEST_CASE("a provider that is not there is an error that names it") {
  const auto made = subject("nothing").make(1);
  REQUIRE(!made.has_value());
  CHECK(made.error().text.find("nothing") != std::string::npos);
}
