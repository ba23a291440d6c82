// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_zero_copy.h -- large payloads that stay where they are until the receiver copies
// them out of the sender's memory: one copy instead of two. docs/adr/0013 has the reasons.
//
// An exposed buffer has a slot in the shared segment; its record in the ring names the slot, so
// that it stays in order with all else. The slot's word says where the bytes lie:
//   offered -> read            copied; the payload is its owner's again
//   offered -> moved -> read   the owner wanted it back at once: the same bytes lie in a copy
//   offered, moved -> refused -> shared -> read   the kernel no longer lets the receiver read, so
//       the owner puts a copy into the segment; nothing is exposed from then on
//   any but read -> withdrawn  the connection has ended here
// The kernel makes the copy, in one of two ways (CopyWay): straight out of the sender's memory
// (sm_peer_memory.h), or out of a region that the sender has named (sm_knem.h). Before anything is
// exposed, the reader has tried on a number of the sender's which of them the kernel allows.
//
// Each step is one compare-and-swap. The receiver makes its own only *after* it has copied: what it
// copied while the word changed is discarded, as under a sequence lock. So neither waits for the
// other's next step, however long the other is stopped before it.
//
// Threads: one side has the Exporter, the other the RemoteReader; ZeroCopyWords are shared.
// Trust: each side treats the other's words as hostile; Exporter::corrupt() and Outcome::kCorrupt
// report words that make no sense.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "base/single_copy.h"
#include "transports/interface/transport.h"
#include "transports/sm/sm_knem.h"
#include "transports/sm/sm_peer_memory.h"

namespace livebtl::sm {

/// Largest payload that is exposed: as much as may be copied in one system call under the engine's
/// lock.
inline constexpr std::uint32_t kExposureBytesMax = 1u << 20;
/// A turn in which this much was read reads no more.
inline constexpr std::size_t kReadBytesATurn = 256u << 10;
inline constexpr std::uint32_t kExposuresMax = 4;

/// How the kernel copies exposed buffers: bits of ZeroCopyWords::readable, one of them in each
/// record.
enum CopyWay : std::uint16_t { kByNone = 0, kByCma = 1, kByKnem = 2 };

/// On baseline x86-64 __builtin_prefetch(at, 1) prefetches for reading. A processor without
/// prefetchw ignores it.
inline void prefetch_to_write(const void* at) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

/// In shared memory; for each direction of a connection.
struct alignas(64) ExposureWords {
  std::uint64_t state = 0;  // number << 3 | ExposureState; each exposure has the next number
  std::uint64_t place = 0;  // by cma an address, by knem a cookie; 0: nothing can be read there
};
struct ZeroCopyWords {
  // The exporter's: a number of its own, where it lies, and the cookie of a region that holds only
  // that number (0: it has no knem), to show in which ways its memory can be read.
  alignas(128) std::uint64_t probe_address = 0;
  std::uint64_t probe = 0;
  std::uint64_t probe_cookie = 0;
  ExposureWords exposures[kExposuresMax];   // both write the states
  alignas(128) std::uint64_t readable = 0;  // the reader's: the ways in which it has read the probe
};
static_assert(sizeof(ZeroCopyWords) == 512);

/// What goes through the ring in place of the payload.
struct ExposureRecord {
  std::uint64_t number = 0;
  std::uint16_t slot = 0;
  std::uint16_t way = kByNone;  // a CopyWay
  std::uint32_t bytes = 0;
};
static_assert(sizeof(ExposureRecord) == 16);

class Exporter {
 public:
  /// words: zero; of this side's direction. spare: kExposureBytesMax of shared memory, rarely
  /// touched. knem: outlives it, and may be absent. Draws the probe.
  Exporter(ZeroCopyWords& words, std::byte* spare, const KnemDevice& knem);
  ~Exporter() { withdraw(); }
  Exporter(Exporter&&) = delete;

