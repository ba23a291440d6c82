// SPDX-License-Identifier: BSD-3-Clause
// Credits: never more promises than buffers, a floor for everybody, all for one who is alone.
#include "transports/messages/credits.h"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "base/random.h"

using namespace livebtl;
using namespace livebtl::messages;

TEST_CASE("one connection alone is promised all that is shared") {
  Credits credits;
  credits.add_buffers(kSharedBuffers + kCreditFloor);
  credits.enter();
  std::uint32_t open = 0;
  CHECK(credits.promise(open) == kSharedBuffers + kCreditFloor);
  CHECK(credits.promise(open) == 0);
  CHECK(!credits.has_room());
  credits.used(open);
  CHECK(credits.promise(open) == 1);
  credits.leave(open);
  CHECK(credits.has_room());
}

TEST_CASE("who comes later has its floor, however much the others were promised") {
  Credits credits;
  credits.add_buffers(kSharedBuffers + 2 * kCreditFloor);
  std::uint32_t first = 0, second = 0;
  credits.enter();
  credits.promise(first);
  credits.enter();
  CHECK(credits.promise(second) >= kCreditFloor);
  // The first one uses its promises, and is given its new share alone.
  for (int i = 0; i < 200; ++i) {
    credits.used(first);
    credits.promise(first);
    credits.used(second);
    credits.promise(second);
  }
  CHECK(first <= kCreditFloor + kSharedBuffers / 2 + 1);
  CHECK(second >= kCreditFloor + kSharedBuffers / 2 - kCreditFloor);
}

namespace {

/// Connections that come, use their promises and go.
struct Crowd {
  Credits credits;
  std::uint32_t buffers = 0;
  std::vector<std::uint32_t> open;

  void enter() {
    for (; !credits.has_room(); buffers += 32) credits.add_buffers(32);
    credits.enter();
    open.push_back(0);
    credits.promise(open.back());
  }
  void leave() {
    credits.leave(open.back());
    open.pop_back();
  }
  void use(Random& random) {
    std::uint32_t& one = open[random.below(open.size())];
    credits.used(one);
    if (one == 0 || random.chance(0.7)) credits.promise(one);
  }
  std::uint32_t promised() const { return std::accumulate(open.begin(), open.end(), 0u); }
};

}  // namespace

TEST_CASE("promises are never more than buffers, and what was shared comes back") {
  Random random(3);
  Crowd crowd;
  for (int step = 0; step < 50000; ++step) {
    const std::uint64_t choice = random.below(20);
    if (choice == 0 && crowd.open.size() < 40) crowd.enter();
    if (choice == 1 && !crowd.open.empty()) crowd.leave();
    if (choice > 1 && !crowd.open.empty()) crowd.use(random);
    REQUIRE(crowd.promised() <= crowd.buffers);
  }
  while (!crowd.open.empty()) crowd.leave();
  crowd.enter();
  CHECK(crowd.promised() == kSharedBuffers + kCreditFloor);
}
