// SPDX-License-Identifier: BSD-3-Clause
// transports/interface/fast_box.h -- what an endpoint offers if its two ends share memory: room for
// small messages that the engine itself writes and reads, without a call into the transport. The
// engine decides what goes there and when (core/path/fast_box.h); the transport provides the
// memory, and wakes a sleeping reader.
//
// Threads: under the engine's lock. Ownership: the endpoint's; valid until its on_down() returns,
// or until it is destroyed.
// Trust: the peer can write every byte of both directions at any time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace livebtl::core {

inline constexpr std::size_t kBoxSlots = 128;
inline constexpr std::size_t kBoxInlineBytes = 40;
inline constexpr std::size_t kBoxBodyBytesMax = 4096;  // longest message stored beside the slots
inline constexpr std::size_t kBoxAreaBytes = 32u << 10;

/// One message in one cache line. `word` is stored last, and says which message it is.
struct alignas(64) BoxSlot {
  std::uint64_t word = 0;
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  std::byte payload[kBoxInlineBytes] = {};
};
static_assert(sizeof(BoxSlot) == 64);

/// One direction, as laid out in the memory that both ends map; zero when created.
struct BoxMemory {
  BoxSlot* slots = nullptr;               // [kBoxSlots]; filled by the writer
  std::byte* area = nullptr;              // [kBoxAreaBytes]; filled by the writer
  std::uint64_t* taken = nullptr;         // written by the reader, in a line of its own
  const std::uint32_t* asleep = nullptr;  // the reader's; odd: it sleeps and must be woken
};

class FastBox {
 public:
  /// What the peer reads, and what it writes. Constant.
  virtual BoxMemory outgoing() noexcept = 0;
  virtual BoxMemory incoming() noexcept = 0;
  /// The reader was seen asleep after a store into the box: wakes it, once per sleep. The
  /// transport's arm() orders the reader's last look after its store to `asleep`
  /// (transports/sm/sm_bell.h).
  virtual void wake_reader() noexcept = 0;

 protected:
  ~FastBox() = default;
};

}  // namespace livebtl::core
