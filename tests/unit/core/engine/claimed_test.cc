// SPDX-License-Identifier: BSD-3-Clause
// A port is closed while its user holds messages that it has set aside but neither received nor
// discarded.
#include <deque>

#include "tests/unit/core/engine/rig.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

void send(Rig& rig, Tag tag, const std::vector<std::byte>& data, Watched& operation) {
  const Slice slice{data.data(), data.size()};
  REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .tag = tag, .slices = {&slice, 1}}, operation) ==
          Accept::kAccepted);
}

ClaimedMessage* claim(Rig& rig, Tag tag) {
  ClaimedMessage* claimed = nullptr;
  Completion found;
  rig.until([&] { return rig.ports[1]->peek({.tag = tag}, found, &claimed); });
  return claimed;
}

}  // namespace

TEST_CASE("a large message that was set aside ends with its port, and its sender is told") {
  const auto data = pattern(1 << 20, 1);
  std::deque<Watched> sent(3);  // before the rig, which may still complete them
  Watched received;
  std::vector<std::byte> into(data.size());
  Rig rig(2, kinds_of({"tcp"}));
  for (Tag tag = 0; tag < sent.size(); ++tag) send(rig, tag, data, sent[tag]);
  ClaimedMessage* const taken = claim(rig, 0);
  claim(rig, 1);
  ClaimedMessage* const discarded = claim(rig, 2);
  const MutableSlice slice{into.data(), into.size()};
  REQUIRE(rig.ports[1]->receive_claimed(taken, {&slice, 1}, received) == Accept::kAccepted);
  rig.ports[1]->discard_claimed(discarded);
  rig.until([&] { return received.done_count == 1 && sent[0].done_count == 1; });
  CHECK(into == data);
  CHECK(sent[1].done_count == 0);
  rig.ports[1].reset();
  rig.until([&] { return sent[1].done_count == 1 && sent[2].done_count == 1; });
  CHECK(sent[0].completion.code == Errc::kOk);
  CHECK(sent[1].completion.code == Errc::kCancelled);
  CHECK(sent[2].completion.code == Errc::kOk);
}

TEST_CASE("the credit of small messages that were set aside comes back when their port closes") {
  constexpr std::size_t kHeaders = 64;
  Settings settings;
  settings.credit_headers = kHeaders;
  settings.unexpected_bytes = 0;  // else it would come back as they are stored
  const auto data = pattern(100, 2);
  std::deque<Watched> sent(2 * kHeaders), received(kHeaders);
  std::vector<std::byte> into(data.size());
  Rig rig(2, kinds_of({"tcp"}), 1, settings);
  for (std::size_t i = 0; i < kHeaders; ++i) {
    send(rig, i, data, sent[i]);
    claim(rig, i);
  }
  rig.ports[1] = std::move(rig.engines[1]->open_port({}).value());
  const MutableSlice slice{into.data(), into.size()};
  for (std::size_t i = 0; i < kHeaders; ++i)
    REQUIRE(rig.ports[1]->receive({.tag = i, .slices = {&slice, 1}}, received[i]) ==
            Accept::kAccepted);
  for (std::size_t i = 0; i < kHeaders; ++i) send(rig, i, data, sent[kHeaders + i]);
  rig.until([&] {
    return std::ranges::all_of(received, [](const Watched& each) { return each.done_count == 1; });
  });
  CHECK(into == data);
}
