// SPDX-License-Identifier: BSD-3-Clause
// transports/interface/fast_box.h -- what an endpoint gives whose two ends share memory: room for small messages that
// the engine itself writes and reads, without a call into the transport. The engine decides what lies there and when
// (core/path/fast_box.h); the transport gives the memory, and wakes a reader that sleeps.
//
// Threads: under the engine's lock. Ownership: the endpoint's; valid until its on_down() returns, or until it is
// destroyed.
// Trust: the peer can write every byte of both directions at any time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace livebtl::core {

inline constexpr std::size_t kBoxSlots = 128;
inline constexpr std::size_t kBoxInlineBytes = 40;
inline constexpr std::size_t kBoxBodyBytesMax =
    4096;  // of a longer message, whose bytes lie beside the slots
inline constexpr std::size_t kBoxAreaBytes = 32u << 10;

/// One message in one cache line. `word` is stored last, and says which message it is.
struct alignas(64) BoxSlot {
  std::uint64_t word = 0;
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  std::byte payload[kBoxInlineBytes] = {};
};
static_assert(sizeof(BoxSlot) == 64);

/// One direction, as it lies in the memory that both ends map; zero when it is made.
struct BoxMemory {
  BoxSlot* slots = nullptr;               // [kBoxSlots]; the writer's to write
  std::byte* area = nullptr;              // [kBoxAreaBytes]; the writer's to write
  std::uint64_t* taken = nullptr;         // the reader's to write, in a line of its own
  const std::uint32_t* asleep = nullptr;  // the reader's; odd: it sleeps, and is to be woken
};

class FastBox {
 public:
  /// What the peer reads, and what it writes. Constant.
  virtual BoxMemory outgoing() noexcept = 0;
  virtual BoxMemory incoming() noexcept = 0;
  /// The reader was seen asleep behind a store into the box: wakes it, once for each sleep. The transport's arm()
  /// orders the reader's last look behind what is seen here (transports/sm/sm_bell.h).
  virtual void wake_reader() noexcept = 0;

 protected:
  ~FastBox() = default;
};

}  // namespace livebtl::core
