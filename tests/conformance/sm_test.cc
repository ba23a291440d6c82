// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/sm_test.cc -- the suite on transports/sm, with rings of two sizes, and with
// KNEM.
#include <doctest/doctest.h>

#include "tests/conformance/conformance.h"
#include "tests/conformance/fake_knem.h"
#include "tests/conformance/job_directory.h"
#include "transports/sm/sm_transport.h"

namespace livebtl::conformance {
namespace {

void run_on_sm(std::size_t ring_bytes, FakeKnem* knem = nullptr) {
  const JobDirectory directory;
  Subject subject;
  subject.name = "sm";
  subject.exposes_to_trusted = true;
  subject.make = [&](std::uint64_t process) {
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = 77;
    facts.job_directory = directory.path();
    if (knem == nullptr) return sm::SmTransport::make(facts, ring_bytes);
    return sm::SmTransport::make(facts, ring_bytes, SingleCopy::kKnem, knem->device());
  };
  run_conformance(subject);
}

}  // namespace

TEST_CASE("sm conforms") { run_on_sm(256u << 10); }
TEST_CASE("sm conforms with its smallest ring") { run_on_sm(sm::kRingBytesMin); }

TEST_CASE("sm conforms by knem, and leaves no region") {
  FakeKnem knem;
  run_on_sm(256u << 10, &knem);
  CHECK(knem.regions() == 0);
  CHECK(knem.mistakes == 0);
}

}  // namespace livebtl::conformance
