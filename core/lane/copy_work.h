// SPDX-License-Identifier: BSD-3-Clause
// core/lane/copy_work.h -- what a large message costs the processors of both ends together: copied,
// one end puts the bytes into the transport's buffers and the other takes them out; exposed, one
// end reads them.
//
// Known from this end's own copies, as sender to and receiver from a peer that shares the node and
// so is taken to be as fast. While messages go both ways, this sum decides, not the time that a
// transfer takes: of two ends that copy, one that begins to expose only moves its own work to the
// other.
//
// Pure. Threads: as the Peer that it is part of.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/assert.h"
#include "base/clock.h"

namespace livebtl::core {

class CopyWork {
 public:
  enum class Part : std::uint8_t { kIn, kOut, kRead };

  /// Is the next copy, of this many bytes, to be timed? Only some are: reading the clock costs
  /// time.
  bool due(Part part, std::size_t bytes) const noexcept {
    return bytes >= kTimedBytesMin && copies_[index(part)] % kTimedEvery == 0;
  }
  /// bytes: at least 1. time_ns: unset if it was not timed; ignored if the clock stood still.
  void copied(Part part, std::size_t bytes, std::optional<TimeNs> time_ns) noexcept {
    LIVEBTL_ASSERT(bytes != 0, "a copy of something");
    ++copies_[index(part)];
    if (!time_ns || *time_ns <= 0) return;
    const auto its =
        std::max<std::uint64_t>(static_cast<std::uint64_t>(*time_ns) * kUnitBytes / bytes, 1);
    std::uint64_t& known = known_[index(part)];
    // A copy that was interrupted or met cold caches tells little, even if it is the first.
    known = its < known || known == 0 ? its : (known * 7 + std::min(its, 2 * known) + 7) / 8;
  }
  /// nullopt: not all of it is known.
  std::optional<bool> exposing_is_less() const noexcept {
    const auto [in, out, read] = known_;
    if (in == 0 || out == 0 || read == 0) return std::nullopt;
    return read < in + out;
  }

  /// Odd: a message is copied in 2^n pieces, of which the first is the slowest.
  static constexpr std::uint32_t kTimedEvery = 5;
  /// Most of a shorter copy's time is not the copy.
  static constexpr std::size_t kTimedBytesMin = 4096;

 private:
  static constexpr std::uint64_t kUnitBytes = 1u << 20;

  static constexpr std::size_t index(Part part) noexcept { return static_cast<std::size_t>(part); }

  std::array<std::uint64_t, 3> known_{};  // ns for kUnitBytes, by Part; 0: not known
  std::array<std::uint32_t, 3> copies_{};
};

}  // namespace livebtl::core
