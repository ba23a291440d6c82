// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_ring.cc -- the rare paths of the ring: its end, a full ring, sleep. See
// sm_ring.h.
#include "transports/sm/sm_ring.h"

#include <algorithm>

namespace livebtl::sm {

bool RingWriter::make_room(std::size_t record) noexcept {
  if (words_ == nullptr || corrupt_) return false;
  const auto head = std::atomic_ref<std::uint64_t>(words_->head).load(std::memory_order_acquire);
  // The reader's head only grows, in whole lines, and never passes what was written.
  if (head - head_ > tail_ - head_ || head % kLineBytes != 0) {
    corrupt_ = true;
    return false;
  }
  head_ = head;
  const std::uint64_t free_end = head_ + mask_ + 1 - kLineBytes;  // one line stays clear
  std::uint64_t lap_end = (tail_ | mask_) + 1;
  // The rest of this lap may be too short: skip it, if the frame then fits.
  if (tail_ + record > lap_end) {
    const std::size_t rest = lap_end - tail_;
    if (tail_ + rest + record > free_end) return false;
    commit(data_ + (tail_ & mask_), rest, commit_word(RecordKind::kSkip, 0, rest));
    lap_end = tail_ + mask_ + 1;
  }
  limit_ = std::min(free_end, lap_end);
  return tail_ + record <= limit_;
}

// Returns the word after the skip, or `word` itself if it is not a correct skip. look() steps over
// only one, so that a hostile writer cannot keep it here forever.
std::uint64_t RingReader::step_over(std::uint64_t word) noexcept {
  const auto rest = static_cast<std::size_t>(end_ - next_);
  if (next_ == data_ || word != commit_word(RecordKind::kSkip, 0, rest)) return word;
  free_bytes(rest);
  return commit_at(next_).load(std::memory_order_acquire);
}

bool RingReader::turn_sleep(bool asleep) noexcept {
  if (words_ == nullptr || (sleep_count_ % 2 == 1) == asleep) return false;
  ++sleep_count_;
  // A read-modify-write, so that a writer that reads with one is ordered with us.
  std::atomic_ref<std::uint32_t>(words_->sleeping)
      .exchange(sleep_count_, std::memory_order_acq_rel);
  return true;
}

}  // namespace livebtl::sm
