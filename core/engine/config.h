// SPDX-License-Identifier: BSD-3-Clause
// core/engine/config.h -- everything an engine is given at construction: identity, settings,
// transports, clock and random seed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/secret.h"
#include "core/switch/routing.h"
#include "transports/interface/node_facts.h"

namespace livebtl::core {

struct EngineConfig {
  Settings settings;
  std::string job;
  std::string label;  // "rank 3 on node17"
  Secret secret;      // absent: authentication off
  ProcessId process{};
  std::uint64_t node = 0;
  bool one_node = false;  // as far as the launcher knows, the whole job is on this node
  std::string job_directory;
  std::vector<TransportKind> kinds;             // the transports that may be opened
  Routing routing;                              // until the first order
  std::function<TimeNs()> now = monotonic_now;  // virtual in the simulator
  bool sets_timers = true;      // uses kernel timers; false where time is virtual and nobody sleeps
  std::uint64_t seed = 0;       // for path ids and back-off
  std::uint64_t first_seq = 1;  // of every ordered lane; tests start near a wrap
};

/// The most early bytes that a receiver holds around a switch; the sender stays well below that
/// until the old path is proved empty.
inline constexpr std::size_t kReorderBytesMax = 4u << 20;
inline constexpr std::size_t kOvertakeBytesMax = 512u << 10;
/// The most one-sided operations that a process may have open with a peer: posted, not answered.
/// Fewer where the peer's credit in messages is less.
inline constexpr std::uint32_t kOpenRequestsMax = 1024;
/// How long a new connection may take to complete its hello.
inline constexpr TimeNs kHelloTimeout = 3 * kSecond;

}  // namespace livebtl::core
