// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/boxed.h -- small messages from one rank of a rig to another, over shared
// memory with fast boxes, and how many of them went by the ring instead.
#pragma once

#include "tests/unit/core/engine/tapped.h"

namespace livebtl::test {

inline std::uint64_t eager_by_ring(Taps& taps, std::uint64_t rank) {
  return taps[rank].posted[core::FrameKind::kEager];
}

/// Numbered messages: most fit into a slot of a box, some need room beside it; those of two slices
/// go by the ring.
class Small {
 public:
  Small(Rig& rig, std::size_t from, std::size_t to) : rig_(rig), from_(from), to_(to) {}

  static bool in_two(std::uint64_t number) { return number % 11 == 0; }
  static std::size_t bytes_of(std::uint64_t number) {
    if (in_two(number)) return 48;
    return number % 5 == 2 ? core::kBoxInlineBytes + 1 + number * 97 % 4056
                           : number % (core::kBoxInlineBytes + 1);
  }
  /// false: the engine is busy.
  bool send() {
    const std::vector<std::byte> data = pattern(bytes_of(sent_), sent_);
    const std::size_t first = in_two(sent_) ? data.size() / 2 : data.size();
    const Slice slices[] = {{data.data(), first}, {data.data() + first, data.size() - first}};
    const SendRequest request{.to = rig_.to(from_, to_),
                              .has_data = sent_ % 2 == 0,
                              .tag = sent_,
                              .data = ~sent_,
                              .slices = {slices, in_two(sent_) ? 2U : 1U}};
    const Accept answer = rig_.ports[from_]->inject(request);
    REQUIRE((answer == Accept::kAccepted || answer == Accept::kBusy));
    if (answer == Accept::kAccepted) ++sent_;
    return answer == Accept::kAccepted;
  }
  void send(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) REQUIRE(send());
  }
  /// Receives what has been sent, and checks contents and order.
  void receive_all() {
    while (received_ < sent_) receive_one();
  }
  void receive_one() {
    std::byte room[core::kBoxBodyBytesMax];
    const MutableSlice slice{room, sizeof room};
    Watched receive;
    REQUIRE(rig_.ports[to_]->receive({.ignore = ~Tag{0}, .slices = {&slice, 1}}, receive) ==
            Accept::kAccepted);
    rig_.until([&] { return receive.done_count == 1; });
    const Completion& how = receive.completion;
    REQUIRE(how.code == Errc::kOk);
    REQUIRE(how.tag == received_);
    REQUIRE(how.has_data == (received_ % 2 == 0));
    if (how.has_data) REQUIRE(how.data == ~received_);
    REQUIRE(how.bytes == bytes_of(received_));
    const auto wanted = pattern(how.bytes, received_);
    REQUIRE(
        std::equal(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(how.bytes), room));
    ++received_;
  }
  /// Enough messages to and fro for the pair to be given a box.
  void warm_up() {
    for (int i = 0; i < 40; ++i) {
      send(1);
      receive_all();
    }
  }
  std::uint64_t sent() const { return sent_; }

 private:
  Rig& rig_;
  const std::size_t from_, to_;
  std::uint64_t sent_ = 0, received_ = 0;
};

inline core::TransportKind boxed(Taps& taps, std::size_t ranks) {
  for (std::size_t rank = 0; rank < ranks; ++rank) taps[rank].boxes = true;
  return tapped("ring", taps, "sm");
}

/// Returns how many of the next `count` small messages go by the ring.
inline std::uint64_t by_ring(Small& small, Taps& taps, std::uint64_t rank, std::uint64_t count) {
  const std::uint64_t before = eager_by_ring(taps, rank);
  for (std::uint64_t i = 0; i < count; ++i) {
    small.send(1);
    small.receive_all();
  }
  return eager_by_ring(taps, rank) - before;
}

}  // namespace livebtl::test
