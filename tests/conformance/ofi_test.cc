// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_test.cc -- the suite on transports/ofi, over each of libfabric's providers
// that needs no device.
#include <doctest/doctest.h>

#include "tests/conformance/conformance.h"
#include "tests/conformance/faulty_transport.h"
#include "transports/ofi/ofi_transport.h"

namespace livebtl::conformance {
namespace {

Subject ofi_subject(const std::string& provider, bool one_node = true) {
  Subject subject;
  subject.name = "ofi";
  subject.make = [provider,
                  one_node](std::uint64_t process) -> Result<std::unique_ptr<core::Transport>> {
    Settings settings;
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = one_node ? 1 : process;
    facts.settings = &settings;
    auto made = ofi::OfiTransport::make(facts, provider);
    if (!made) return tl::unexpected(made.error());
    return std::unique_ptr<core::Transport>(std::move(*made));
  };
  return subject;
}

TEST_CASE("ofi conforms over tcp;ofi_rxm") { run_conformance(ofi_subject("tcp;ofi_rxm", false)); }
TEST_CASE("ofi conforms over sockets") { run_conformance(ofi_subject("sockets", false)); }
TEST_CASE("ofi conforms over net") { run_conformance(ofi_subject("net", false)); }
TEST_CASE("ofi conforms over net;ofi_rxm") { run_conformance(ofi_subject("net;ofi_rxm")); }
TEST_CASE("ofi conforms over udp;ofi_rxd") { run_conformance(ofi_subject("udp;ofi_rxd")); }
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

// shm (libfabric 1.17) uses the memory of a peer in its own process as its own, also after it is
// unmapped; of another process it has a mapping.
TEST_CASE("ofi conforms over shm") {
  Subject subject = ofi_subject("shm");
  subject.lost_beside = false;
  run_conformance(subject);
}
TEST_CASE("ofi conforms over what it chooses itself") { run_conformance(ofi_subject("", false)); }

}  // namespace
}  // namespace livebtl::conformance
