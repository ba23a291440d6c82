// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_test.cc -- the suite on transports/ofi, within a node.
#include <doctest/doctest.h>

#include "tests/conformance/ofi_subject.h"

namespace livebtl::conformance {

// shm (libfabric 1.17) accesses the memory of a peer in its own process directly, even once
// unmapped; for that of another process it has a mapping.
TEST_CASE("ofi conforms over shm") {
  Subject subject = ofi_subject("shm");
  subject.lost_beside = false;
  run_conformance(subject);
}

}  // namespace livebtl::conformance
