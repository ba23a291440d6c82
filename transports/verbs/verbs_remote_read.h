// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_remote_read.h -- the read of one payload from the peer's exposed buffer.
//
// In steps: directly to where the sink wants it, which is registered meanwhile; or, if that cannot
// be registered or there is no such place, through a bounce buffer: the receive buffer in which the
// message came. Only our own device writes here, by reads that we posted: the peer never can.
//
// Ownership: the place is the user's again once this has ended. Threads: the engine's lock.
#pragma once

#include <memory>

#include "transports/verbs/verbs_queue_pair.h"

namespace livebtl::verbs {

class RemoteRead {
 public:
  /// place: empty, or as long as the payload. region: of the place; none: through the buffer.
  RemoteRead(Device& device, std::uint32_t buffer, Bytes header, const RemoteBuffer& remote,
             MutableBytes place, Registration region);

  /// false: there was no memory for a payload without a place. Requires of all else: true.
  bool has_target() const noexcept { return target_ != nullptr; }
  std::uint32_t buffer() const noexcept { return buffer_; }
  Bytes header() const noexcept { return progress_.header(); }
  Bytes payload() const noexcept { return {target_, progress_.bytes()}; }
  /// Does the payload have the checksum that its sender computed?
  bool is_intact() const noexcept { return progress_.is_intact(payload()); }

  /// Posts the next read. false: no room now.
  bool post(QueuePair& pair) noexcept;
  /// The read that was posted is done. true: it was the last, and the memory is not registered any
  /// more.
  bool step_done() noexcept;
  bool under_way() const noexcept { return progress_.under_way(); }
  /// A read into the user's memory is under way.
  bool holds_place() const noexcept { return region_ && under_way(); }
  /// A read into the buffer is under way. If this ends now, the buffer is not free before the queue
  /// pair has gone.
  bool holds_buffer() const noexcept { return !region_ && under_way(); }
  /// The user wants the memory back: what is there already is copied. Requires: not holds_place().
  /// false: no memory for that; the place is still the target.
  bool leave_place() noexcept;
  /// The device no longer touches the place; a read into it fails.
  void end_registration() noexcept { region_.reset(); }

 private:
  Device& device_;
  std::uint32_t buffer_;
  messages::ReadProgress<RemoteBuffer> progress_;
  std::byte* target_;
  std::unique_ptr<std::byte[]> own_;  // the target, if there is no place
  Registration region_;
};

}  // namespace livebtl::verbs
