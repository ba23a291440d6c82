// SPDX-License-Identifier: BSD-3-Clause
// Many more messages than there is credit for, and a receiver that is late to receive them.
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

bool all_ended(const std::vector<Watched>& operations) {
  return std::ranges::all_of(operations, [](const auto& each) { return each.done_count == 1; });
}

/// 3,000 messages that nobody receives at first, for a receiver with little credit.
struct Flood {
  Flood(const std::string& transport, std::uint32_t memory)
      : rig(2, {tapped(transport, taps, transport)}, 1, settings(memory)) {
    const Slice slice{data.data(), data.size()};
    for (std::size_t i = 0; i < sent.size(); ++i)
      REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .tag = i, .slices = {&slice, 1}}, sent[i]) ==
              Accept::kAccepted);
    for (int i = 0; i < 2000; ++i) rig.pass(0);
  }
  static Settings settings(std::uint32_t memory) {
    Settings settings;
    settings.credit_headers = kCreditHeaders;
    settings.credit_bytes = 16384;
    settings.unexpected_bytes = memory;
    return settings;
  }
  std::size_t posted(core::FrameKind kind) { return taps[0].posted[kind]; }
  void receive_in_order() {
    std::vector<Watched> received(sent.size());
    std::vector<std::vector<std::byte>> into(sent.size(), std::vector<std::byte>(data.size()));
    for (std::size_t i = 0; i < received.size(); ++i) {
      const MutableSlice slice{into[i].data(), into[i].size()};
      REQUIRE(rig.ports[1]->receive({.ignore = ~Tag{0}, .slices = {&slice, 1}}, received[i]) ==
              Accept::kAccepted);
    }
    // Offers may complete after eager messages that matched later: wait for all of them.
    rig.until([&] { return all_ended(received) && all_ended(sent); });
    for (std::size_t i = 0; i < received.size(); ++i) {
      REQUIRE(received[i].completion.tag == i);
      REQUIRE((into[i] == data));
    }
  }

  static constexpr std::uint32_t kCreditHeaders = 64;
  Taps taps;
  Rig rig;
  const std::vector<std::byte> data = pattern(700, 9);
  std::vector<Watched> sent = std::vector<Watched>(3000);
};

}  // namespace

TEST_CASE("a flood beyond all credit keeps its order and bounds memory") {
  for (const std::string transport : {"tcp", "sm"}) {
    for (const std::uint32_t memory : {0u, 65536u}) {
      CAPTURE(transport);
      CAPTURE(memory);
      Flood flood(transport, memory);
      const std::size_t eager = flood.posted(core::FrameKind::kEager);
      const std::size_t offered = flood.posted(core::FrameKind::kRts);
      CHECK(offered > 0);
      CHECK(eager + offered <= Flood::kCreditHeaders + memory / core::Unexpected::kMemoryBytesMin);
      flood.receive_in_order();
    }
  }
}
