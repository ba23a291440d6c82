// SPDX-License-Identifier: BSD-3-Clause
// core/path/transport_slot.h -- the place of one transport in the BML, whether it is open or not.
// Under the engine's lock; the BML owns it.
#pragma once

#include <memory>
#include <string>

#include "core/switch/released.h"
#include "core/switch/returning.h"
#include "transports/interface/node_facts.h"
#include "transports/interface/transport.h"

namespace livebtl::core {

/// One transport of this process: open or not.
struct TransportSlot {
  TransportKind kind;
  std::unique_ptr<Transport> transport;  // null: closed
  Pace* pace = nullptr;                  // of the open transport; null: it is polled in every round
  Caps caps;  // as of the last time it was open; until then only what the kind says
  Blob last_address;
  EndpointStats closed_stats;  // of endpoints that are gone
  std::uint64_t paths_lost = 0;
  std::uint64_t corrupt_frames = 0;
  Absence absence;
  Holdings held;  // as of when it was last open; before that, whatever its kind may hold
  bool open() const noexcept { return transport != nullptr; }
  bool in_service() const noexcept { return open() && absence.why.empty(); }
  const std::string& name() const noexcept { return kind.name; }
};

}  // namespace livebtl::core
