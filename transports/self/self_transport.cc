// SPDX-License-Identifier: BSD-3-Clause
// transports/self/self_transport.cc -- see self_transport.h.
#include "transports/self/self_transport.h"

#include <algorithm>

namespace livebtl::self {

constexpr std::uint8_t kVersion = 1;
const core::Caps SelfTransport::kCaps{.payload_bytes_max = SelfEndpoint::kPayloadBytesMax,
                                      .eager_bytes_max = 32u << 10,
                                      .keeps = false,
                                      .same_node_only = true,
                                      .exclusivity = 65536,
                                      .latency_ns = 50,
                                      .bandwidth_mbps = 80'000};

core::TransportKind self_kind() {
  return {"self", "",
          [](const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
            return std::make_unique<SelfTransport>(facts.process);
          },
          SelfTransport::kCaps.exclusivity, SelfTransport::kCaps.bandwidth_mbps};
}

Blob SelfTransport::address() const {
  ByteWriter writer;
  writer.put(kVersion);
  writer.put(process_);
  return writer.take();
}

bool SelfTransport::reaches(Bytes address) const noexcept {
  ByteReader reader(address);
  const auto version = reader.take<std::uint8_t>();
  const auto process = reader.take<ProcessId>();
  return reader.finished() && version == kVersion && process == process_;
}

Result<std::unique_ptr<core::Endpoint>> SelfTransport::connect(Bytes address) {
  if (!reaches(address))
    return fail(Errc::kInvalid, "self reaches its own process only; use another transport");
  auto ours = std::make_unique<SelfEndpoint>(*this);
  auto accepted = std::make_unique<SelfEndpoint>(*this);
  SelfEndpoint::join(*ours, *accepted);
  to_accept_.push_back(std::move(accepted));
  return ours;
}

std::size_t SelfTransport::progress(core::TransportSink& accept, TimeNs /*now*/,
                                    std::size_t frames_max) noexcept {
  if (endpoints_.empty()) [[likely]]  // nobody talks to itself; ends to accept are listed as well
    return 0;
  return move(accept, frames_max);
}

std::size_t SelfTransport::move(core::TransportSink& accept, std::size_t frames_max) noexcept {
  while (!to_accept_.empty()) {
    std::unique_ptr<SelfEndpoint> next = std::move(to_accept_.front());
    to_accept_.erase(to_accept_.begin());
    accept.on_accept(std::move(next));
  }
  std::size_t moved = 0;
  // By index: a sink may open endpoints, and close any but its own.
  for (std::size_t left = endpoints_.size(); left > 0 && moved < frames_max; --left) {
    if (++turn_ >= endpoints_.size()) turn_ = 0;
    if (endpoints_.empty()) break;
    moved += endpoints_[turn_]->deliver(frames_max - moved);
  }
  return moved;
}

bool SelfTransport::arm() noexcept {
  return to_accept_.empty() && std::none_of(endpoints_.begin(), endpoints_.end(),
                                            [](const auto* end) { return end->has_work(); });
}

void SelfTransport::remove(SelfEndpoint& endpoint) noexcept {
  endpoints_.erase(std::find(endpoints_.begin(), endpoints_.end(), &endpoint));
}

}  // namespace livebtl::self
