// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/small_credit.h -- settings with little credit, and memory of a port that
// peers may access.
#pragma once

#include "tests/unit/core/engine/rig.h"

namespace livebtl::test {

inline constexpr std::uint32_t kHeaders = 64;
inline constexpr std::size_t kBytes = 65536;
inline constexpr std::uint64_t kKey = 5;

/// unexpected_bytes: memory beside the credit. Without any, only receives bring credit back.
inline Settings small_credit(std::uint32_t unexpected_bytes = 0) {
  Settings settings;
  settings.unexpected_bytes = unexpected_bytes;
  settings.credit_headers = kHeaders;
  settings.credit_bytes = kBytes;
  settings.dead_ms = 0;
  return settings;
}

inline void open_memory(Port& port, std::vector<std::byte>& memory) {
  RegionRequest region;
  region.base = memory.data();
  region.bytes = memory.size();
  region.key = kKey;
  REQUIRE(port.register_region(region));
}

}  // namespace livebtl::test
