// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_out_queue.cc -- see tcp_out_queue.h.
#include "transports/tcp/tcp_out_queue.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace livebtl::tcp {

std::unique_ptr<OutBlock> OutQueue::drop() noexcept {
  reset();
  frames_ = 0;
  return std::move(block_);
}

bool OutQueue::fits(std::size_t copied_bytes, std::size_t borrowed_bytes) const noexcept {
  if (!block_) return copied_bytes <= kOutBytes;
  return copied_bytes <= block_->bytes.size() - used_bytes_ &&
         last_piece_ - first_piece_ + 2 <= block_->pieces.size() &&
         (borrowed_bytes == 0 || borrowed_bytes_ == 0 ||
          borrowed_bytes_ + borrowed_bytes <= kBorrowedBytesMax);
}

// New pieces take the places of those already written.
void OutQueue::push_piece(const OutPiece& piece) noexcept {
  if (last_piece_ == block_->pieces.size()) {
    auto* const pieces = block_->pieces.data();
    std::copy(pieces + first_piece_, pieces + last_piece_, pieces);
    last_piece_ -= std::exchange(first_piece_, 0);
  }
  block_->pieces[last_piece_++] = piece;
}

const std::byte* OutQueue::copy(Bytes bytes) noexcept {
  std::byte* const place = block_->bytes.data() + used_bytes_;
  if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
  used_bytes_ += bytes.size();
  return place;
}

void OutQueue::push_copied(Bytes head, Bytes payload) noexcept {
  LIVEBTL_ASSERT(block_ && fits(head.size() + payload.size()), "the caller asked whether it fits");
  const std::byte* const place = copy(head);
  copy(payload);
  push_piece({place, head.size() + payload.size(), 0, true, false});
  ++frames_;
}

void OutQueue::push_borrowed(Bytes head, Bytes payload, std::uint64_t cookie) noexcept {
  LIVEBTL_ASSERT(block_ && fits(head.size()), "the caller asked whether it fits");
  if (!head.empty()) push_piece({copy(head), head.size(), 0, false, false});
  push_piece({payload.data(), payload.size(), cookie, true, true});
  borrowed_bytes_ += payload.size();
  ++frames_;
}

void OutQueue::own_borrowed() {
  for (std::size_t i = first_piece_; i < last_piece_; ++i) {
    OutPiece& piece = block_->pieces[i];
    if (!piece.borrowed) continue;
    owned_.emplace_back(piece.data, piece.data + piece.bytes);
    piece.data = owned_.back().data();
  }
}

std::size_t OutQueue::gather(std::span<iovec> vectors) const noexcept {
  std::size_t count = 0;
  for (std::size_t i = first_piece_; i < last_piece_ && count < vectors.size(); ++i) {
    const OutPiece& piece = block_->pieces[i];
    vectors[count++] = {const_cast<std::byte*>(piece.data), piece.bytes};
  }
  return count;
}

}  // namespace livebtl::tcp
