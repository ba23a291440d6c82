// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/match_test.cc -- MPI's matching rules, example by example.
#include "core/lane/match.h"

#include <doctest/doctest.h>

#include "match_kit.h"

using namespace livebtl;
using namespace livebtl::core;
using namespace livebtl::core::test;

TEST_CASE("receives match in the order posted, messages of one source in the order arrived") {
  Matcher matcher;
  Operation first, second;
  fill(first, {.tag = 5});
  fill(second, {.tag = 5});
  CHECK_FALSE(matcher.post(first));
  CHECK_FALSE(matcher.post(second));
  const Envelope made = envelope(MessageKind::kTagged, 5, {&g_peers[0], 1});
  CHECK(matcher.arrived(made) == &first);
  CHECK(matcher.arrived(made) == &second);
  CHECK(matcher.arrived(made) == nullptr);
}

TEST_CASE("tagged and plain messages never mix") {
  Matcher matcher;
  Operation plain;
  fill(plain, {.kind = MessageKind::kPlain, .ignore = ~Tag{0}});
  CHECK_FALSE(matcher.post(plain));
  CHECK(matcher.arrived(envelope(MessageKind::kTagged, 0, {&g_peers[0], 1})) == nullptr);
  CHECK(matcher.arrived(envelope(MessageKind::kPlain, 0, {&g_peers[0], 1})) == &plain);
}

TEST_CASE("a directed receive takes only its source, port included") {
  Matcher matcher;
  Operation directed;
  fill(directed, {.from = {&g_peers[1], 2}});
  CHECK_FALSE(matcher.post(directed));
  CHECK(matcher.arrived(envelope(MessageKind::kTagged, 0, {&g_peers[0], 2})) == nullptr);
  CHECK(matcher.arrived(envelope(MessageKind::kTagged, 0, {&g_peers[1], 1})) == nullptr);
  CHECK(matcher.arrived(envelope(MessageKind::kTagged, 0, {&g_peers[1], 2})) == &directed);
}

TEST_CASE("a multi-receive stays until less than its least is left") {
  Matcher matcher;
  Operation multi;
  ReceiveState& state = fill(multi, {.kind = MessageKind::kPlain, .ignore = ~Tag{0}});
  state.capacity = 100;
  state.multi_bytes_min = 30;
  CHECK_FALSE(matcher.post(multi));
  const auto arrive = [&](std::uint64_t length) {
    Operation* const at =
        matcher.arrived(envelope(MessageKind::kPlain, 0, {&g_peers[0], 1}, length));
    if (at != nullptr) state.capacity -= std::min<std::size_t>(state.capacity, length);
    return at;
  };
  CHECK(arrive(50) == &multi);
  CHECK(state.posted);
  CHECK(arrive(20) == &multi);  // exactly the minimum is left
  CHECK(state.posted);
  CHECK(arrive(1) == &multi);
  CHECK_FALSE(state.posted);
  CHECK(arrive(1) == nullptr);
  CHECK(matcher.posted_count() == 0);
}

TEST_CASE("a message larger than what is left of a multi-receive still goes to it, as its last") {
  Matcher matcher;
  Operation multi;
  ReceiveState& state = fill(multi, {.kind = MessageKind::kPlain, .ignore = ~Tag{0}});
  state.capacity = 100;
  state.multi_bytes_min = 30;
  CHECK_FALSE(matcher.post(multi));
  CHECK(matcher.arrived(envelope(MessageKind::kPlain, 0, {&g_peers[0], 1}, 101)) == &multi);
  CHECK_FALSE(state.posted);
}

TEST_CASE("a multi-receive takes unexpected messages one by one, posted again after each") {
  Matcher matcher;
  for (std::uint64_t i = 0; i < 3; ++i) {
    matcher.add_unexpected(unexpected(envelope(MessageKind::kPlain, 0, {&g_peers[0], 1}, 10 + i)));
  }
  CHECK(matcher.unexpected_count() == 3);
  Operation multi;
  ReceiveState& state = fill(multi, {.kind = MessageKind::kPlain, .ignore = ~Tag{0}});
  state.capacity = 100;
  state.multi_bytes_min = 30;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto taken = matcher.post(multi);
    REQUIRE(taken);
    CHECK(taken->envelope.length == 10 + i);
    CHECK_FALSE(state.posted);
  }
  CHECK_FALSE(matcher.post(multi));
  CHECK(state.posted);
  CHECK(matcher.withdraw(multi));
  CHECK_FALSE(matcher.withdraw(multi));
}
