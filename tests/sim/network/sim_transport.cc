// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/sim_transport.cc -- addresses, dialling and progress of the simulated transports.
#include "tests/sim/network/sim_transport.h"

#include <algorithm>

namespace livebtl::sim {
namespace {

struct SimAddress {
  std::uint8_t version = 1;
  std::uint64_t process = 0;
  std::uint64_t node = 0;
};

bool read(Bytes bytes, SimAddress& address) {
  ByteReader reader(bytes);
  address.version = reader.take<std::uint8_t>();
  address.process = reader.take<std::uint64_t>();
  address.node = reader.take<std::uint64_t>();
  return reader.finished() && address.version == 1 && address.process != 0;
}

}  // namespace

SimTransport::SimTransport(SimNetwork& network, const SimKind& kind, const core::NodeFacts& facts)
    : network_(network), kind_(kind), process_(facts.process), node_(facts.node) {
  network_.enter(*this);
}

SimTransport::~SimTransport() {
  LIVEBTL_ASSERT(endpoints_.empty(), "endpoints are destroyed before their transport");
  network_.leave(*this);
}

Blob SimTransport::address() const {
  ByteWriter writer;
  writer.put(std::uint8_t{1});
  writer.put(static_cast<std::uint64_t>(process_));
  writer.put(node_);
  return writer.take();
}

bool SimTransport::reaches(Bytes address) const noexcept {
  SimAddress parsed;
  return read(address, parsed) && (!kind_.caps.same_node_only || parsed.node == node_);
}

Result<std::unique_ptr<core::Endpoint>> SimTransport::connect(Bytes address) {
  SimAddress parsed;
  if (!read(address, parsed))
    return fail(Errc::kInvalid, "not an address of the simulated transport");
  if (!reaches(address))
    return fail(Errc::kUnreachable, "the simulated transport does not leave its node");
  const auto connection = network_.dial(*this, ProcessId{parsed.process});
  if (!connection) return tl::unexpected(connection.error());
  return std::make_unique<SimEndpoint>(*this, **connection, 0);
}

std::size_t SimTransport::progress(core::TransportSink& accept, TimeNs,
                                   std::size_t frames_max) noexcept {
  while (Connection* const incoming = network_.next_incoming(*this)) {
    accept.on_accept(std::make_unique<SimEndpoint>(*this, *incoming, 1));
  }
  std::size_t moved = 0;
  const std::vector<SimEndpoint*> now_there = endpoints_;
  const std::size_t first = now_there.empty() ? 0 : network_.random().below(now_there.size());
  for (std::size_t i = 0; i < now_there.size() && moved < frames_max; ++i) {
    SimEndpoint* const endpoint = now_there[(first + i) % now_there.size()];
    if (std::find(endpoints_.begin(), endpoints_.end(), endpoint) == endpoints_.end()) continue;
    moved += endpoint->progress(frames_max - moved);
  }
  return moved;
}

bool SimTransport::arm() noexcept {
  const TimeNs now = network_.clock().now();
  if (network_.has_incoming(*this)) return false;
  return std::none_of(endpoints_.begin(), endpoints_.end(),
                      [now](const SimEndpoint* endpoint) { return endpoint->has_work(now); });
}

void SimTransport::remove(SimEndpoint& endpoint) noexcept { std::erase(endpoints_, &endpoint); }

}  // namespace livebtl::sim
