// SPDX-License-Identifier: BSD-3-Clause
// What lies in memory that a peer can still change is read once, or copied before it is examined:
// else it could change between check and use. Payloads of frames, as sm hands them over, and fast
// boxes.
#include "tests/unit/core/engine/boxed.h"
#include "tests/unit/core/engine/counted_memory.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

namespace {

/// Touches of one plain copy of that many bytes.
std::size_t touches_of_a_copy(std::size_t bytes) {
  const Pages pages;
  const CountedMemory counted(pages.base(), Pages::kBytes);
  const Blob copy(pages.base(), pages.base() + bytes);
  return counted.touches();
}

/// Two ranks over tcp; frames are injected as if the other had sent them, with a payload in counted
/// memory.
struct Told {
  Taps taps;
  Rig rig{2, {kind("self"), tapped("alpha", taps)}};
  Pages pages;

  Told() {
    REQUIRE(rig.ports[1]->inject({.to = rig.to(1, 0)}) == Accept::kAccepted);
    REQUIRE(rig.ports[0]->inject({.to = rig.to(0, 1)}) == Accept::kAccepted);
    rig.until([&] { return used(rig, 0, 1) == "alpha" && used(rig, 1, 0) == "alpha"; });
    REQUIRE(taps[0].sinks.size() == 1);
  }
  core::Path& path() { return *static_cast<core::Path*>(*taps[0].sinks.begin()); }
  /// How many instructions read the payload.
  template <class Header>
  std::size_t touches(const Header& header, const Blob& payload) {
    std::ranges::copy(payload, pages.base());
    const CountedMemory counted(pages.base(), Pages::kBytes);
    path().on_frame(bytes_of(header), {pages.base(), payload.size()});
    return counted.touches();
  }
  /// How many times the payload is gone through.
  template <class Header>
  std::size_t passes(const Header& header, const Blob& payload) {
    std::ranges::copy(payload, pages.base());
    const CountedMemory counted(pages.base(), Pages::kBytes);
    path().on_frame(bytes_of(header), {pages.base(), payload.size()});
    return counted.passes(pages.base() + 512, pages.base() + payload.size() - 512);
  }
  core::FrameHead next(FrameKind kind) {
    return {kind, 0, 0, rig.ports[0]->number(), 1, path().peer->rx.reorder.expected(), 0};
  }
};

Blob ticket(std::string_view transport) {
  ByteWriter writer;
  writer.put_counted(as_bytes(transport));
  writer.put_counted(Blob(100, std::byte{2}));
  return writer.take();
}

}  // namespace

TEST_CASE("counted memory counts") {
  const Pages pages;
  const CountedMemory counted(pages.base(), Pages::kBytes);
  const auto* const words = reinterpret_cast<const volatile std::uint64_t*>(pages.base());
  CHECK(words[0] + words[5] + words[5] == 0);
  CHECK(counted.touches() == 3);
  CHECK(counted.touches_of(pages.base()) == 1);
  CHECK(counted.touches_of(pages.base() + 40) == 2);
  CHECK(counted.passes(pages.base(), pages.base() + 40) == 1);
  CHECK(counted.passes(pages.base(), pages.base() + 48) == 2);  // 0, 40, 40 again
}

TEST_CASE("a copy is one pass, two are two") {
  const Pages pages;
  const std::byte* const from = pages.base();
  const CountedMemory counted(pages.base(), Pages::kBytes);
  for (std::size_t copies = 1; copies <= 3; ++copies) {
    const Blob copy(from, from + 3000);
    CHECK(counted.passes(from + 512, from + 2488) == copies);
  }
}

TEST_CASE("addresses and tickets are copied before they are looked at") {
  Told told;
  const Blob addresses =
      core::encode_addresses({{"alpha", Blob(60, std::byte{1})}, {"beta", Blob(40, std::byte{3})}});
  CHECK(told.touches(told.next(FrameKind::kAddresses), addresses) ==
        touches_of_a_copy(addresses.size()));
  REQUIRE(told.path().peer->addresses.contains("beta"));  // and they are taken
  const core::Header<core::PathBody> offer{{FrameKind::kTicket, 0, 0, 0, 0, 0, 0}, {77, 0}};
  const Blob offered = ticket("alpha");
  CHECK(told.touches(offer, offered) == touches_of_a_copy(offered.size()));
  CHECK(told.touches(offer, Blob(4000, std::byte{1})) == 0);  // no ticket is that long
  CHECK(told.path().down());
}

