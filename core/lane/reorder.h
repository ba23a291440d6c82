// SPDX-License-Identifier: BSD-3-Clause
// core/lane/reorder.h -- the receiving end of the ordered lane: what comes next, what came early, what
// came twice.
//
// Around a switch, a peer's frames arrive by two paths; those that overtook others wait here as
// copies, bounded in bytes. Pure; no I/O.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/bytes.h"

namespace livebtl::core {

class Reorder {
 public:
  /// bytes_max: headers and payloads of all early frames, plus 16 per frame.
  explicit Reorder(std::size_t bytes_max, std::uint64_t first_seq = 1) noexcept
      : expected_(first_seq), bytes_max_(bytes_max) {}

  enum class Verdict : std::uint8_t {
    kNext,       // deliver it now; expected() has moved past it; then drain with take_next()
    kEarly,      // copied, to be delivered later
    kDuplicate,  // seen before: drop it
    kOverflow,   // more early bytes than a correct peer can have: the peer broke the protocol
  };
  /// Judges a frame by its number. kNext is the fast path: one comparison, no copy.
  Verdict arrived(std::uint64_t seq, Bytes header, Bytes payload) {
    if (seq == expected_) [[likely]] {
      ++expected_;
      return Verdict::kNext;
    }
    return arrived_out_of_order(seq, header, payload);
  }

  /// The same for a frame that is known to be next.
  void arrived_next() noexcept { ++expected_; }

  struct Early {
    Blob header;
    Blob payload;
  };
  /// The frame that is expected next, if it came early.
  std::optional<Early> take_next() {
    if (early_.empty()) [[likely]]
      return std::nullopt;
    return take_next_early();
  }

  /// Nothing more is expected: frees the early frames.
  void drop_early() noexcept {
    early_.clear();
    early_bytes_ = 0;
  }

  /// All below this have been delivered: the cumulative acknowledgement.
  std::uint64_t expected() const noexcept { return expected_; }
  /// 0: no frame waits. Includes 16 per frame.
  std::size_t early_bytes() const noexcept { return early_bytes_; }

 private:
  Verdict arrived_out_of_order(std::uint64_t seq, Bytes header, Bytes payload);
  std::optional<Early> take_next_early();

  std::uint64_t expected_;
  std::size_t bytes_max_;
  std::size_t early_bytes_ = 0;
  std::map<std::uint64_t, Early> early_;
};

}  // namespace livebtl::core
