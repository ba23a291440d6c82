// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_out_queue.h -- what was taken for sending but has no room in the socket yet.
// Pure: no I/O.
//
// Pieces are either copied into the block or borrowed from the caller (a stable payload) until they
// are consumed. Bounded by the block, and for borrowed bytes by kBorrowedBytesMax. Ownership: the
// block is lent while the queue is not empty.
#pragma once

#include <sys/uio.h>

#include <memory>
#include <span>
#include <vector>

#include "transports/tcp/tcp_frame.h"

namespace livebtl::tcp {

struct OutPiece {
  const std::byte* data;
  std::size_t bytes;
  std::uint64_t cookie;
  bool ends_frame;
  bool borrowed;  // report the cookie when it is consumed
};

inline constexpr std::size_t kOutBytes = kPayloadBytesMax + (64u << 10);

/// Borrowed bytes that may wait, or one payload. Whatever is posted next waits for that much: on a
/// slow network that must not take seconds, yet on a fast one it must last from one turn of the
/// engine to the next.
inline constexpr std::size_t kBorrowedBytesMax = 16u << 20;

/// Room for the largest frame copied whole, plus many small ones.
struct OutBlock {
  std::array<OutPiece, 256> pieces;
  std::array<std::byte, kOutBytes> bytes;
};

class OutQueue {
 public:
  bool empty() const noexcept { return first_piece_ == last_piece_; }
  /// Frames with a piece in here.
  std::size_t frames() const noexcept { return frames_; }

  bool has_block() const noexcept { return block_ != nullptr; }
  void lend(std::unique_ptr<OutBlock> block) noexcept { block_ = std::move(block); }
  /// The block, if the queue is empty; else null.
  std::unique_ptr<OutBlock> give_back() noexcept { return empty() ? std::move(block_) : nullptr; }
  /// Forgets everything; borrowed pieces are no longer referred to.
  std::unique_ptr<OutBlock> drop() noexcept;

  /// Can a frame be taken that copies and borrows that many bytes?
  bool fits(std::size_t copied_bytes, std::size_t borrowed_bytes = 0) const noexcept;
  /// Requires: fits(). head and payload may lack a part that was already sent; payload is copied.
  void push_copied(Bytes head, Bytes payload) noexcept;
  /// The payload is borrowed until its cookie comes back from consume().
  void push_borrowed(Bytes head, Bytes payload, std::uint64_t cookie) noexcept;

  /// Copies what is borrowed; the cookies still come back from consume().
  void own_borrowed();

  /// The next pieces to write.
  std::size_t gather(std::span<iovec> vectors) const noexcept;
  /// `bytes` were written: drops them, and calls on_sent(cookie) for each borrowed payload that
  /// ends there. The call may push. Returns the number of frames that ended.
  template <class OnSent>
  std::size_t consume(std::size_t bytes, OnSent on_sent) noexcept;

 private:
  void push_piece(const OutPiece& piece) noexcept;
  const std::byte* copy(Bytes bytes) noexcept;
  void reset() noexcept {
    first_piece_ = last_piece_ = used_bytes_ = borrowed_bytes_ = 0;
    owned_.clear();
  }

  std::unique_ptr<OutBlock> block_;
  std::size_t first_piece_ = 0;
  std::size_t last_piece_ = 0;
  std::size_t used_bytes_ =
      0;  // starts again from 0 when the queue is empty: it is written out before it wraps
  std::size_t borrowed_bytes_ = 0;  // still to be written
  std::size_t frames_ = 0;
  std::vector<Blob> owned_;  // copies of pieces that were borrowed
};

template <class OnSent>
std::size_t OutQueue::consume(std::size_t bytes, OnSent on_sent) noexcept {
  std::size_t ended = 0;
  while (!empty()) {
    OutPiece& piece = block_->pieces[first_piece_];
    if (bytes < piece.bytes) {
      piece.data += bytes;
      piece.bytes -= bytes;
      if (piece.borrowed) borrowed_bytes_ -= bytes;
      break;
    }
    bytes -= piece.bytes;
    const OutPiece done = piece;
    if (done.borrowed) borrowed_bytes_ -= done.bytes;
    if (++first_piece_ == last_piece_) reset();
    if (done.ends_frame) {
      --frames_;
      ++ended;
    }
    if (done.borrowed) on_sent(done.cookie);
    if (bytes == 0) break;
  }
  return ended;
}

}  // namespace livebtl::tcp