TEST_CASE("a hello is copied before it is looked at") {
  Told told;
  core::HelloFacts facts;
  facts.job = "test";
  facts.process = ProcessId{7};
  facts.path = 7;
  facts.label = "rank 7";
  facts.next_expected = facts.acknowledged = 1;
  const Secret secret(std::array<std::byte, 32>{std::byte{7}});
  const Blob hello =
      *core::Handshake::dial(secret, facts, ProcessId{Rig::kFirstProcess}).start().send;
  const core::FrameHead head{FrameKind::kHello, 0, 0, 0, 0, 0, 0};
  told.path().handshake = std::make_unique<core::Handshake>(
      core::Handshake::accept(secret, {"test", ProcessId{Rig::kFirstProcess}}));
  CHECK(told.touches(head, hello) == touches_of_a_copy(hello.size()));
  CHECK(told.path().handshake->peer().label == "rank 7");  // it was understood
}

TEST_CASE("an eager message, an active one and a put are copied once") {
  Told told;
  const Blob payload(3000, std::byte{5});
  const core::Header<core::MessageBody> eager{told.next(FrameKind::kEager), {0, 0}};
  CHECK(told.passes(eager, payload) == 1);  // kept
  const core::Header<core::MessageBody> active{told.next(FrameKind::kActive), {0, 1}};
  CHECK(told.passes(active, payload) == 1);
  std::vector<std::byte> region(4096);
  RegionRequest request;
  request.base = region.data();
  request.bytes = region.size();
  request.key = 5;
  REQUIRE(told.rig.ports[0]->register_region(request));
  const core::Header<core::RemoteBody> put{told.next(FrameKind::kPut), {5, 0, 3000, 1}};
  CHECK(told.passes(put, payload) == 1);
  CHECK(region[2999] == std::byte{5});
  told.rig.ports.clear();
}

namespace {

/// Rank 0 has put a message of 32 bytes into the box that rank 1 polls.
struct Boxed {
  Taps taps;
  Rig rig{2, {kind("self"), boxed(taps, 2)}};
  Small there{rig, 0, 1};
  std::byte room[64] = {};
  Watched receive;

  explicit Boxed(bool expected) {
    there.warm_up();
    while (Small::bytes_of(there.sent()) != 32) {
      there.send(1);
      there.receive_all();
    }
    const MutableSlice slice{room, sizeof room};
    if (expected)
      REQUIRE(rig.ports[1]->receive({.ignore = ~Tag{0}, .slices = {&slice, 1}}, receive) ==
              Accept::kAccepted);
    there.send(1);
  }
  core::BoxSlot* slots() {
    for (core::FastBox* box : taps[1].fast_boxes) {
      if (box != nullptr && core::BoxWord{slot(*box).word}.bytes() == 32)
        return box->incoming().slots;
    }
    FAIL("the message went another way");
    return nullptr;
  }
  core::BoxSlot& slot(core::FastBox& box) {
    return box.incoming().slots[there.sent() % core::kBoxSlots];
  }
};

}  // namespace

TEST_CASE("each word of a message in a fast box is read once") {
  for (const bool expected : {true, false}) {
    Boxed pair(expected);
    core::BoxSlot* const slots = pair.slots();
    const core::BoxSlot& slot = slots[pair.there.sent() % core::kBoxSlots];
    {
      const CountedMemory counted(reinterpret_cast<std::byte*>(slots),
                                  core::kBoxSlots * sizeof(core::BoxSlot));
      while (counted.touches_of(&slot.payload) == 0) pair.rig.engines[1]->progress();
      CHECK(counted.touches_of(&slot.word) == 1);
      CHECK(counted.touches_of(&slot.tag) == 1);
      CHECK(counted.touches_of(&slot.data) == 1);
    }
    CHECK(pair.receive.done_count == (expected ? 1 : 0));
    pair.rig.ports.clear();
  }
}
