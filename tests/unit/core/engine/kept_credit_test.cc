// SPDX-License-Identifier: BSD-3-Clause
// Credit that could not be given ahead when a message was stored comes once the obstacle is gone.
#include "tests/unit/core/engine/unreceived.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

TEST_CASE("credit that answers were in the way of comes back when these have gone") {
  Unreceived messages(3 * kHeaders, 40'000, 16u << 20, "tcp");
  std::vector<Watched> behind(2 * kHeaders);
  const Slice large{messages.payload.data(), messages.payload.size()};
  for (std::size_t i = 0; i < messages.count; ++i)
    REQUIRE(messages.send(i, kOthersTag, messages.payload.size()) == Accept::kAccepted);
  messages.rig.until([&] { return messages.posted(FrameKind::kRts) == messages.count; });
  for (int i = 0; i < 10; ++i)
    messages.rig.pass(kMillisecond);  // stored, with the credit for them back
  messages.taps[1].busy = true;
  messages.receive_all();  // more answers than credit in headers, but none can be posted
  for (Watched& each : behind) {
    const SendRequest request{
        .to = messages.rig.to(0, 1), .tag = kAwaitedTag + 1, .slices = {&large, 1}};
    REQUIRE(messages.rig.ports[0]->send(request, each) == Accept::kAccepted);
  }
  REQUIRE(messages.send(messages.count, kAwaitedTag, 0) == Accept::kAccepted);
  messages.receive_last();
  messages.rig.until([&] { return messages.posted(FrameKind::kRts) > messages.count; });
  for (int i = 0; i < 10; ++i) messages.rig.pass(kMillisecond);
  messages.taps[1].busy = false;
  messages.rig.until([&] {
    messages.rig.pass(kMillisecond);
    return messages.has_last();
  });
  messages.rig.ports.clear();
}

TEST_CASE("credit that memory was in the way of comes back when others have given theirs back") {
  constexpr std::uint32_t kMemory = 32u << 10;
  constexpr std::size_t kRoom = kMemory / core::Unexpected::kMemoryBytesMin;
  constexpr std::size_t kFills = kRoom + kHeaders / 2;
  static_assert(kHeaders < kRoom / 2);
  Rig rig(3, {kind("tcp")}, 1, small_credit(kMemory));
  std::vector<Watched> filling(kFills), filled(kFills), behind(kHeaders + 1);
  Watched awaited;
  const auto send = [&](std::size_t from, Tag tag, Watched& sent) {
    REQUIRE(rig.ports[from]->send({.to = rig.to(from, 1), .tag = tag, .slices = {}}, sent) ==
            Accept::kAccepted);
  };
  for (Watched& each : filling) send(0, kOthersTag, each);
  rig.until([&] {
    return std::ranges::all_of(filling, [](auto& each) { return each.done_count == 1; });
  });
  for (int i = 0; i < 10; ++i) rig.pass(kMillisecond);
  for (std::size_t i = 0; i < kHeaders; ++i) send(2, kAwaitedTag + 1, behind[i]);
  send(2, kAwaitedTag, behind[kHeaders]);
  REQUIRE(rig.ports[1]->receive({.tag = kAwaitedTag, .slices = {}}, awaited) == Accept::kAccepted);
  for (int i = 0; i < 100; ++i) rig.pass(kMillisecond);
  CHECK(awaited.done_count == 0);
  for (Watched& each : filled)
    REQUIRE(rig.ports[1]->receive({.tag = kOthersTag, .slices = {}}, each) == Accept::kAccepted);
  rig.until([&] {
    rig.pass(kMillisecond);
    return awaited.done_count == 1;
  });
  rig.ports.clear();
}
