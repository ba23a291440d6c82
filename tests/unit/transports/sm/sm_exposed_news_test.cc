// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/sm_exposed_news_test.cc -- when an sm transport reports that exposed
// memory has been read, how much of it a turn reads, and when its bell is rung.
#include <doctest/doctest.h>
#include <poll.h>

#include "tests/conformance/zero_copy.h"
#include "tests/unit/transports/sm/sm_kit.h"

namespace livebtl::sm {
namespace {

using conformance::Exposures;

/// Two transports of this process, connected and trusted.
struct Neighbours {
  Neighbours() {
    auto dialled = there->transport->connect(contact_of(1));
    REQUIRE(dialled.has_value());
    exporter.take(std::move(*dialled));
    REQUIRE(turn_until(*here, [&] { return !here->accepted.empty(); }));
    reader.take(std::move(here->accepted.front()));
    here->accepted.clear();
    REQUIRE(turn_until(*there, [&] { return reached(); }));
    reader.endpoint().trust();
    exporter.endpoint().trust();
  }
  /// Whether the dialler's end takes frames.
  bool reached() { return exporter.post_pattern(0, 16, 8) != core::Post::kRetry; }
  /// Moves only the reader.
  void read_all(std::size_t frames) {
    REQUIRE(turn_until(*here, [&] { return reader.frames >= frames; }));
  }

  const JobDirectory directory;
  std::unique_ptr<Side> here = make_side(directory, 1);
  std::unique_ptr<Side> there = make_side(directory, 2);
  End reader, exporter;
};

constexpr std::size_t kPayloadBytes = 100'000;

}  // namespace

TEST_CASE("of what arm() has seen the next turn tells, whichever turn that is") {
  Neighbours neighbours;
  Exposures exposures(neighbours.exporter);
  for (std::size_t round = 0; round < 40; ++round) {
    REQUIRE(exposures.expose(round, kPayloadBytes));
    neighbours.read_all(round + 2);  // and the small first one
    for (std::size_t turns = 0; turns < round % 3; ++turns) neighbours.there->turn();
    if (neighbours.exporter.sent.size() == round + 1) continue;  // already reported by those turns
    CHECK(!neighbours.there->transport->arm());
    neighbours.there->turn();
    CHECK(neighbours.exporter.sent.size() == round + 1);
  }
  CHECK(neighbours.exporter.downs.empty());
}

TEST_CASE("a sender that can expose no more is told in its next turn that it can") {
  Neighbours neighbours;
  Exposures exposures(neighbours.exporter);
  for (std::size_t round = 1; round <= 20; ++round) {
    exposures.expose_at_once(round * kExposuresMax, kPayloadBytes);
    CHECK(!exposures.expose(exposures.posted.size(), kPayloadBytes));
    neighbours.read_all(round * kExposuresMax + 1);
    neighbours.there->turn();
    CHECK(neighbours.exporter.sent.size() == round * kExposuresMax);
  }
}

TEST_CASE("what is exposed is told of in a while, if nobody arms and nothing comes") {
  Neighbours neighbours;
  Exposures exposures(neighbours.exporter);
  REQUIRE(exposures.expose(0, kPayloadBytes));
  neighbours.read_all(2);
  CHECK(turn_until(*neighbours.there, [&] { return neighbours.exporter.sent.size() == 1; }));
}

TEST_CASE("a turn reads several small buffers, and no more than 256 KiB and one") {
  Neighbours neighbours;
  Exposures exposures(neighbours.exporter);
  exposures.expose_at_once(kExposuresMax, 20'000);
  neighbours.read_all(1);  // the small first one, in the order of the ring
  CHECK(neighbours.reader.frames == 1 + kExposuresMax);
  REQUIRE(turn_until(*neighbours.there, [&] { return neighbours.exporter.sent.size() == 4; }));
  exposures.expose_at_once(2 * kExposuresMax, 200'000);
  neighbours.here->turn();
  CHECK(neighbours.reader.frames == 1 + kExposuresMax + 2);
}

namespace {

bool rings(const Side& side) {
  pollfd bell{side.transport->wait_fd(), POLLIN, 0};
  return ::poll(&bell, 1, 0) == 1;
}

}  // namespace

TEST_CASE(
    "a reader that wakes for something else has its bell rung once, then none until it sleeps") {
  Neighbours neighbours;
  neighbours.read_all(1);
  for (std::size_t round = 1; round < 20; ++round) {
    REQUIRE(turn_until(*neighbours.here, [&] { return neighbours.here->transport->arm(); }));
    for (int turns = 0; turns < 3; ++turns) neighbours.here->turn();
    CHECK(!rings(*neighbours.here));
    REQUIRE(neighbours.reached());
    CHECK(rings(*neighbours.here));
    neighbours.read_all(2 * round);
    REQUIRE(turn_until(*neighbours.here, [&] { return !rings(*neighbours.here); }));
    REQUIRE(neighbours.reached());
    CHECK(!rings(*neighbours.here));
    neighbours.read_all(2 * round + 1);
  }
}

}  // namespace livebtl::sm
