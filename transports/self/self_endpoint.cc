// SPDX-License-Identifier: BSD-3-Clause
// transports/self/self_endpoint.cc -- see self_endpoint.h.
#include "transports/self/self_endpoint.h"

#include "base/assert.h"
#include "transports/self/self_transport.h"

namespace livebtl::self {

SelfEndpoint::SelfEndpoint(SelfTransport& transport) : transport_(transport) {
  transport_.add(*this);
}

SelfEndpoint::~SelfEndpoint() {
  part();
  transport_.remove(*this);
}

// The other end keeps what it has not taken yet, and owes us no on_sent().
void SelfEndpoint::part() noexcept {
  if (other_ == nullptr) return;
  other_->copy_lent_payloads();
  for (Slot& slot : other_->inbox_) slot.stays = false;
  other_->other_ = nullptr;
  other_ = nullptr;
}

void SelfEndpoint::join(SelfEndpoint& one, SelfEndpoint& other) noexcept {
  one.other_ = &other;
  other.other_ = &one;
}

core::Post SelfEndpoint::post(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(!frame.header.empty() && frame.header.size() <= core::kHeaderBytesMax &&
                     frame.payload.size() <= kPayloadBytesMax,
                 "a frame within the limits of the transport");
  if (down_ || !other_ || other_->down_ || other_->waiting_ == kSlots) return core::Post::kRetry;
  SelfEndpoint& to = *other_;
  if (to.inbox_.empty()) to.inbox_.resize(kSlots);
  Slot& slot = to.inbox_[(to.first_ + to.waiting_++) % kSlots];
  std::memcpy(slot.header, frame.header.data(), frame.header.size());
  slot.header_bytes = frame.header.size();
  slot.stays = frame.stable && !frame.payload.empty();
  slot.cookie = frame.cookie;
  if (!slot.stays) slot.copy.assign(frame.payload.begin(), frame.payload.end());
  slot.payload = slot.stays ? frame.payload : Bytes(slot.copy);
  stats_.count_sent(frame.header.size() + frame.payload.size());
  if (!slot.stays) return core::Post::kDone;
  ++lent_;
  return core::Post::kPosted;
}

// The sender takes its buffers back, but what it posted is still delivered: nothing is lost here.
void SelfEndpoint::copy_lent_payloads() {
  for (std::size_t i = 0; i < waiting_; ++i) {
    Slot& slot = inbox_[(first_ + i) % kSlots];
    if (slot.payload.data() == slot.copy.data()) continue;
    slot.copy.assign(slot.payload.begin(), slot.payload.end());
    slot.payload = slot.copy;
  }
}

void SelfEndpoint::let_go() noexcept {
  if (other_) other_->copy_lent_payloads();
}

std::size_t SelfEndpoint::deliver(std::size_t frames_max) noexcept {
  std::size_t delivered = 0;
  for (; delivered < frames_max && has_work() && waiting_ > 0; ++delivered) deliver_first();
  if (has_work() && waiting_ == 0) take_down(Errc::kDown, "the other end was closed");
  return delivered;
}

void SelfEndpoint::deliver_first() noexcept {
  Slot& slot = inbox_[first_];
  if (slot.payload.size() > payload_max_)
    return take_down(Errc::kCorrupt, "a payload above what an untrusted peer may send");
  stats_.count_received(slot.header_bytes + slot.payload.size());
  sink_->on_frame({slot.header, slot.header_bytes}, slot.payload);
  first_ = (first_ + 1) % kSlots;
  --waiting_;
  if (!slot.stays) return;  // also when the sender closed meanwhile
  --other_->lent_;
  other_->sink_->on_sent(slot.cookie);
}

void SelfEndpoint::take_down(Errc code, const char* text) noexcept {
  down_ = true;
  part();
  sink_->on_down({code, text});
}

}  // namespace livebtl::self
