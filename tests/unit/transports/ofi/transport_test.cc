// SPDX-License-Identifier: BSD-3-Clause
// transport_test.cc -- ofi between two transports in one process: what strangers and hostile peers
// send does no harm, and a missing provider is an error that says so.
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <cstdlib>

#include "tests/conformance/leaks.h"
#include "tests/conformance/ofi_names.h"
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

Ticket ticket_of(core::Endpoint& endpoint) {
  const auto ticket = ofi::decode_ticket(endpoint.by_ticket()->ticket());
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
  Ticket of_other_family = good;  // has the right length, but claims to be longer
  of_other_family.name[0] = static_cast<std::byte>(AF_INET6);
  Ticket small = good;
  small.payload_bytes_max = 100;
  Ticket stingy = good;
  stingy.credits = 1;
  for (const auto& [ticket, code] :
       {std::pair{other, Errc::kUnreachable}, std::pair{nameless, Errc::kInvalid},
        std::pair{of_other_family, Errc::kInvalid}, std::pair{small, Errc::kInvalid},
        std::pair{stingy, Errc::kInvalid}}) {
    const auto admitted = rig.b().transport->by_ticket()->admit(ofi::encode_ticket(ticket));
    REQUIRE(!admitted.has_value());
    CHECK(admitted.error().code == code);
  }
}

// Runs in ofi_test_hidden; elsewhere no provider is hidden.
TEST_CASE("providers that are hidden from the program are used; layers cannot be, and say why") {
  if (std::getenv("FI_PROVIDER") == nullptr) return;
  LIVEBTL_LEAKS_OF_A_LIBRARY;  // of net
  for (const char* provider : {kNet, "sockets"}) {
    CAPTURE(provider);
    const Subject over = subject(provider);
    Rig rig(over);
    Link link = rig.link();
    REQUIRE(transfer(rig, *link.a, *link.b, {{1, 8, 8}, {2, 8, 30'000}}));
  }
  const auto layered = subject("tcp;ofi_rxm").make(1);
  REQUIRE(!layered.has_value());
  CHECK(layered.error().text.find("FI_PROVIDER hides") != std::string::npos);
}

TEST_CASE("a name of shm is taken only as one") {
  Rig rig(subject("shm"));
  auto dialled = rig.a().transport->connect(rig.a().transport->contact());
  REQUIRE(dialled.has_value());
  Ticket ticket = ticket_of(**dialled);
  REQUIRE(rig.a().transport->by_ticket()->admit(ofi::encode_ticket(ticket)).has_value());
  const Blob good = ticket.name;
  Blob endless = good, cut_short = good, other = good;
  endless.back() = std::byte{'x'};
  cut_short[2] = std::byte{0};
  other[0] = std::byte{'x'};
  for (const Blob& bad : {endless, cut_short, other}) {
    ticket.name = bad;
    CHECK(!rig.a().transport->by_ticket()->admit(ofi::encode_ticket(ticket)).has_value());
  }
}

TEST_CASE("connections share out what may be sent at once") {
  Rig rig(subject("tcp;ofi_rxm"));
  Link rests = rig.link(), goes_on = rig.link();
  const Blob header = pattern(1, 8), payload = pattern(2, 30'000);
  // Nobody moves the other side: this connection uses up its share, and the other has some left.
  int taken = 0;
  while (rests.a->endpoint().post({header, payload, 0, false}) != Post::kRetry)
    REQUIRE(++taken < 1000);
  CHECK(taken > 1);
  CHECK(goes_on.a->endpoint().post({header, payload, 0, false}) == Post::kDone);
}

namespace {

/// Takes all send buffers of a transport, so that it can send nothing of its own.
class AllSends {
 public:
  AllSends(OfiTransport& transport, std::uint32_t peer) : domain_(transport.domain()) {
    while (ofi::Buffer* const each = domain_.begin_send(nullptr, peer, ofi::Use::kControl))
      taken_.push_back(each);
  }
  ~AllSends() { give_back(); }
  void give_back() {
    for (ofi::Buffer* const each : taken_) domain_.end_send(*each);
    taken_.clear();
  }

 private:
  ofi::Domain& domain_;
  std::vector<ofi::Buffer*> taken_;
};

}  // namespace

TEST_CASE("a last word that cannot be sent is owed until it can, but not for ever") {
  Rig rig(subject("tcp;ofi_rxm"));
  auto& transport = dynamic_cast<OfiTransport&>(*rig.a().transport);
  for (const bool in_time : {true, false}) {
    CAPTURE(in_time);
    Link link = rig.link(), goes_on = rig.link();
    AllSends all(transport, static_cast<ofi::OfiEndpoint&>(link.a->endpoint()).peer());
    link.a->close();
    REQUIRE(transport.pending_byes().count() == 1);
    rig.settle();
    CHECK(link.b->downs.empty());
    if (!in_time) rig.a().ahead += 60 * kSecond;
    if (in_time) all.give_back();
    REQUIRE(rig.until([&] { return transport.pending_byes().count() == 0; }));
    all.give_back();
    if (in_time) REQUIRE(rig.until([&] { return !link.b->downs.empty(); }));
    REQUIRE(transfer(rig, *goes_on.a, *goes_on.b, {{1, 8, 8}}));
  }
}

TEST_CASE("... and is nobody's once its transport has ended") {
  Rig rig(subject("tcp;ofi_rxm"));
  Link link = rig.link();
  auto& transport = dynamic_cast<OfiTransport&>(*rig.b().transport);
  {
    const AllSends all(transport, static_cast<ofi::OfiEndpoint&>(link.b->endpoint()).peer());
    link.b->close();
  }
  CHECK(transport.pending_byes().count() == 1);
  rig.stop_b();
}

TEST_CASE("who does not know the token is not heard") {
  Rig rig(subject("tcp;ofi_rxm"));
  Link link = rig.link();
  // A third connection, whose other end is told a wrong token: it sends as a stranger would.
  auto dialled = rig.a().transport->connect(rig.b().transport->contact());
  REQUIRE(dialled.has_value());
  auto admitted = rig.b().transport->by_ticket()->admit((*dialled)->by_ticket()->ticket());
  REQUIRE(admitted.has_value());
  Ticket wrong = ticket_of(**admitted);
  wrong.token ^= 1;
  End stranger, unheard;
  stranger.take(std::move(*dialled));
  unheard.take(std::move(*admitted));
  stranger.endpoint().by_ticket()->take_ticket(ofi::encode_ticket(wrong));
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
