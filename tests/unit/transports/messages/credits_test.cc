// SPDX-License-Identifier: BSD-3-Clause
// Credits: never more than there are buffers, a floor for each connection, all for one that is
// alone.
#include "transports/messages/credits.h"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "base/random.h"

using namespace livebtl;
using namespace livebtl::messages;

TEST_CASE("one connection alone is granted all that is shared") {
  Credits credits;
  credits.add_buffers(kSharedBuffers + kCreditFloor);
  credits.enter();
  std::uint32_t open = 0;
  CHECK(credits.grant(open) == kSharedBuffers + kCreditFloor);
  CHECK(credits.grant(open) == 0);
  CHECK(!credits.has_room());
  credits.used(open);
  CHECK(credits.grant(open) == 1);
  credits.leave(open);
  CHECK(credits.has_room());
}

TEST_CASE("a later connection has its floor, however much the others were granted") {
  Credits credits;
  credits.add_buffers(kSharedBuffers + 2 * kCreditFloor);
  std::uint32_t first = 0, second = 0;
  credits.enter();
  credits.grant(first);
  credits.enter();
  CHECK(credits.grant(second) >= kCreditFloor);
  // The first one uses up its credit, and is granted no more than its new share.
  for (int i = 0; i < 200; ++i) {
    credits.used(first);
    credits.grant(first);
    credits.used(second);
    credits.grant(second);
  }
  CHECK(first <= kCreditFloor + kSharedBuffers / 2 + 1);
  CHECK(second >= kCreditFloor + kSharedBuffers / 2 - kCreditFloor);
}

namespace {

/// Connections that come, use their credit and go.
struct Crowd {
  Credits credits;
  std::uint32_t buffers = 0;
  std::vector<std::uint32_t> open;

  void enter() {
    for (; !credits.has_room(); buffers += 32) credits.add_buffers(32);
    credits.enter();
    open.push_back(0);
    credits.grant(open.back());
  }
  void leave() {
    credits.leave(open.back());
    open.pop_back();
  }
  void use(Random& random) {
    std::uint32_t& one = open[random.below(open.size())];
    credits.used(one);
    if (one == 0 || random.chance(0.7)) credits.grant(one);
  }
  std::uint32_t granted() const { return std::accumulate(open.begin(), open.end(), 0u); }
};

}  // namespace

TEST_CASE("grants are never more than buffers, and what was shared comes back") {
  Random random(3);
  Crowd crowd;
  for (int step = 0; step < 50000; ++step) {
    const std::uint64_t choice = random.below(20);
    if (choice == 0 && crowd.open.size() < 40) crowd.enter();
    if (choice == 1 && !crowd.open.empty()) crowd.leave();
    if (choice > 1 && !crowd.open.empty()) crowd.use(random);
    REQUIRE(crowd.granted() <= crowd.buffers);
  }
  while (!crowd.open.empty()) crowd.leave();
  crowd.enter();
  CHECK(crowd.granted() == kSharedBuffers + kCreditFloor);
}
