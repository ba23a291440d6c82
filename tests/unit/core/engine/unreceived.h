// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/unreceived.h -- messages that nobody receives before the one that follows
// them.
#pragma once

#include "tests/unit/core/engine/small_credit.h"
#include "tests/unit/core/engine/tapped.h"

namespace livebtl::test {

inline constexpr Tag kOthersTag = 1, kAwaitedTag = 2;

struct Unreceived {
  Unreceived(std::size_t message_count, std::size_t bytes_of_each, std::uint32_t memory,
             const char* beneath)
      : rig(2, {tapped(beneath, taps, beneath)}, 1, small_credit(memory)),
        count(message_count),
        payload(bytes_of_each, std::byte{9}),
        sent(message_count + 1),
        received(message_count + 1),
        buffers(message_count, std::vector<std::byte>(bytes_of_each)) {}

  Accept send(std::size_t at, Tag tag, std::size_t bytes) {
    const Slice slice{payload.data(), bytes};
    return rig.ports[0]->send({.to = rig.to(0, 1), .tag = tag, .slices = {&slice, 1}}, sent[at]);
  }
  /// All of the first kind, and then the one that is waited for.
  void send_all() {
    for (std::size_t i = 0; i < count; ++i)
      REQUIRE(send(i, kOthersTag, payload.size()) == Accept::kAccepted);
    REQUIRE(send(count, kAwaitedTag, 0) == Accept::kAccepted);
  }
  void receive_last() {
    REQUIRE(rig.ports[1]->receive({.tag = kAwaitedTag, .slices = {}}, received[count]) ==
            Accept::kAccepted);
  }
  bool has_last() const { return received[count].done_count == 1; }
  void receive_all() {
    for (std::size_t i = 0; i < count; ++i) {
      const MutableSlice slice{buffers[i].data(), buffers[i].size()};
      REQUIRE(rig.ports[1]->receive({.tag = kOthersTag, .slices = {&slice, 1}}, received[i]) ==
              Accept::kAccepted);
    }
  }
  void expect_all() {
    receive_all();
    const auto done = [](const Watched& each) { return each.done_count == 1; };
    rig.until(
        [&] { return std::ranges::all_of(sent, done) && std::ranges::all_of(received, done); });
    CHECK(std::ranges::all_of(buffers, [&](const auto& each) { return each == payload; }));
  }
  std::uint64_t posted(core::FrameKind kind) { return taps[0].posted[kind]; }

  Taps taps;
  Rig rig;
  std::size_t count;
  std::vector<std::byte> payload;
  std::vector<Watched> sent, received;
  std::vector<std::vector<std::byte>> buffers;
};

}  // namespace livebtl::test
