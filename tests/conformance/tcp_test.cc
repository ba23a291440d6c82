// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/tcp_test.cc -- the suite on transports/tcp: both families, with and without
// payload checksums, with narrow socket buffers, and on one chosen address of several.
#include <doctest/doctest.h>

#include "tests/conformance/conformance.h"
#include "tests/conformance/faulty_transport.h"
#include "transports/tcp/tcp_transport.h"

namespace livebtl::conformance {
namespace {

struct Variant {
  std::vector<std::string> interfaces;
  CrcMode crc = CrcMode::kNetwork;
  bool one_node = true;
  tcp::SocketOptions options{};
};

Subject tcp_subject(const Variant& variant) {
  Subject subject;
  subject.name = "tcp";
  subject.make = [variant](std::uint64_t process) -> Result<std::unique_ptr<core::Transport>> {
    Settings settings;
    settings.tcp_if = variant.interfaces;
    settings.crc = variant.crc;
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = variant.one_node ? 1 : process;
    facts.settings = &settings;
    auto made = tcp::TcpTransport::make(facts, variant.options);
    if (!made) return tl::unexpected(made.error());
    return std::unique_ptr<core::Transport>(std::move(*made));
  };
  return subject;
}

Subject with_faults(Subject subject, const Faults& faults) {
  subject.make = [beneath = subject.make,
                  faults](std::uint64_t process) -> Result<std::unique_ptr<core::Transport>> {
    auto transport = beneath(process);
    if (!transport) return tl::unexpected(transport.error());
    Faults own = faults;
    own.seed = faults.seed * 1000 + process;
    return std::make_unique<FaultyTransport>(std::move(*transport), own);
  };
  return subject;
}

const std::vector<std::string> kV4{"127.0.0.1"};
const std::vector<std::string> kV6{"::1"};

TEST_CASE("tcp conforms over IPv4") { run_conformance(tcp_subject({kV4})); }

TEST_CASE("tcp conforms over IPv6") { run_conformance(tcp_subject({kV6})); }

TEST_CASE("tcp conforms on all interfaces") { run_conformance(tcp_subject({})); }

TEST_CASE("tcp conforms with a checksum on every payload") {
  run_conformance(tcp_subject({kV4, CrcMode::kAlways}));
}

TEST_CASE("tcp conforms between two nodes") {
  run_conformance(tcp_subject({kV4, CrcMode::kNetwork, false}));
}

TEST_CASE("tcp conforms with narrow socket buffers, where most writes are partial") {
  Variant narrow{kV4};
  narrow.options.send_buffer_bytes = 8192;
  narrow.options.receive_buffer_bytes = 8192;
  run_conformance(tcp_subject(narrow));
}

TEST_CASE("tcp conforms under retries and delays") {
  run_conformance(with_faults(
      tcp_subject({kV4}),
      {.seed = 1, .retry = 0.2, .retries_max = 5, .delay = 0.1, .delay_turns_max = 8, .sever = 0}));
}

}  // namespace
}  // namespace livebtl::conformance
