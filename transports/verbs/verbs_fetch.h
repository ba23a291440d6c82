// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_fetch.h -- one lent payload that is being fetched from the peer's memory.
//
// In steps: straight to where the sink wants it, which is registered for that time; or, where that
// cannot be registered or there is no such place, by way of the receive buffer in which the message
// came. Only our own device writes here, by reads that were posted here: the peer never can.
// Ownership: the place is the user's again once this has ended. Threads: the engine's lock.
#pragma once

#include <array>
#include <memory>

#include "transports/verbs/verbs_queue_pair.h"

namespace livebtl::verbs {

class Fetch {
 public:
  /// place: empty, or as long as the payload. region: of the place; none: by the buffer.
  Fetch(Device& device, std::uint32_t buffer, Bytes header, const Lent& lent, MutableBytes place,
        Registration region);

  std::uint32_t buffer() const noexcept { return buffer_; }
  Bytes header() const noexcept { return {header_.data(), header_bytes_}; }
  Bytes payload() const noexcept { return {target_, lent_.bytes}; }
  /// Does the payload have the checksum that its sender found?
  bool is_intact() const noexcept;

  /// Posts the next read. false: no room now.
  bool post(QueuePair& pair) noexcept;
  /// The read that was posted is done. true: all is there, and the memory not registered any more.
  bool step_done() noexcept;
  bool under_way() const noexcept { return step_ != 0; }
  /// The device writes to the user's memory by itself just now.
  bool holds_place() const noexcept { return region_ && under_way(); }
  /// Where a read may still write to although this ends: its buffer, which is not free before the
  /// queue pair has gone.
  bool holds_buffer() const noexcept { return !region_ && under_way(); }
  /// The user wants the memory back. Requires: not holds_place(). What is there moves along.
  void leave_place();
  /// The device touches the place no more; what it was reading there fails.
  void end_registration() noexcept { region_.end(); }

 private:
  Device& device_;
  std::uint32_t buffer_;
  std::uint8_t header_bytes_;
  std::array<std::byte, core::kHeaderBytesMax> header_;
  Lent lent_;
  std::byte* target_;
  std::unique_ptr<std::byte[]> own_;  // the target, if there is no place
  Registration region_;
  std::uint32_t done_ = 0;  // bytes at the target
  std::uint32_t step_ = 0;  // bytes of the read under way
};

}  // namespace livebtl::verbs
