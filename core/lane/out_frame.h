// SPDX-License-Identifier: BSD-3-Clause
// core/lane/out_frame.h -- frames of the ordered lane that wait for their turn, each in the user's
// Operation or in the sender's pool.
//
// Threads: under the engine's lock.
#pragma once

#include <cstring>
#include <new>

#include "core/lane/frame.h"
#include "core/lane/role.h"
#include "livebtl/port.h"

namespace livebtl::core {

/// One ordered frame that waits for its turn; it gets its number when it is posted.
struct OutFrame {
  OutFrame* next = nullptr;
  Operation* operation = nullptr;  // completed when the frame is on its way; null: nobody waits
  std::size_t payload_bytes = 0;
  std::uint8_t header_bytes = 0;
  std::uint8_t slice_count = 0;
  bool pooled = false;   // a PooledFrame of the sender's; else it lies in an Operation
  bool queued = false;   // waits in a FrameQueue: the peer cannot know of it
  bool exposes = false;  // an RTS that is to expose all that it offers
  Role role = Role::kPlain;
  alignas(8) std::byte header[kHeaderBytesMax];
  Slice slices[kSlicesMax + 1];  // the user's; the data that go with a put come first

  FrameHead& head() noexcept { return *std::launder(reinterpret_cast<FrameHead*>(header)); }
  template <class Body>
  void set_header(const Header<Body>& whole) noexcept {
    std::memcpy(header, &whole, sizeof(whole));
    header_bytes = sizeof(whole);
  }
};

/// A FIFO, linked through OutFrame::next.
struct FrameQueue {
  OutFrame* first = nullptr;
  OutFrame* last = nullptr;

  bool empty() const noexcept { return first == nullptr; }
  std::size_t count() const noexcept {  // walks; rarely called
    std::size_t frames = 0;
    for (const OutFrame* frame = first; frame != nullptr; frame = frame->next) ++frames;
    return frames;
  }
  std::uint32_t count_up_to(std::uint32_t most) const noexcept {
    std::uint32_t frames = 0;
    for (const OutFrame* each = first; each != nullptr && frames < most; each = each->next)
      ++frames;
    return frames;
  }
  void push(OutFrame& frame) noexcept {
    frame.next = nullptr;
    frame.queued = true;
    (last != nullptr ? last->next : first) = &frame;
    last = &frame;
  }
  OutFrame* pop() noexcept {
    OutFrame* frame = first;
    if (frame != nullptr) {
      first = frame->next;
      if (first == nullptr) last = nullptr;
      frame->queued = false;
    }
    return frame;
  }
};

}  // namespace livebtl::core
