// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/sm_knem_test.cc -- KNEM in whole sm transports: chosen and changed while
// in use, with no region left behind.
#include "base/log.h"
#include "tests/conformance/fake_knem.h"
#include "tests/unit/transports/sm/sm_kit.h"

namespace livebtl::sm {
namespace {

using conformance::FakeKnem;

/// Two transports that are connected and trust each other.
struct Connected {
  Connected(FakeKnem& fake, SingleCopy way) {
    for (const std::uint64_t process : {1U, 2U}) {
      core::NodeFacts facts;
      facts.process = ProcessId{process};
      facts.node = 5;
      facts.job_directory = directory.path();
      auto made = SmTransport::make(facts, kRingBytes, way, fake.device());
      REQUIRE(made.has_value());
      sides.push_back(std::make_unique<Side>(std::move(*made)));
    }
    auto dialled = sides[1]->transport->connect(sides[0]->transport->contact());
    REQUIRE(dialled.has_value());
    from.take(std::move(*dialled));
    REQUIRE(turn_until(*sides[0], [&] { return !sides[0]->accepted.empty(); }));
    to.take(std::move(sides[0]->accepted.front()));
    sides[0]->accepted.clear();
    from.endpoint().trust();
    to.endpoint().trust();
  }
  core::Post post(Bytes payload) {
    return from.endpoint().post({header, payload, ++posted, true, true});
  }
  /// Posts it, and waits until its owner has it back.
  void send(const Blob& payload) {
    const std::size_t before = from.sent.size();
    REQUIRE(post(payload) == core::Post::kPosted);
    REQUIRE(turn_until(*sides[0], [&] {
      sides[1]->turn();
      return from.sent.size() > before;
    }));
    CHECK(to.received.back().payload == payload);
  }

  const JobDirectory directory;
  std::vector<std::unique_ptr<Side>> sides;
  const Blob header = conformance::pattern(1, 24);
  std::uint64_t posted = 0;
  End from, to;
};

}  // namespace

TEST_CASE("a process that was started with knem sends by it; what is set meanwhile holds at once") {
  FakeKnem fake;
  {
    Connected pair(fake, SingleCopy::kKnem);
    const Blob payload = conformance::pattern(2, kExposureBytesMax);
    const auto copies_of_one = [&] {
      const std::size_t before = fake.copies;
      pair.send(payload);
      return fake.copies - before;
    };
    CHECK(copies_of_one() == 1);
    pair.from.endpoint().copy_by(SingleCopy::kCma);
    CHECK(copies_of_one() == 0);
    pair.from.endpoint().copy_by(SingleCopy::kAuto);
    CHECK(copies_of_one() == 0);
    pair.from.endpoint().copy_by(std::nullopt);
    CHECK(copies_of_one() == 1);
    CHECK(pair.from.endpoint().stats().frames_exposed == 4);
    CHECK(fake.regions() == 2);  // each side's probe
  }
  CHECK(fake.regions() == 0);
  CHECK(fake.mistakes == 0);
}

TEST_CASE("a payload that the kernel gives no region for is to come in pieces") {
  FakeKnem fake;
  Connected pair(fake, SingleCopy::kKnem);
  const Blob payload = conformance::pattern(2, kExposureBytesMax);
  fake.creates_left = 0;
  CHECK(pair.post(payload) == core::Post::kSmaller);
  CHECK(pair.from.endpoint().in_flight() == 0);
  fake.creates_left = -1;
  pair.send(payload);
}

TEST_CASE("a region whose reader fails: the payload arrives, and the next comes in pieces") {
  set_log_level(LogLevel::kError);
  FakeKnem fake;
  Connected pair(fake, SingleCopy::kKnem);
  const Blob payload = conformance::pattern(2, kExposureBytesMax);
  fake.copies_refused = EPERM;
  pair.send(payload);
  CHECK(pair.post(payload) == core::Post::kSmaller);
  CHECK(pair.from.downs.empty());
}

}  // namespace livebtl::sm
