// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_network_test.cc -- the suite on transports/ofi, over each of libfabric's
// network providers that need no device.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/conformance/faulty_transport.h"
#include "tests/conformance/leaks.h"
#include "tests/conformance/ofi_names.h"
#include "tests/conformance/ofi_subject.h"

namespace livebtl::conformance {
namespace {

// net (libfabric 1.17) leaks, for each connection, what it copies of an fi_info.
void run_over_net(const std::string& provider, bool one_node) {
  LIVEBTL_LEAKS_OF_A_LIBRARY;
  run_conformance(ofi_subject(provider, one_node));
}

TEST_CASE("ofi conforms over tcp;ofi_rxm") { run_conformance(ofi_subject("tcp;ofi_rxm", false)); }
TEST_CASE("ofi conforms over sockets") { run_conformance(ofi_subject("sockets", false)); }
TEST_CASE("ofi conforms over net") { run_over_net(kNet, false); }
TEST_CASE("ofi conforms over net;ofi_rxm") {
  ::setenv("FI_OFI_RXM_USE_SRX", "1", 1);  // refused without it
  run_over_net(kNetBelowRxm, true);
  ::unsetenv("FI_OFI_RXM_USE_SRX");
}
TEST_CASE("ofi conforms over udp;ofi_rxd") { run_conformance(ofi_subject("udp;ofi_rxd")); }
TEST_CASE("ofi conforms over what it chooses itself") { run_conformance(ofi_subject("", false)); }

TEST_CASE("ofi conforms under retries and delays") {
  Subject subject = ofi_subject("tcp;ofi_rxm");
  subject.make =
      [beneath = subject.make](std::uint64_t process) -> Result<std::unique_ptr<core::Transport>> {
    auto transport = beneath(process);
    if (!transport) return tl::unexpected(transport.error());
    const Faults faults{.seed = 1000 + process,
                        .retry = 0.2,
                        .retries_max = 5,
                        .delay = 0.1,
                        .delay_turns_max = 8,
                        .sever = 0};
    return std::make_unique<FaultyTransport>(std::move(*transport), faults);
  };
  run_conformance(subject);
}

}  // namespace
}  // namespace livebtl::conformance
