// SPDX-License-Identifier: BSD-3-Clause
// core/path/marker.cc -- see marker.h.
#include "core/path/marker.h"

#include "base/assert.h"

namespace livebtl::core {

void Marker::on_posted() noexcept {
  LIVEBTL_ASSERT(ours_ == Ours::kDue, "a marker is posted when it is due");
  ours_ = Ours::kSent;
  placed_ = false;
  ++ordinal_;
}

bool Marker::on_ack(std::uint64_t ordinal) noexcept {
  const bool sent = ours_ == Ours::kSent || ours_ == Ours::kAcked;
  if (!sent || ordinal != ordinal_) return false;
  ours_ = Ours::kAcked;
  return true;
}

void Marker::on_ordered(std::uint64_t sequence) noexcept {
  if (theirs_ != Theirs::kSending) peer_since_ = sequence;
  theirs_ = Theirs::kSending;
}

bool Marker::on_marker(std::uint64_t ordinal) noexcept {
  if (ordinal == 0) return false;
  theirs_ = Theirs::kLeft;
  answer_due_ = ordinal;
  return true;
}

}  // namespace livebtl::core
