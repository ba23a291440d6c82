// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/exposed_offer_flow_test.cc -- offers that expose their bytes hold nothing up: peers
// that look late or never, other data of the pair, and the sender's own end.
#include "tests/unit/core/engine/exposed_offer.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

TEST_CASE("to a peer that looks at nothing offers go without their bytes, and the sender rests") {
  OfferedPair pair;
  pair.ring[1].deaf = true;
  std::deque<OfferedSend> sent;
  for (std::uint64_t i = 0; i < 12; ++i) sent.emplace_back(pair.rig, 20 + i);
  pair.rig.until([&] { return pair.posted(0, FrameKind::kRts) == 12; });
  pair.ring[1].deaf = false;
  std::deque<OfferedReceive> received;
  for (std::size_t i = 0; i < sent.size(); ++i) received.emplace_back(pair.rig);
  pair.rig.until([&] { return all_done(sent) && all_done(received); });
  for (std::size_t i = 0; i < sent.size(); ++i) CHECK(received[i].bytes == sent[i].bytes);
  CHECK(pair.exposed() >= 4);
}

TEST_CASE("where receives are posted late, offers expose their bytes ever less often") {
  OfferedPair pair;
  constexpr std::uint64_t kLate = 20;
  for (std::uint64_t i = 0; i < kLate; ++i) {
    OfferedSend sent(pair.rig, 3 + i);
    pair.rig.until([&] { return pair.keeps_one(); });
    OfferedReceive received(pair.rig);
    pair.rig.until([&] { return sent.operation.done_count + received.operation.done_count == 2; });
    CHECK(received.bytes == sent.bytes);
  }
  // The data of each are exposed, and of the offers 1, 3, 7 and 15.
  CHECK(pair.exposed() == kLate + 4);
}

TEST_CASE("a process ends though a peer never looks at what it has offered") {
  OfferedPair pair(SingleCopy::kCma, 2, 60'000);
  pair.ring[1].deaf = true;
  OfferedSend sent(pair.rig, 9);
  pair.rig.engines[0]->progress();
  const TimeNs begun = monotonic_now();
  pair.rig.ports.erase(pair.rig.ports.begin());
  pair.rig.engines[0]->linger();
  CHECK(sent.operation.completion.code == Errc::kCancelled);
  CHECK(monotonic_now() - begun < 30 * kSecond);
}

TEST_CASE("data that were asked for are not held up by offers") {
  OfferedPair pair;
  OfferedSend late(pair.rig, 1000);  // to be asked for
  pair.rig.until([&] { return pair.keeps_one(); });
  std::deque<OfferedSend> sent;
  std::deque<OfferedReceive> received;
  OfferedReceive first(pair.rig);
  for (std::uint64_t i = 0; i < 40; ++i) {
    sent.emplace_back(pair.rig, 20 + i);
    received.emplace_back(pair.rig);
  }
  pair.rig.until([&] { return first.operation.done_count == 1; });
  CHECK(first.bytes == late.bytes);
  CHECK(!all_done(received));
  pair.rig.until([&] { return all_done(sent) && all_done(received); });
}

TEST_CASE("a window of messages that come too early counts as one") {
  OfferedPair pair;
  std::deque<OfferedSend> sent;
  std::deque<OfferedReceive> received;
  for (std::uint64_t i = 0; i < 4; ++i) sent.emplace_back(pair.rig, 20 + i);
  pair.rig.until([&] { return pair.keeps_one(23); });
  for (std::size_t i = 0; i < 4; ++i) received.emplace_back(pair.rig);
  pair.rig.until([&] { return all_done(sent) && all_done(received); });
  const std::uint64_t before = pair.posted(1, FrameKind::kCts);
  CHECK(before == 4);
  for (std::uint64_t i = 0; i < 2; ++i) {
    OfferedReceive next(pair.rig);
    OfferedSend in_time(pair.rig, 30 + i);
    pair.rig.until([&] { return next.operation.done_count + in_time.operation.done_count == 2; });
  }
  CHECK(pair.posted(1, FrameKind::kCts) == before + 1);  // the first of them went alone
}

namespace {

/// Rank 1 reads out of a region of rank 0's, and begins each read anew when it has ended.
struct EndlessGets {
  static constexpr std::size_t kAtATime = 16;

  explicit EndlessGets(Rig& its_rig) : rig(its_rig) {
    const auto made = rig.ports[0]->register_region({.base = out.data(), .bytes = out.size()});
    REQUIRE(made);
    key = *made;
    for (std::size_t i = 0; i < kAtATime; ++i) begin(i);
  }
  ~EndlessGets() { rig.ports.clear(); }  // ends what is open
  void begin(std::size_t i) {
    const MutableSlice slice{in[i].data(), in[i].size()};
    operations[i].done_count = 0;
    REQUIRE(rig.ports[1]->get(
                {.to = rig.to(1, 0), .remote = {.key = key, .address = 0}, .slices = {&slice, 1}},
                operations[i]) == Accept::kAccepted);
  }
  void go_on() {
    for (std::size_t i = 0; i < kAtATime; ++i) {
      if (operations[i].done_count == 0) continue;
      ++ended;
      begin(i);
    }
  }

  Rig& rig;
  std::vector<std::byte> out = pattern(kOfferedBytes, 77);
  std::vector<std::vector<std::byte>> in{kAtATime, std::vector<std::byte>(kOfferedBytes)};
  std::uint64_t key = 0;
  std::size_t ended = 0;
  Watched operations[kAtATime];
};

}  // namespace

TEST_CASE("a peer that never stops reading out of our memory still gets messages") {
  OfferedPair pair;
  std::deque<OfferedSend> sent;
  std::deque<OfferedReceive> received;
  EndlessGets gets(pair.rig);
  pair.rig.until([&] {
    gets.go_on();
    return gets.ended > 100;
  });
  for (std::uint64_t i = 0; i < 10; ++i) {
    received.emplace_back(pair.rig);
    sent.emplace_back(pair.rig, 40 + i);
  }
  pair.rig.until([&] {
    gets.go_on();
    return all_done(sent) && all_done(received);
  });
  for (std::size_t i = 0; i < sent.size(); ++i) CHECK(received[i].bytes == sent[i].bytes);
}