  /// The way to copy what is exposed from now on, if the peer can read that way. kAuto: by cma,
  /// else by knem.
  void copy_by(SingleCopy wanted) noexcept { wanted_ = wanted; }
  /// Has the peer shown that it can read here, in a wanted way?
  bool allowed() const noexcept { return way() != kByNone; }
  bool full() const noexcept { return exposed_ - returned_ == kExposuresMax; }
  /// Requires: allowed(), !full(). The payload stays in use until take_back(), move_out() or
  /// withdraw(). nullopt: the kernel gives no region for it; nothing has changed.
  std::optional<ExposureRecord> expose(Bytes payload, std::uint64_t cookie) noexcept;
  std::size_t outstanding() const noexcept {
    return static_cast<std::size_t>(exposed_ - returned_);
  }
  /// Has the oldest buffer been read?
  bool was_read() const noexcept;
  /// Was the oldest one refused? Then share() is due.
  bool refused() const noexcept;
  /// Puts the oldest one where the peer can read it, and exposes no more. Requires: refused().
  void share() noexcept;
  /// Ends the oldest and returns its cookie. Requires: was_read().
  std::uint64_t take_back() noexcept;
  /// Copies what is still exposed: the payloads are their owners' again. take_back() follows as
  /// usual.
  void move_out();
  /// From now on nothing can be read or exposed.
  void withdraw() noexcept;
  /// The peer wrote impossible words.
  bool corrupt() const noexcept { return corrupt_; }

 private:
  struct Exposure {
    std::uint64_t number = 0;
    std::uint64_t cookie = 0;
    Bytes payload;
    std::unique_ptr<std::byte[]> copy;
    CopyWay way = kByNone;
    KnemRegion region;  // knem only: of the payload, or of its copy
    bool read = false;  // and its owner may have the memory back
  };
  CopyWay way() const noexcept;
  std::uint64_t state_of_oldest() const noexcept;

  ZeroCopyWords* words_ = nullptr;
  std::byte* spare_ = nullptr;
  const KnemDevice& knem_;
  std::unique_ptr<std::uint64_t> probe_;
  KnemRegion probe_region_;
  SingleCopy wanted_ = SingleCopy::kAuto;
  std::array<Exposure, kExposuresMax> exposures_;  // the n-th is in slot n % kExposuresMax
  std::uint64_t exposed_ = 0;
  std::uint64_t returned_ = 0;
  bool shares_ = false;                 // the oldest is shared
  bool spoilt_ = false;                 // something was refused
  mutable std::uint64_t readable_ = 0;  // what the peer has shown; read once
  mutable bool corrupt_ = false;
};

class RemoteReader {
 public:
  /// Reads nothing.
  RemoteReader() noexcept = default;
  /// words, spare: of the peer's direction.
  RemoteReader(ZeroCopyWords& words, const std::byte* spare, PeerMemory memory,
               KnemPeer knem) noexcept
      : words_(&words), spare_(spare), memory_(memory), knem_(knem) {}

  /// Tells the peer in which ways its memory can be read from here. Call once the peer has mapped
  /// the segment.
  void probe() noexcept;

  /// It will be read soon: prefetches the words that this will write.
  void expect(const ExposureRecord& record) const noexcept {
    if (words_ != nullptr && record.slot < kExposuresMax)
      prefetch_to_write(&words_->exposures[record.slot]);
  }

  enum class Outcome : std::uint8_t { kDone, kGone, kCorrupt, kAsked };
  /// into: of the buffer's size; empty: it is not read, and its owner has it back. record: as found
  /// in the ring, hostile. The bytes mean something only after kDone. kGone: withdrawn, or the peer
  /// has ended. kAsked: it cannot be read (errno says why), and its owner is asked for a copy; call
  /// again when asks() is false.
  Outcome read(const ExposureRecord& record, MutableBytes into) noexcept;
  /// Is it waiting for the copy it asked for?
  bool asks() const noexcept;
  /// The peer has ended: only what it has already shared still comes.
  void forget_peer() noexcept;

 private:
  Outcome read_shared(ExposureWords& words, std::uint64_t number, MutableBytes into) noexcept;

  ZeroCopyWords* words_ = nullptr;
  const std::byte* spare_ = nullptr;
  PeerMemory memory_;
  KnemPeer knem_;
  unsigned readable_ = 0;  // the ways that the probe has shown
  ExposureWords* asked_ = nullptr;
  bool forgotten_ = false;
};

}  // namespace livebtl::sm
