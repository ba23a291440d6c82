// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/exposed_offer_read_test.cc -- the steps in which an endpoint delivers an offer whose
// bytes it is to read, made here by hand: those of one whose reads fail, and of a hostile one.
#include "tests/unit/core/engine/exposed_offer.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// An offer of rank 0's that its endpoint has taken but not delivered; the test does.
struct Undelivered {
  explicit Undelivered(OfferedPair& of, std::uint64_t seed) : pair(of) {
    pair.ring[0].mute = true;
    sent.emplace(pair.rig, seed);
    pair.rig.until([&] { return pair.posted(0, core::FrameKind::kRts) == 1; });
    pair.ring[0].mute = false;
    header = pair.ring[0].last_header;
    REQUIRE(pair.ring[1].sinks.size() == 1);
    sink = *pair.ring[1].sinks.begin();
  }
  MutableBytes place(std::size_t bytes = kOfferedBytes) {
    return sink->on_place(header, bytes, false);
  }
  /// All of it, as rank 0 has it.
  void read_into(MutableBytes place) const { std::ranges::copy(sent->bytes, place.begin()); }

  OfferedPair& pair;
  std::optional<OfferedSend> sent;
  Blob header;
  core::EndpointSink* sink = nullptr;
};

}  // namespace

TEST_CASE("a message whose read has begun keeps its receive until it can be read") {
  OfferedPair pair(SingleCopy::kCma, 3);
  OfferedReceive first(pair.rig);
  Undelivered offer(pair, 2);
  REQUIRE(offer.sink->is_wanted(offer.header));
  const MutableBytes place = offer.place();
  REQUIRE(place.data() == first.bytes.data());
  std::ranges::fill(place.first(1000), std::byte{0xEE});  // and then the kernel refuses

  OfferedReceive second(pair.rig);
  std::byte byte{5};
  const Slice one{&byte, 1};
  REQUIRE(pair.rig.ports[2]->inject({.to = pair.rig.to(2, 1), .slices = {&one, 1}}) ==
          Accept::kAccepted);
  pair.rig.until([&] { return second.operation.done_count == 1; });
  CHECK(first.operation.done_count == 0);

  REQUIRE(offer.sink->is_wanted(offer.header));
  REQUIRE(offer.place().data() == first.bytes.data());
  offer.read_into(place);
  offer.sink->on_frame(offer.header, place);
  CHECK(first.operation.done_count == 1);
  CHECK(first.bytes == offer.sent->bytes);
  pair.rig.until([&] { return offer.sent->operation.done_count == 1; });
  offer.sink->on_frame(offer.header, place);  // a repeat
  CHECK(first.operation.done_count == 1);
  CHECK(!pair.keeps_one());
}

TEST_CASE("a receive that is given up before its message could be read ends it") {
  OfferedPair pair;
  OfferedReceive given_up(pair.rig);
  Undelivered offer(pair, 3);
  REQUIRE(offer.sink->is_wanted(offer.header));
  pair.rig.ports[1].reset();
  CHECK(given_up.operation.completion.code == Errc::kCancelled);
  CHECK(!offer.sink->is_wanted(offer.header));
  CHECK(offer.place().empty());
  offer.sink->on_frame(offer.header, {});
  pair.rig.until([&] { return offer.sent->operation.done_count == 1; });
  CHECK(offer.sent->operation.completion.code == Errc::kCancelled);
}

TEST_CASE("a message that was read elsewhere, or not at all, is asked for") {
  for (const bool elsewhere : {false, true}) {
    OfferedPair pair;
    OfferedReceive received(pair.rig);
    Undelivered offer(pair, 4);
    REQUIRE(offer.sink->is_wanted(offer.header));
    offer.sink->on_frame(offer.header, elsewhere ? Bytes(offer.sent->bytes) : Bytes{});
    CHECK(received.operation.done_count == 0);
    pair.rig.until(
        [&] { return offer.sent->operation.done_count + received.operation.done_count == 2; });
    CHECK(received.bytes == offer.sent->bytes);
    CHECK(pair.posted(1, core::FrameKind::kCts) == 1);
  }
}

TEST_CASE(
    "an offer has a place only for as many bytes as it offers, and once its receive is known") {
  OfferedPair pair;
  OfferedReceive received(pair.rig);
  Undelivered offer(pair, 5);
  CHECK(offer.place().empty());
  REQUIRE(offer.sink->is_wanted(offer.header));
  CHECK(offer.place(kOfferedBytes - 1).empty());
  CHECK(offer.place(kOfferedBytes + 1).empty());
  const MutableBytes place = offer.place();
  REQUIRE(place.size() == kOfferedBytes);
  offer.read_into(place);
  offer.sink->on_frame(offer.header, place);
  CHECK(received.operation.done_count == 1);
  pair.rig.until([&] { return offer.sent->operation.done_count == 1; });
}

TEST_CASE("an offer that is not the next frame is not read") {
  OfferedPair pair;
  OfferedReceive received(pair.rig);
  Undelivered offer(pair, 6);
  core::FrameHead head;
  std::memcpy(&head, offer.header.data(), sizeof head);
  for (const std::uint64_t seq : {head.seq - 1, head.seq + 1}) {
    core::FrameHead other = head;
    other.seq = seq;
    Blob changed = offer.header;
    std::memcpy(changed.data(), &other, sizeof other);
    CHECK(!offer.sink->is_wanted(changed));
  }
  CHECK(received.operation.done_count == 0);
  offer.sink->on_frame(offer.header, {});
  pair.rig.until(
      [&] { return offer.sent->operation.done_count + received.operation.done_count == 2; });
  CHECK(received.bytes == offer.sent->bytes);
}
