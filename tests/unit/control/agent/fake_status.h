// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/fake_status.h -- transports and peers as an engine of fakes reports them: messages
// go over sm, the bytes of large ones over tcp.
#pragma once

#include "core/engine/admin.h"

namespace livebtl::test {

inline void add_fakes(core::EngineStatus& status, const std::vector<std::string>& transports,
                      std::size_t peers, std::size_t bytes_sent = 0) {
  const auto count = static_cast<std::uint32_t>(peers);
  for (const auto& name : transports) {
    core::TransportStatus transport;
    transport.name = name;
    transport.carried.bytes_sent = bytes_sent;
    transport.alias = name == "sm" ? "vader" : "";
    transport.peers = name == "sm" ? count : 0;  // itself and others
    transport.own_pair = transport.peers > 0;
    transport.bulk_peers = name == "tcp" ? count : 0;
    transport.open = !status.routing.excluded.contains(name);
    transport.excluded = status.routing.excluded.contains(name);
    status.transports.push_back(transport);
  }
  for (std::size_t i = 0; i < peers; ++i) {
    core::PeerStatus peer;
    peer.process = ProcessId{i + 1};
    peer.name = "peer " + std::to_string(i) + std::string(100, '.');
    peer.bulk = {"tcp", "self"};
    status.peers.push_back(peer);
  }
}

}  // namespace livebtl::test
