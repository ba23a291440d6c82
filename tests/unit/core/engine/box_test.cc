// SPDX-License-Identifier: BSD-3-Clause
// Fast boxes: who gets one, and for how long.
#include "tests/unit/core/engine/boxed.h"
#include "tests/unit/core/engine/ladder.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

Settings with(std::uint32_t after, std::uint32_t boxes) {
  Settings settings;
  settings.box_after = after;
  settings.boxes_max = boxes;
  return settings;
}

}  // namespace

TEST_CASE("from the 16th small message on a pair has a box, each way by itself") {
  Taps taps;
  Rig rig(2, {kind("self"), boxed(taps, 2)});
  Small there(rig, 0, 1), back(rig, 1, 0);
  there.warm_up();
  CHECK(by_ring(there, taps, 0, 110) == 10);  // those of two slices
  CHECK(by_ring(back, taps, 1, 10) == 10);    // no box yet
  back.warm_up();
  CHECK(by_ring(back, taps, 1, 110) == 10);
  CHECK(taps[0].posted[core::FrameKind::kBox] == 2);  // its request, and its grant to the other
}

TEST_CASE("without boxes all go by the ring") {
  Taps taps;
  Rig rig(2, {kind("self"), boxed(taps, 2)}, 1, with(0, 32));
  Small there(rig, 0, 1);
  there.warm_up();
  CHECK(by_ring(there, taps, 0, 50) == 50);
}

TEST_CASE("a box that is full is passed by the ring, and used again") {
  Taps taps;
  Rig rig(2, {kind("self"), boxed(taps, 2)});
  Small there(rig, 0, 1);
  there.warm_up();
  there.send(3 * core::kBoxSlots);
  there.receive_all();
  CHECK(by_ring(there, taps, 0, 110) == 10);
}

TEST_CASE("the largest messages of a box never wait for room beside its slots") {
  Taps taps;
  Rig rig(2, {kind("self"), boxed(taps, 2)});
  Small there(rig, 0, 1);
  there.warm_up();
  const std::uint64_t before = eager_by_ring(taps, 0);
  const std::vector<std::byte> data = pattern(core::kBoxBodyBytesMax, 1);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::byte> room(data.size());
    const MutableSlice into{room.data(), room.size()};
    const Slice slice{data.data(), data.size()};
    Watched receive;
    REQUIRE(rig.ports[1]->receive({.slices = {&into, 1}}, receive) == Accept::kAccepted);
    REQUIRE(rig.ports[0]->inject({.to = rig.to(0, 1), .slices = {&slice, 1}}) == Accept::kAccepted);
    rig.until([&] { return receive.done_count == 1; });
    REQUIRE(room == data);
  }
  CHECK(eager_by_ring(taps, 0) == before);
}

TEST_CASE("a message that is longer than its receive is cut, wherever it lies") {
  Taps taps;
  Rig rig(2, {kind("self"), boxed(taps, 2)});
  Small there(rig, 0, 1);
  there.warm_up();
  for (const std::size_t bytes : {core::kBoxInlineBytes, core::kBoxBodyBytesMax}) {
    const std::vector<std::byte> data = pattern(bytes, 2);
    std::byte room[32] = {};
    const MutableSlice into{room, 20};
    const Slice slice{data.data(), data.size()};
    Watched receive;
    REQUIRE(rig.ports[1]->receive({.slices = {&into, 1}}, receive) == Accept::kAccepted);
    REQUIRE(rig.ports[0]->inject({.to = rig.to(0, 1), .slices = {&slice, 1}}) == Accept::kAccepted);
    rig.until([&] { return receive.done_count == 1; });
    CHECK(receive.completion.code == Errc::kTruncated);
    CHECK(receive.completion.bytes == 20);
    CHECK(receive.completion.message_bytes == bytes);
    CHECK(std::equal(room, room + 20, data.begin()));
    CHECK(room[20] == std::byte{0});
  }
}

