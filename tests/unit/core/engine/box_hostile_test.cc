// SPDX-License-Identifier: BSD-3-Clause
// Fast boxes whose other end writes arbitrary data, and one whose writer dies while it writes.
#include "tests/unit/core/engine/boxed.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// Rank 0 writes into the box that rank 1 polls.
struct Pair {
  Taps taps;
  Rig rig{2, {kind("self"), boxed(taps, 2)}};
  Small there{rig, 0, 1};
  Pair() { there.warm_up(); }

  core::BoxMemory memory() {
    for (core::FastBox* box : taps[0].fast_boxes) {
      if (box != nullptr && *box->outgoing().taken != 0) return box->outgoing();
    }
    FAIL("rank 0 has no box");
    return {};
  }
  bool lost(std::size_t rank) {
    const auto status = rig.engines[rank]->status();
    return std::ranges::any_of(status.peers, [](const auto& peer) { return peer.lost; });
  }
  /// The number of the next message.
  std::uint64_t next() const { return 1 + there.sent() + 1; }
};

}  // namespace

TEST_CASE("a malformed word in a box ends the pair, and nothing else") {
  for (const bool too_long : {true, false}) {
    Pair pair;
    const core::BoxMemory memory = pair.memory();
    for (std::size_t i = 0; i < core::kBoxSlots; ++i) {
      for (std::uint64_t seq = i; seq < 4096; seq += core::kBoxSlots) {
        const std::uint64_t word =
            too_long ? core::box_word(seq, 62, 0, 0, 0) : core::box_word(seq, 0, 15, 0, 0);
        std::atomic_ref(memory.slots[i].word).store(word, std::memory_order_release);
        pair.rig.engines[1]->progress();
      }
    }
    pair.rig.until([&] { return pair.lost(1); });
  }
}

TEST_CASE("a body that does not lie in the area ends the pair, and nothing is read there") {
  constexpr core::BoxBody kBad[] = {{core::kBoxAreaBytes, 1},
                                    {core::kBoxAreaBytes - 8, 9},
                                    {0, core::kBoxBodyBytesMax + 1},
                                    {~std::uint32_t{0}, 16},
                                    {16, ~std::uint32_t{0}}};
  for (const core::BoxBody& bad : kBad) {
    Pair pair;
    const core::BoxMemory memory = pair.memory();
    for (std::uint64_t seq = 1; seq < 4096; ++seq) {
      core::BoxSlot& slot = memory.slots[seq % core::kBoxSlots];
      std::memcpy(slot.payload, &bad, sizeof bad);
      std::atomic_ref(slot.word).store(core::box_word(seq, core::kBoxHasBody, 0, 0, 0),
                                       std::memory_order_release);
      pair.rig.engines[1]->progress();
    }
    pair.rig.until([&] { return pair.lost(1); });
  }
}

TEST_CASE("a message for a port that nobody has is nobody's") {
  Pair pair;
  const core::BoxMemory memory = pair.memory();
  for (std::uint64_t seq = 1; seq < 4096; ++seq) {
    std::atomic_ref(memory.slots[seq % core::kBoxSlots].word)
        .store(core::box_word(seq, 8, 0, 4095, 4095), std::memory_order_release);
    pair.rig.engines[1]->progress();
  }
  CHECK_FALSE(pair.lost(1));
}

TEST_CASE("a reader that takes what was never sent, or takes it back, is lost") {
  for (const std::uint64_t taken : {~std::uint64_t{0}, std::uint64_t{0}}) {
    Pair pair;
    std::atomic_ref(*pair.memory().taken).store(taken, std::memory_order_release);
    for (int i = 0; i < 300; ++i) {
      const std::byte data[8] = {};
      const Slice slice{data, sizeof data};
      static_cast<void>(
          pair.rig.ports[0]->inject({.to = pair.rig.to(0, 1), .slices = {&slice, 1}}));
      pair.rig.engines[0]->progress();
    }
    pair.rig.until([&] { return pair.lost(0); });
  }
}

TEST_CASE("answers to requests that were never made are not believed") {
  Pair pair;
  const std::uint64_t by_ring = eager_by_ring(pair.taps, 1);
  Small back(pair.rig, 1, 0);
  for (core::EndpointSink* sink : pair.taps[1].sinks) {
    // Rank 1 never asked for a box: it must not write into one that nobody polls.
    const std::uint64_t path = static_cast<core::Path*>(sink)->id;
    for (std::uint64_t note = 3; note <= 4; ++note) {
      const core::Header<core::PathBody> header{{core::FrameKind::kBox, 0, 0, 0, 0, 0, 0},
                                                {path, note}};
      sink->on_frame(bytes_of(header), {});
    }
  }
  for (int i = 0; i < 10; ++i) {
    back.send(1);
    back.receive_all();
  }
  CHECK(eager_by_ring(pair.taps, 1) == by_ring + 10);
}

TEST_CASE("an answer to an earlier request is not believed") {
  Pair pair;
  Small back(pair.rig, 1, 0);
  pair.taps[0].deaf = true;
  for (int i = 0; i < 20; ++i) {
    back.send(1);
    pair.rig.engines[1]->progress();
  }
  REQUIRE(pair.taps[1].posted[core::FrameKind::kBox] ==
          2);  // granted the other's, asked for its own
  for (core::EndpointSink* sink : pair.taps[1].sinks) {
    const core::Header<core::PathBody> header{
        {core::FrameKind::kBox, 0, 0, 0, 0, 0, 0},
        {static_cast<core::Path*>(sink)->id,
         std::uint64_t{7} << 8 | static_cast<std::uint64_t>(core::BoxNote::kGranted)}};
    sink->on_frame(bytes_of(header), {});
  }
  const std::uint64_t by_ring = eager_by_ring(pair.taps, 1);
  back.send(5);
  CHECK(eager_by_ring(pair.taps, 1) == by_ring + 5);
  pair.taps[0].deaf = false;
  back.receive_all();
}

TEST_CASE("a writer that dies before its word is stored has sent nothing") {
  Pair pair;
  const core::BoxMemory memory = pair.memory();
  for (std::size_t i = 0; i < core::kBoxSlots; ++i) {
    memory.slots[i].tag = ~std::uint64_t{0};
    std::memset(memory.slots[i].payload, 0xff, sizeof memory.slots[i].payload);
  }
  for (int i = 0; i < 100; ++i) pair.rig.engines[1]->progress();
  pair.there.send(20);
  pair.there.receive_all();
}
