// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_remote_read.h -- the read of one payload from the peer's exposed buffer into a
// bounce buffer of our own: libfabric cannot be made to release a user's memory. In one read or, if
// the provider requires registered memory and registration fails, in steps through the buffer in
// which the message came.
//
// Ownership: the endpoint's; the transport's if it was given up while a read was under way.
// Threads: the engine's lock.
#pragma once

#include "transports/ofi/ofi_domain.h"

namespace livebtl::ofi {

/// Payloads are read into it, one after the other.
struct BounceBuffer {
  std::unique_ptr<std::byte[]> bytes;  // kExposedBytesMax
  Registration registration;           // if the provider requires one and it could be had
};

class RemoteRead : public Context {
 public:
  /// buffer: of the message; the owner frees it. bounce: the owner takes it back.
  RemoteRead(Domain& domain, OfiEndpoint& owner, Buffer& buffer, Bytes header,
             const RemoteBuffer& remote, BounceBuffer bounce);

  Buffer& buffer() const noexcept { return buffer_; }
  /// Requires: nothing is under way.
  BounceBuffer take_bounce() noexcept { return std::move(bounce_); }
  Bytes header() const noexcept { return progress_.header(); }
  Bytes payload() const noexcept { return {bounce_.bytes.get(), progress_.bytes()}; }
  /// Does the payload have the checksum that its sender computed?
  bool is_intact() const noexcept { return progress_.is_intact(payload()); }

  /// Begins the next read. 0: begun. -FI_EAGAIN: no room now. Else a libfabric error.
  long post(std::uint32_t peer) noexcept;
  /// The read has ended. true: it was the last.
  bool step_done() noexcept;
  /// The read has failed.
  void step_failed() noexcept;
  bool under_way() const noexcept { return progress_.under_way(); }

  OfiEndpoint* owner;  // null: it gave this up
  TimeNs since = 0;    // first seen under way; 0: not yet

 private:
  bool steps() const noexcept { return domain_.has_mode(FI_MR_LOCAL) && !bounce_.registration; }

  Domain& domain_;
  Buffer& buffer_;
  messages::ReadProgress<RemoteBuffer> progress_;
  BounceBuffer bounce_;
  std::uint32_t peer_ = 0;
};

}  // namespace livebtl::ofi
