// SPDX-License-Identifier: BSD-3-Clause
// core/path/fast_box.h -- the two ends of one direction's fast box: small messages of the ordered
// lane in memory that both processes share, one cache line each. A message's number is its place:
// number n lies in slot n % 128. The reader, which waits for number `expected`, sees from one word
// that it has come, is the next one, and is not of an earlier lap.
//
// A path's box and what its endpoint carries beside it form one first-in-first-out queue: what
// arrives by the endpoint was sent after all that lies in the box by then, so the box is emptied
// first. Thus a marker still proves that the path is empty. Protocol: docs/WIRE.md, "The fast box".
// Invariants: a slot is written only under a lease, for which the reader's `taken` has made room;
// and no stale word stays long enough to be mistaken for one that is 2^24 newer: the reader clears
// all words when it grants the box, and now and then those of numbers that it has passed.
//
// Threads: under the engine's lock. Pure but for the shared words, each of which is read once and
// checked.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/bytes.h"
#include "base/clock.h"
#include "core/engine/parts.h"
#include "core/path/box_bodies.h"
#include "transports/interface/fast_box.h"

namespace livebtl::core {

// A slot's word:
//   bits 0-23 number | 24-29 kind: 1 | 30-35 payload bytes | 36-39 flags
//   bits 40-51 source port | 52-63 target port
// If the payload bytes are kBoxHasBody, the payload is a BoxBody, which says where the bytes lie.
inline constexpr std::uint64_t kBoxSeqMask = (std::uint64_t{1} << 24) - 1;
inline constexpr std::uint64_t kBoxIdentity = (std::uint64_t{1} << 30) - 1;  // number and kind
inline constexpr unsigned kBoxKindAt = 24, kBoxBytesAt = 30, kBoxFlagsAt = 36, kBoxSourceAt = 40,
                          kBoxTargetAt = 52;
inline constexpr std::uint32_t kBoxPortsEnd = 1u << 12;  // messages of other ports use the endpoint
inline constexpr std::uint8_t kBoxFlags = 3;             // of an eager frame: tagged, has data
inline constexpr std::size_t kBoxHasBody = 63;
static_assert(kBoxInlineBytes < kBoxHasBody);

/// The bits by which the reader recognises message `seq`.
constexpr std::uint64_t box_identity(std::uint64_t seq) noexcept {
  return (seq & kBoxSeqMask) | std::uint64_t{1} << kBoxKindAt;
}
/// Ports below kBoxPortsEnd, bytes at most kBoxInlineBytes, or kBoxHasBody, flags in kBoxFlags.
constexpr std::uint64_t box_word(std::uint64_t seq, std::size_t bytes, std::uint8_t flags,
                                 std::uint16_t source_port, std::uint16_t target_port) noexcept {
  return box_identity(seq) | std::uint64_t{bytes} << kBoxBytesAt |
         std::uint64_t{flags} << kBoxFlagsAt | std::uint64_t{source_port} << kBoxSourceAt |
         std::uint64_t{target_port} << kBoxTargetAt;
}

/// What a word from another process says.
struct BoxWord {
  std::uint64_t word = 0;

  std::uint8_t flags() const noexcept {
    return static_cast<std::uint8_t>(word >> kBoxFlagsAt & 15);
  }
  std::size_t bytes() const noexcept { return word >> kBoxBytesAt & 63; }
  std::uint16_t source_port() const noexcept {
    return static_cast<std::uint16_t>(word >> kBoxSourceAt & (kBoxPortsEnd - 1));
  }
  std::uint16_t target_port() const noexcept {
    return static_cast<std::uint16_t>(word >> kBoxTargetAt);
  }
  bool known_flags() const noexcept { return (flags() & ~kBoxFlags) == 0; }
  /// The message lies in its slot as a whole.
  bool whole() const noexcept { return known_flags() && bytes() <= kBoxInlineBytes; }
  bool has_body() const noexcept { return known_flags() && bytes() == kBoxHasBody; }
};

/// One read of a word that the peer may change at any time.
inline std::uint64_t read_once(const std::uint64_t& word) noexcept {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_relaxed);
}
inline BoxBody read_body_once(const BoxSlot& slot) noexcept {
  return std::bit_cast<BoxBody>(read_once(reinterpret_cast<const std::uint64_t&>(slot.payload)));
}

/// The sending end, part of a Path; idle until the pair has talked enough.
struct BoxWriter {
  enum class State : std::uint8_t {
    kNone,     // not asked for
    kAsked,    // the peer has not answered
    kGranted,  // the peer polls the box
  };
  State state = State::kNone;
  std::uint32_t ordinal = 0;  // of the last request; an answer to an earlier one is ignored
  std::uint32_t small_sent =
      0;  // messages that went by the endpoint and would have fitted, since the last request
  TimeNs ask_at = 0;         // no request before then
  std::uint64_t taken = 0;   // the reader has taken all messages below
  std::uint64_t frames = 0;  // under leases that have ended
  BoxBodies bodies;
  std::uint64_t body_bytes = 0;  // in all
};

