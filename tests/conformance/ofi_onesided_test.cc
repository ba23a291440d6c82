// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_onesided_test.cc -- put, get and atomics of those libfabric providers
// (1.17) that need no device.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/conformance/leaks.h"
#include "tests/conformance/ofi_names.h"
#include "tests/conformance/ofi_onesided.h"

namespace livebtl::conformance {

TEST_CASE("one-sided over tcp;ofi_rxm") { run_onesided({"tcp;ofi_rxm"}); }
TEST_CASE("one-sided over sockets") { run_onesided({"sockets"}); }
// net leaks, for each connection, what it copies of an fi_info.
// In libfabric 2 net has become a part of tcp, which has no atomics by itself.
TEST_CASE("one-sided over net") {
  if (!kHasNet) return;
  LIVEBTL_LEAKS_OF_A_LIBRARY;
  run_onesided({kNet, false});
}
TEST_CASE("one-sided over net;ofi_rxm") {
  LIVEBTL_LEAKS_OF_A_LIBRARY;
  ::setenv("FI_OFI_RXM_USE_SRX", "1", 1);  // refused without it
  run_onesided({kNetBelowRxm});
  ::unsetenv("FI_OFI_RXM_USE_SRX");
}
// It crashes if several fetching atomics are outstanding.
TEST_CASE("one-sided over udp;ofi_rxd") { run_onesided({"udp;ofi_rxd", true, 1}); }
// It forgets what it refuses, and cannot be reopened beside a peer in this process (ofi_test.cc).
TEST_CASE("one-sided over shm") { run_onesided({"shm", true, 64, false}); }

// Of those that ask for no modes these comply; tcp;ofi_rxm keeps to offsets.
TEST_CASE("every memory mode over sockets") {
  demanded_memory_modes({"sockets"});
  other_memory_modes({"sockets"});
}
TEST_CASE("every memory mode over udp;ofi_rxd") {
  demanded_memory_modes({"udp;ofi_rxd", true, 1});
  other_memory_modes({"udp;ofi_rxd"});
}

}  // namespace livebtl::conformance
