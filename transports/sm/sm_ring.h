// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_ring.h -- a byte ring in shared memory with one writer and one reader, each in
// its own process.
//
// A record begins on a cache line with its commit word, which the writer stores last and the reader
// looks for, so a small frame costs one line: commit word, header, payload. Records take no
// read-modify-write.
//   commit word: bits 0-31 payload bytes (skip: bytes to the ring's end), 32-39 header bytes,
//                40-47 kind, rest 0
//   record:      commit word, header padded to 8, payload; padded to whole lines
// Invariant: the commit word where the reader stands next is 0 until a record is complete there:
// the writer clears the word after a record before it commits the record, and never fills the last
// line.
// Threads: RingWriter is the writer's alone, RingReader the reader's alone; they share RingWords
// and the data.
// Trust: each side reads once what the other can write, and checks it against the ring's bounds
// before use.
#pragma once

#include <atomic>
#include <cstdint>

#include "transports/interface/transport.h"

namespace livebtl::sm {

/// The words of one ring. The reader writes them, the writer reads them; 128 bytes apart, since
/// processors fetch lines in pairs and `sleeping` is read for each frame.
struct RingWords {
  alignas(128) std::uint64_t head = 0;  // bytes freed since the beginning
  alignas(128) std::uint32_t sleeping =
      0;  // odd: ring the bell. Raised by one on falling asleep and on waking
  // Not 0: the reader orders its sleep for both, see sm_bell.h.
  std::uint32_t has_barrier = 0;
  alignas(128) std::uint64_t taken = 0;  // of the fast box beside the ring; the engine's
};
static_assert(sizeof(RingWords) == 384);

inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::size_t kRingBytesMin = 16u << 10;
inline constexpr std::size_t kRingBytesMax = 64u << 20;

/// Largest payload that a ring of that size takes: some such records fit, wherever the ring's end
/// lies.
constexpr std::size_t ring_payload_max(std::size_t ring_bytes) noexcept { return ring_bytes / 4; }

constexpr std::size_t padded_header(std::size_t header_bytes) noexcept {
  return (header_bytes + 7) & ~std::size_t{7};
}
constexpr std::size_t record_bytes(std::size_t header_bytes, std::size_t payload_bytes) noexcept {
  return (8 + padded_header(header_bytes) + payload_bytes + kLineBytes - 1) & ~(kLineBytes - 1);
}

/// kExposure: the payload is an ExposureRecord, see sm_zero_copy.h.
enum class RecordKind : std::uint8_t { kFrame = 1, kSkip = 2, kExposure = 3 };

constexpr std::uint64_t commit_word(RecordKind kind, std::size_t header_bytes,
                                    std::size_t payload_bytes) noexcept {
  return static_cast<std::uint64_t>(kind) << 40 | static_cast<std::uint64_t>(header_bytes) << 32 |
         static_cast<std::uint64_t>(payload_bytes);
}

inline std::atomic_ref<std::uint64_t> commit_at(std::byte* place) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(place));
}

class RingWriter {
 public:
  /// Takes nothing, like a full ring.
  RingWriter() noexcept = default;
  /// ring_bytes: a power of two in [kRingBytesMin, kRingBytesMax]; data: zero, aligned to a line.
  RingWriter(RingWords& words, std::byte* data, std::size_t ring_bytes) noexcept
      : words_(&words), data_(data), mask_(ring_bytes - 1), limit_(ring_bytes - kLineBytes) {}

  /// Does a record of that size fit without make_room()?
  bool fits(std::size_t record) const noexcept { return tail_ + record <= limit_; }
  /// Looks how far the reader has come, and starts the next lap if need be. false: no room, or
  /// corrupt().
  bool make_room(std::size_t record) noexcept;
  /// Copies a frame in. Requires: fits(); header of 1 to 64 bytes, payload of at most
  /// ring_payload_max(). kSmall: the payload has at most 64 bytes, and no function is called.
  template <bool kSmall>
  void put(Bytes header, Bytes payload, std::size_t record,
           RecordKind kind = RecordKind::kFrame) noexcept {
    std::byte* const place = data_ + (tail_ & mask_);
    std::byte* const body = place + 8 + padded_header(header.size());
    copy_small(place + 8, header.data(), header.size());
    if constexpr (kSmall)
      copy_small(body, payload.data(), payload.size());
    else
      std::memcpy(body, payload.data(), payload.size());
    commit(place, record, commit_word(kind, header.size(), payload.size()));
  }
  /// Makes room and puts. false: no room (or corrupt()), nothing changed.
  bool push(Bytes header, Bytes payload) noexcept {
    const std::size_t record = record_bytes(header.size(), payload.size());
    if (!fits(record) && !make_room(record)) return false;
    if (payload.size() <= kSmallBytes)
      put<true>(header, payload, record);
    else
      put<false>(header, payload, record);
    return true;
  }

