// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/faulty_test.cc -- the suite under faults, and what a severed connection may
// lose.
#include <doctest/doctest.h>

#include <map>

#include "tests/conformance/faulty_transport.h"
#include "tests/conformance/job_directory.h"
#include "tests/conformance/rig.h"
#include "transports/self/self_transport.h"
#include "transports/sm/sm_transport.h"

namespace livebtl::conformance {
namespace {

using Made = std::map<std::uint64_t, FaultyTransport*>;  // the latest of each process

/// Wraps what `subject` makes; each transport gets its own seed.
Subject with_faults(Subject subject, const Faults& faults, Made* made = nullptr) {
  subject.make = [beneath = subject.make, faults,
                  made](std::uint64_t process) -> Result<std::unique_ptr<Transport>> {
    auto transport = beneath(process);
    if (!transport) return tl::unexpected<Error>(transport.error());
    Faults own = faults;
    own.seed = faults.seed * 1000 + process;
    auto faulty = std::make_unique<FaultyTransport>(std::move(*transport), own);
    if (made) (*made)[process] = faulty.get();
    return faulty;
  };
  return subject;
}

Subject self_subject() {
  Subject subject;
  subject.name = "self";
  subject.loopback = true;
  subject.make = [](std::uint64_t process) {
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    return self::self_kind().make(facts);
  };
  return subject;
}

Subject sm_subject(const JobDirectory& directory) {
  Subject subject;
  subject.name = "sm";
  subject.exposes_to_trusted = true;
  subject.make = [&directory](std::uint64_t process) {
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = 77;
    facts.job_directory = directory.path();
    return sm::SmTransport::make(facts, 64u << 10);
  };
  return subject;
}

constexpr Faults kSlow{
    .seed = 1, .retry = 0.2, .retries_max = 5, .delay = 0.1, .delay_turns_max = 8, .sever = 0};

constexpr std::uint64_t kFrames = 500;

/// Opens a link and sends frames from number `arrived` on, until it breaks or all have arrived.
void send_until_severed(Rig& rig, std::uint64_t& arrived) {
  Link link;
  auto dialled = rig.a().transport->connect(rig.b().transport->contact());
  REQUIRE(dialled.has_value());
  link.a->take(std::move(*dialled));
  link.b->on_each = [&](Bytes header, Bytes) {
    CHECK(Blob(header.begin(), header.end()) == pattern(arrived, 24));
    ++arrived;
  };
  REQUIRE(rig.until([&] { return !rig.b().accepted.empty(); }));
  link.b->take(std::move(rig.b().accepted.front()));
  rig.b().accepted.pop_front();
  std::uint64_t next = arrived;
  REQUIRE(rig.until([&] {
    if (next < kFrames && link.a->post_pattern(next, 24, 100) != Post::kRetry) ++next;
    return arrived == kFrames || !link.a->downs.empty();
  }));
  if (arrived < kFrames) REQUIRE(rig.until([&] { return !link.b->downs.empty(); }));
}

}  // namespace

TEST_CASE("self conforms under retries and delays") {
  run_conformance(with_faults(self_subject(), kSlow));
}

TEST_CASE("sm conforms under retries and delays") {
  const JobDirectory directory;
  run_conformance(with_faults(sm_subject(directory), kSlow));
}

TEST_CASE("faults happen from their seed, and the same again") {
  const auto counts_of = [](std::uint64_t seed) {
    Made made;
    Faults faults = kSlow;
    faults.seed = seed;
    const Subject subject = with_faults(self_subject(), faults, &made);
    Rig rig(subject);
    Link link = rig.link();
    for (std::uint64_t i = 0; i < 300; ++i) {
      REQUIRE(rig.post_soon(rig.a(), *link.a, {i, 8, 8}));
      rig.turn();
    }
    return made[1]->counts();
  };
  CHECK(counts_of(1).retries > 0);
  CHECK(counts_of(1).delays > 0);
  CHECK(counts_of(1).severed == 0);
  CHECK(counts_of(1) == counts_of(1));
  CHECK(!(counts_of(1) == counts_of(2)));
}

TEST_CASE("severed links lose the end alone: sent again from where the receiver is, all arrives") {
  std::uint64_t severed = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const JobDirectory directory;
    Made made;
    Faults faults = kSlow;
    faults.seed = seed;
    faults.sever = 0.03;
    const Subject subject = with_faults(sm_subject(directory), faults, &made);
    Rig rig(subject);
    std::uint64_t arrived = 0;
    for (int links = 0; arrived < kFrames; ++links) {
      REQUIRE(links < 10'000);
      send_until_severed(rig, arrived);
    }
    CHECK(arrived == kFrames);
    severed += made[1]->counts().severed;
  }
  CHECK(severed > 20);
}

}  // namespace livebtl::conformance
