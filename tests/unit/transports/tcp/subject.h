// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/subject.h -- tcp transports on 127.0.0.1 for the conformance kit's Rig.
#pragma once

#include <doctest/doctest.h>

#include "tests/conformance/rig.h"
#include "transports/tcp/tcp_transport.h"

namespace livebtl::tcp::kit {

inline Result<std::unique_ptr<core::Transport>> make_transport(const Settings& settings,
                                                               std::uint64_t process,
                                                               std::uint64_t node) {
  core::NodeFacts facts;
  facts.process = ProcessId{process};
  facts.node = node;
  facts.settings = &settings;
  auto made = TcpTransport::make(facts);
  if (!made) return tl::unexpected(made.error());
  return std::unique_ptr<core::Transport>(std::move(*made));
}

/// Every process is its own node: with CrcMode::kNetwork payloads carry checksums.
inline conformance::Subject two_nodes(CrcMode crc = CrcMode::kNetwork) {
  conformance::Subject subject;
  subject.name = "tcp";
  subject.make = [crc](std::uint64_t process) {
    Settings settings;
    settings.tcp_if = {"127.0.0.1"};
    settings.crc = crc;
    return make_transport(settings, process, process);
  };
  return subject;
}

inline std::uint16_t listening_port(const core::Transport& transport) {
  return decode_address(transport.address())->sockets.front().port;
}

inline SocketAddress where(const conformance::Side& side) {
  const auto reachable = decode_address(side.transport->contact());
  REQUIRE(reachable.has_value());
  return reachable->sockets[0];
}

/// Moves both sides of `rig`, and `more`, until `condition` holds. false: the deadline passed.
template <class More, class Condition>
bool until(conformance::Rig& rig, More more, Condition condition) {
  return rig.until([&] {
    more();
    return condition();
  });
}

/// Takes the first endpoint that `side` accepted, if any.
inline void take_accepted(conformance::Side& side, conformance::End& end) {
  if (end.open() || side.accepted.empty()) return;
  end.take(std::move(side.accepted.front()));
  side.accepted.pop_front();
}

}  // namespace livebtl::tcp::kit
