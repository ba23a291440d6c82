// SPDX-License-Identifier: BSD-3-Clause
// core/lane/reorder.cc -- frames that overtook others or came again: everything off the fast path.
// Pure; runs under the engine's lock.
#include "core/lane/reorder.h"

namespace livebtl::core {
namespace {

/// At most what Window counts for a frame, so a correct peer's early frames never exceed what its
/// window holds.
std::size_t counted_bytes(std::size_t header_bytes, std::size_t payload_bytes) noexcept {
  constexpr std::size_t kPerFrame = 16;
  return header_bytes + payload_bytes + kPerFrame;
}

}  // namespace

Reorder::Verdict Reorder::arrived_out_of_order(std::uint64_t seq, Bytes header, Bytes payload) {
  if (seq < expected_) return Verdict::kDuplicate;
  const auto hint = early_.lower_bound(seq);
  if (hint != early_.end() && hint->first == seq) return Verdict::kDuplicate;
  const std::size_t bytes = counted_bytes(header.size(), payload.size());
  if (bytes > bytes_max_ || early_bytes_ > bytes_max_ - bytes) return Verdict::kOverflow;
  early_.emplace_hint(
      hint, seq, Early{Blob(header.begin(), header.end()), Blob(payload.begin(), payload.end())});
  early_bytes_ += bytes;
  return Verdict::kEarly;
}

std::optional<Reorder::Early> Reorder::take_next_early() {
  while (!early_.empty()) {
    const auto first = early_.begin();
    if (first->first > expected_) return std::nullopt;
    const bool next = first->first == expected_;  // else it came again meanwhile, as kNext
    Early early = std::move(first->second);
    early_.erase(first);
    early_bytes_ -= counted_bytes(early.header.size(), early.payload.size());
    if (next) {
      ++expected_;
      return early;
    }
  }
  return std::nullopt;
}

}  // namespace livebtl::core
