// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/exposed_offer_test.cc -- an offer exposes all that it offers: what is read at once,
// what stays unread until somebody asks, and what becomes of it in a switch.
#include "tests/unit/core/engine/exposed_offer.h"
#include "tests/unit/core/engine/ladder.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

TEST_CASE(
    "a message that somebody waits for is read with its offer, and its send ends after that") {
  OfferedPair pair;
  OfferedReceive received(pair.rig);
  OfferedSend sent(pair.rig, 2);
  for (int i = 0; i < 20; ++i) pair.rig.engines[0]->progress();
  CHECK(sent.operation.done_count == 0);
  pair.rig.until([&] { return sent.operation.done_count + received.operation.done_count == 2; });
  CHECK(received.bytes == sent.bytes);
  CHECK(received.operation.completion.code == Errc::kOk);
  CHECK(received.operation.completion.bytes == kOfferedBytes);
  CHECK(received.operation.completion.tag == 2);
  CHECK(sent.operation.completion.code == Errc::kOk);
  CHECK(sent.operation.completion.bytes == kOfferedBytes);
  CHECK(pair.went_with_offers(1));
}

TEST_CASE("a message that nobody waits for stays with its sender, and is asked for later") {
  OfferedPair pair;
  OfferedSend sent(pair.rig, 3);
  pair.rig.until([&] { return pair.posted(0, FrameKind::kRts) == 1; });
  pair.rig.until([&] { return pair.keeps_one(); });
  CHECK(sent.operation.done_count == 0);
  OfferedReceive received(pair.rig);
  pair.rig.until([&] { return sent.operation.done_count + received.operation.done_count == 2; });
  CHECK(received.bytes == sent.bytes);
  CHECK(pair.posted(1, FrameKind::kCts) == 1);
}

TEST_CASE("a receive that is too short, scattered or for several messages asks for its bytes") {
  OfferedPair pair;
  OfferedReceive shorter(pair.rig, kOfferedBytes - 1000);
  std::vector<std::byte> in(kOfferedBytes), several(3 * kOfferedBytes);
  const MutableSlice two[] = {{in.data(), 777}, {in.data() + 777, kOfferedBytes - 777}};
  const MutableSlice large{several.data(), several.size()};
  Watched scattered, multi;
  REQUIRE(pair.rig.ports[1]->receive({.ignore = ~Tag{0}, .slices = two}, scattered) ==
          Accept::kAccepted);
  REQUIRE(pair.rig.ports[1]->receive(
              {.ignore = ~Tag{0}, .slices = {&large, 1}, .multi_bytes_min = kOfferedBytes},
              multi) == Accept::kAccepted);
  std::deque<OfferedSend> sent;
  for (const std::uint64_t seed : {4U, 5U, 6U}) sent.emplace_back(pair.rig, seed);
  pair.rig.until([&] { return all_done(sent) && multi.done_count == 1; });
  CHECK(shorter.operation.completion.code == Errc::kTruncated);
  CHECK(std::equal(shorter.bytes.begin(), shorter.bytes.end(), sent[0].bytes.begin()));
  CHECK(scattered.done_count == 1);
  CHECK(in == sent[1].bytes);
  CHECK(std::equal(sent[2].bytes.begin(), sent[2].bytes.end(), several.begin()));
  CHECK(pair.posted(1, FrameKind::kCts) == 3);
  pair.rig.ports[1].reset();
}

TEST_CASE("more are offered than can be exposed at a time, and none passes another") {
  OfferedPair pair;
  std::deque<OfferedSend> sent;
  std::deque<OfferedReceive> received;
  for (std::uint64_t i = 0; i < 30; ++i) received.emplace_back(pair.rig);
  for (std::uint64_t i = 0; i < 30; ++i)
    sent.emplace_back(pair.rig, 10 + i, i % 3 == 2 ? 100 : kOfferedBytes);
  pair.rig.until([&] { return all_done(sent) && all_done(received); });
  for (std::size_t i = 0; i < sent.size(); ++i) {
    CHECK(received[i].operation.completion.tag == 10 + i);
    received[i].bytes.resize(sent[i].bytes.size());
    CHECK(received[i].bytes == sent[i].bytes);
  }
  CHECK(pair.posted(1, FrameKind::kFin) == 20);
  CHECK(pair.exposed() == 20);
}

TEST_CASE("what is exposed when the pair moves to tcp arrives once, and in order") {
  OfferedPair pair;
  Ladder ladder{pair.rig, [] {}};
  std::deque<OfferedSend> sent;
  std::deque<OfferedReceive> received;
  for (std::uint64_t i = 0; i < 12; ++i) received.emplace_back(pair.rig);
  for (std::uint64_t i = 0; i < 6; ++i) sent.emplace_back(pair.rig, 50 + i);
  pair.rig.engines[0]->progress();
  ladder.go(prefer("tcp"));
  for (std::uint64_t i = 6; i < 12; ++i) sent.emplace_back(pair.rig, 50 + i);
  ladder.go(prefer("ring"));
  pair.rig.until([&] { return all_done(sent) && all_done(received); });
  for (std::size_t i = 0; i < sent.size(); ++i) {
    CHECK(received[i].operation.completion.tag == 50 + i);
    CHECK(received[i].bytes == sent[i].bytes);
  }
  CHECK(pair.exposed() >= 4);
}

TEST_CASE("a sender whose port closes has its memory back, and what it exposed arrives") {
  OfferedPair pair;
  OfferedReceive received(pair.rig);
  OfferedSend sent(pair.rig, 7);
  pair.rig.engines[0]->progress();
  REQUIRE(sent.operation.done_count == 0);
  pair.rig.ports[0].reset();
  CHECK(sent.operation.done_count == 1);
  std::ranges::fill(sent.bytes, std::byte{0});
  pair.rig.until([&] { return received.operation.done_count == 1; });
  CHECK(received.bytes == pattern(kOfferedBytes, 7));
}

TEST_CASE("where nothing can be exposed an offer is only an offer") {
  OfferedPair pair(SingleCopy::kNone);
  OfferedReceive received(pair.rig);
  OfferedSend sent(pair.rig, 8);
  pair.rig.until([&] { return sent.operation.done_count + received.operation.done_count == 2; });
  CHECK(received.bytes == sent.bytes);
  CHECK(pair.posted(0, FrameKind::kData) != 0);
}
