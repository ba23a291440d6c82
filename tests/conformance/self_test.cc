// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/self_test.cc -- the suite on transports/self.
#include <doctest/doctest.h>

#include "tests/conformance/conformance.h"
#include "transports/self/self_transport.h"

namespace livebtl::conformance {

TEST_CASE("self conforms") {
  Subject subject;
  subject.name = "self";
  subject.loopback = true;
  subject.make = [](std::uint64_t process) {
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    return self::self_kind().make(facts);
  };
  run_conformance(subject);
}

}  // namespace livebtl::conformance