  /// What the reader last said of its sleep; only a hint unless ordered after push(), see
  /// sm_bell.h.
  std::uint32_t reader_sleeping() const noexcept {
    return std::atomic_ref<std::uint32_t>(words_->sleeping).load(std::memory_order_relaxed);
  }
  /// The same, ordered after everything pushed; a read-modify-write.
  std::uint32_t reader_sleeping_ordered() const noexcept {
    return std::atomic_ref<std::uint32_t>(words_->sleeping).fetch_add(0, std::memory_order_acq_rel);
  }
  /// Does the reader, which has opened its end, order its sleep for both? Without a ring: no.
  bool reader_has_barrier() const noexcept {
    return words_ != nullptr &&
           std::atomic_ref<std::uint32_t>(words_->has_barrier).load(std::memory_order_relaxed) != 0;
  }
  /// The reader wrote an impossible head: the peer is broken or hostile.
  bool corrupt() const noexcept { return corrupt_; }

 private:
  void commit(std::byte* place, std::size_t record, std::uint64_t word) noexcept {
    tail_ += record;
    commit_at(data_ + (tail_ & mask_)).store(0, std::memory_order_relaxed);
    commit_at(place).store(word, std::memory_order_release);
  }

  RingWords* words_ = nullptr;
  std::byte* data_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t tail_ = 0;   // where the next record goes
  std::uint64_t limit_ = 0;  // a record may reach up to here: free and contiguous
  std::uint64_t head_ = 0;   // the reader's, as last read
  bool corrupt_ = false;
};

class RingReader {
 public:
  /// Always empty.
  RingReader() noexcept = default;
  RingReader(RingWords& words, std::byte* data, std::size_t ring_bytes) noexcept
      : next_(data), end_(data + ring_bytes), data_(data), words_(&words) {}

  /// Call before anything is said to the writer.
  void tell_barrier(bool has_barrier) noexcept {
    std::atomic_ref<std::uint32_t>(words_->has_barrier)
        .store(has_barrier ? 1 : 0, std::memory_order_relaxed);
  }

  /// Is there a record (of any kind)?
  bool waiting() const noexcept {
    return next_ != nullptr && commit_at(next_).load(std::memory_order_acquire) != 0;
  }

  enum class Look : std::uint8_t { kNothing, kFrame, kExposure, kCorrupt };
  /// A frame where it lies in the ring, until release(). Its writer can still change the bytes, not
  /// the bounds.
  struct Record {
    const std::byte* header = nullptr;
    std::size_t header_bytes = 0;
    Bytes payload;
  };
  /// payload_max: a larger payload counts as corrupt. Steps over a skip.
  Look look(std::size_t payload_max, Record& record) noexcept {
    std::uint64_t word = commit_at(next_).load(std::memory_order_acquire);
    if (word == 0) return Look::kNothing;
    if (word >> 40 == static_cast<std::uint64_t>(RecordKind::kSkip)) [[unlikely]] {
      word = step_over(word);
      if (word == 0) return Look::kNothing;
    }
    const std::size_t payload_bytes = word & 0xffff'ffff;
    const std::size_t header_bytes = word >> 32 & 0xff;
    const std::size_t length = record_bytes(header_bytes, payload_bytes);
    if (header_bytes - 1 >= core::kHeaderBytesMax || payload_bytes > payload_max ||
        length > static_cast<std::size_t>(end_ - next_)) [[unlikely]]
      return Look::kCorrupt;
    record.header = next_ + 8;
    record.header_bytes = header_bytes;
    record.payload = {next_ + 8 + padded_header(header_bytes), payload_bytes};
    length_ = length;
    if (word >> 40 != static_cast<std::uint64_t>(RecordKind::kFrame)) [[unlikely]]
      return word >> 40 == static_cast<std::uint64_t>(RecordKind::kExposure) ? Look::kExposure
                                                                             : Look::kCorrupt;
    return Look::kFrame;
  }
  /// Frees the record that look() returned.
  void release() noexcept { free_bytes(length_); }

  /// Tells the writer to ring the bell. The caller orders it before its last waiting(), see
  /// sm_bell.h. false: it has been told already.
  bool fall_asleep() noexcept { return turn_sleep(true); }
  void wake() noexcept { turn_sleep(false); }

 private:
  std::uint64_t step_over(std::uint64_t word) noexcept;
  void free_bytes(std::size_t count) noexcept {
    next_ = next_ + count == end_ ? data_ : next_ + count;
    head_ += count;
    std::atomic_ref<std::uint64_t>(words_->head).store(head_, std::memory_order_release);
  }
  bool turn_sleep(bool asleep) noexcept;

  std::byte* next_ = nullptr;  // where we stand
  std::byte* end_ = nullptr;
  std::byte* data_ = nullptr;
  RingWords* words_ = nullptr;
  std::uint64_t head_ = 0;         // bytes freed since the beginning
  std::size_t length_ = 0;         // of the record that look() returned
  std::uint32_t sleep_count_ = 0;  // what we last wrote to `sleeping`; odd: asleep
};

}  // namespace livebtl::sm
