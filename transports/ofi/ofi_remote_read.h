// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_remote_read.h -- the reading of one payload from the peer's exposed buffer into a bounce buffer of
// our own: libfabric cannot be told to leave a user's memory alone again. In one read, or, where a provider wants
// memory to be registered and this cannot be, in steps through the buffer in which the message came.
//
// Ownership: of an endpoint; of the transport if that has gone while a read was under way. Threads: the engine's lock.
#pragma once

#include "transports/ofi/ofi_domain.h"

namespace livebtl::ofi {

/// Where payloads are read to, one after the other.
struct BounceBuffer {
  std::unique_ptr<std::byte[]> bytes;  // kExposedBytesMax
  Registration registration;           // where the provider wants one, and it could be had
};

class RemoteRead : public Context {
 public:
  /// buffer: of the message; the owner gives it back. bounce: the owner takes it back.
  RemoteRead(Domain& domain, OfiEndpoint& owner, Buffer& buffer, Bytes header,
             const RemoteBuffer& remote, BounceBuffer bounce);

  Buffer& buffer() const noexcept { return buffer_; }
  /// Once nothing is under way.
  BounceBuffer take_bounce() noexcept { return std::move(bounce_); }
  Bytes header() const noexcept { return progress_.header(); }
  Bytes payload() const noexcept { return {bounce_.bytes.get(), progress_.bytes()}; }
  /// Does the payload have the checksum that its sender computed?
  bool is_intact() const noexcept { return progress_.is_intact(payload()); }

  /// Begins the next read: 0. -FI_EAGAIN: no room now; or another error of libfabric's.
  long post(std::uint32_t peer) noexcept;
  /// The read is over. true: all is there.
  bool step_done() noexcept;
  /// It is over, and came to nothing.
  void step_failed() noexcept;
  bool under_way() const noexcept { return progress_.under_way(); }

  OfiEndpoint* owner;  // null: it has gone
  TimeNs since = 0;    // seen under way; 0: not yet

 private:
  bool steps() const noexcept { return domain_.has_mode(FI_MR_LOCAL) && !bounce_.registration; }

  Domain& domain_;
  Buffer& buffer_;
  messages::ReadProgress<RemoteBuffer> progress_;
  BounceBuffer bounce_;
  std::uint32_t peer_ = 0;
};

}  // namespace livebtl::ofi