/// The sender's right to write the next `left` messages, of `bytes` in all, into the peer's box
/// without looking at anything else. Any change to what it rests on ends it: a frame that takes
/// another way or has to wait, a move to another path, a hold, a loss.
struct Lease {
  std::uint32_t left = 0;
  std::uint32_t bytes = 0;
  BoxSlot* slots = nullptr;
  const std::uint32_t* asleep = nullptr;
  std::uint32_t given = 0;  // initial value of `left`; 0: there is no lease
  BoxWriter* writer = nullptr;
  std::byte* area = nullptr;

  void end() noexcept {
    if (given == 0) return;
    writer->frames += given - left;
    left = given = 0;
  }
};

/// The receiving end, part of a Path; polled while `slots` is set.
struct BoxReader {
  BoxSlot* slots = nullptr;
  const std::byte* area = nullptr;
  std::uint64_t* taken = nullptr;
  Peer* peer = nullptr;
  Path* path = nullptr;
  std::uint64_t told = 0;      // the value of `taken`
  std::uint64_t clean_at = 0;  // `expected` when stale words were last cleared
  std::uint64_t tell_every = kTellEveryMax;
  std::size_t untold_bytes = 0;          // of bodies taken since the last tell()
  const std::byte* next_body = nullptr;  // the next body, if its part of the area has room
  std::size_t next_body_bytes = 0;       // how much of it fetch_ahead() fetches
  std::uint64_t frames = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t frames_seen = 0;  // `frames` at the last check whether the box is in use
  std::uint32_t ordinal = 0;      // of the peer's last request

  static constexpr std::uint64_t kTellEveryMax = kBoxSlots / 4;
  /// So that a part of the area is free again before the writer has filled the others.
  static constexpr std::size_t kUntoldBytesMax = BoxBodies::kPartBytes;
  bool polled() const noexcept { return slots != nullptr; }
  /// Should the writer learn that all below `expected` has been taken?
  bool worth_telling(std::uint64_t expected) const noexcept {
    return expected - told >= tell_every || untold_bytes >= kUntoldBytesMax;
  }
  std::uint64_t word_of(std::uint64_t seq) const noexcept {
    return std::atomic_ref(slots[seq % kBoxSlots].word).load(std::memory_order_acquire);
  }
  /// Is message `seq` there?
  bool has(std::uint64_t seq) const noexcept {
    return ((word_of(seq) ^ box_identity(seq)) & kBoxIdentity) == 0;
  }
  /// From now on the box is polled. Nobody else uses it: the writer waits for the answer to its
  /// request.
  void begin(const BoxMemory& memory, std::uint64_t expected) noexcept {
    slots = memory.slots;
    area = memory.area;
    taken = memory.taken;
    next_body_bytes = 0;
    std::for_each_n(slots, kBoxSlots, [](BoxSlot& slot) {
      std::atomic_ref(slot.word).store(0, std::memory_order_relaxed);
    });
    clean_at = expected;
    tell(expected);
  }
  void took_body(BoxBody body) noexcept {
    untold_bytes += body.bytes;
    body_bytes += body.bytes;
    next_body = area + body.offset + BoxBodies::whole_lines(body.bytes);
    next_body_bytes = std::min<std::size_t>(body.bytes, kFetchAheadMax);
  }
  /// The next message is not there yet. If it is like the last, its word and body are to reach this
  /// processor together, not the body after the word. With longer bodies, lines that the writer has
  /// yet to write would be taken from it.
  void fetch_ahead() const noexcept {
    for (std::size_t at = 0; at < next_body_bytes; at += sizeof(BoxSlot))
      __builtin_prefetch(next_body + at);
  }
  static constexpr std::size_t kFetchAheadMax = 512;
  /// Enough numbers have passed since the words were cleared to clear them again.
  bool unclean(std::uint64_t expected) const noexcept { return expected - clean_at > kCleanEvery; }
  /// Clears stale words: slots whose numbers went another way keep theirs for ever. The writer may
  /// be at work in free slots.
  void clean(std::uint64_t expected) noexcept {
    std::for_each_n(slots, kBoxSlots, [&](BoxSlot& slot) {
      std::atomic_ref word(slot.word);
      std::uint64_t found = word.load(std::memory_order_relaxed);
      const bool to_come = ((found - expected) & kBoxSeqMask) < kBoxSlots;
      if (!to_come) word.compare_exchange_strong(found, 0, std::memory_order_relaxed);
    });
    clean_at = expected;
  }
  static constexpr std::uint64_t kCleanEvery = std::uint64_t{1} << 16;
  /// The writer may use the slots of all numbers below `expected` again.
  void tell(std::uint64_t expected) noexcept {
    told = expected;
    untold_bytes = 0;
    std::atomic_ref(*taken).store(expected, std::memory_order_release);
  }
};

/// What the two ends tell each other about a box: the low byte of a kBox frame's seq, below the
/// ordinal.
enum class BoxNote : std::uint8_t {
  kLeft = 1,     // writer: nothing more comes through the box
  kAsk = 2,      // writer: please poll the box
  kGranted = 3,  // reader: it does
  kRefused = 4,  // reader: it does not, or will stop; ask again later
};

}  // namespace livebtl::core
