// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/sm_exposed_news_test.cc -- when an sm transport reports that exposed
// memory has been read.
#include <doctest/doctest.h>

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

}  // namespace livebtl::sm
