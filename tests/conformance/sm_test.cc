// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/sm_test.cc -- the suite on transports/sm, with rings of two sizes.
#include <doctest/doctest.h>

#include "tests/conformance/conformance.h"
#include "tests/conformance/job_directory.h"
#include "transports/sm/sm_transport.h"

namespace livebtl::conformance {
namespace {

void run_on_sm(std::size_t ring_bytes) {
  const JobDirectory directory;
  Subject subject;
  subject.name = "sm";
  subject.exposes_to_trusted = true;
  subject.make = [&](std::uint64_t process) {
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = 77;
    facts.job_directory = directory.path();
    return sm::SmTransport::make(facts, ring_bytes);
  };
  run_conformance(subject);
}

}  // namespace

TEST_CASE("sm conforms") { run_on_sm(256u << 10); }
TEST_CASE("sm conforms with its smallest ring") { run_on_sm(sm::kRingBytesMin); }

}  // namespace livebtl::conformance