TEST_CASE("a receiver looks at so many boxes; one that is not used is given to who wants it") {
  Taps taps;
  Rig rig(3, {kind("self"), boxed(taps, 3)}, 1, with(4, 1));
  Small first(rig, 0, 2), second(rig, 1, 2);
  first.warm_up();
  CHECK(by_ring(first, taps, 0, 11) == 1);
  second.warm_up();
  CHECK(by_ring(second, taps, 1, 11) == 11);
  // The first falls silent, the second goes on.
  bool given = false;
  for (int i = 0; i < 20 && !given; ++i) {
    rig.pass(150 * kMillisecond);
    given = by_ring(second, taps, 1, 11) == 1;
  }
  CHECK(given);
  CHECK(by_ring(first, taps, 0, 11) == 11);
}

namespace {

/// Sends from rank 0 to rank 1 by the ring, except one in every `period`, which goes by the box.
void send_by_ring(Rig& rig, std::uint64_t count, std::uint64_t period) {
  const std::byte data[48] = {};
  std::byte room[48];
  const MutableSlice into{room, sizeof room};
  for (std::uint64_t i = 0; i < count; ++i) {
    const Slice slices[] = {{data, 8}, {data, sizeof data - 8}};
    const std::size_t count_of_slices = i % period == 0 ? 1 : 2;
    Watched receive;
    REQUIRE(rig.ports[1]->receive({.slices = {&into, 1}}, receive) == Accept::kAccepted);
    while (rig.ports[0]->inject({.to = rig.to(0, 1), .slices = {slices, count_of_slices}}) !=
           Accept::kAccepted)
      rig.engines[0]->progress();
    while (receive.done_count == 0) rig.engines[1]->progress();
    if (i % 64 == 0) rig.engines[0]->progress();
    REQUIRE(receive.completion.bytes == (count_of_slices == 1 ? 8 : sizeof data));
  }
}

core::BoxMemory memory_of(Taps& taps) {
  for (core::FastBox* box : taps[0].fast_boxes) {
    if (box != nullptr && *box->outgoing().taken != 0) return box->outgoing();
  }
  FAIL("rank 0 has no box");
  return {};
}

}  // namespace

TEST_CASE("a slot whose numbers always go by the ring keeps no old word") {
  Taps taps;
  Rig rig(2, {kind("self"), boxed(taps, 2)});
  Small there(rig, 0, 1);
  there.warm_up();
  there.send(2 * core::kBoxSlots);
  there.receive_all();
  const core::BoxMemory memory = memory_of(taps);
  // From here on one number of each lap goes by the box, always in the same slot.
  send_by_ring(rig, core::BoxReader::kCleanEvery + 1000, core::kBoxSlots);
  rig.pass(5 * kMillisecond);
  std::size_t words = 0;
  for (std::size_t i = 0; i < core::kBoxSlots; ++i) words += memory.slots[i].word != 0 ? 1 : 0;
  CHECK(words <= 2);
}

TEST_CASE("what lies in the box of a process that ends in good order arrives") {
  Taps taps;
  Rig rig(2, {kind("self"), boxed(taps, 2)});
  Small there(rig, 0, 1);
  there.warm_up();
  there.send(60);
  rig.ports[0].reset();
  rig.engines[0]->linger();
  rig.engines[0].reset();
  rig.engines.erase(rig.engines.begin());
  there.receive_all();
  CHECK(taps[0].posted[core::FrameKind::kGoodbye] == 1);
}

TEST_CASE("a hold finds a box empty, and it is used again when the hold has ended") {
  Taps taps;
  Rig rig(2, {kind("self"), boxed(taps, 2)});
  Small there(rig, 0, 1);
  there.warm_up();
  there.send(50);
  const core::HoldOrder order{.id = 7, .lease = 60 * kSecond, .members = 0, .job = Incarnation{1}};
  for (auto& engine : rig.engines) REQUIRE(engine->hold(order).refusal.empty());
  rig.until([&] {
    return std::ranges::all_of(rig.engines, [](auto& engine) {
      return engine->hold_report().state == core::HoldState::kParked;
    });
  });
  there.send(20);  // waits
  for (auto& engine : rig.engines) REQUIRE(engine->end_hold(7).refusal.empty());
  there.receive_all();
  there.warm_up();
  CHECK(by_ring(there, taps, 0, 110) == 10);
}
